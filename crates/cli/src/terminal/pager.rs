//! Long output on a terminal, page by page, like git.

use std::{
    env,
    ffi::OsString,
    io::{self, Write},
    process::{Command, Stdio},
};

use tokio::signal::unix::{SignalKind, signal};

/// The pager when none is set.
const DEFAULT: &str = "less";
/// The exit code of `sh` if a command does not exist.
const NOT_FOUND: i32 = 127;

/// Shows `text` in the pager that PAGER names, else `less`; writes it directly if that is empty, `cat`, or not
/// installed. Must be called within a runtime.
pub fn page(text: &[u8]) -> io::Result<()> {
    match env::var_os("PAGER").unwrap_or_else(|| DEFAULT.into()) {
        pager if pager.is_empty() || pager == "cat" => directly(text),
        pager => match through(&pager, text) {
            Ok(true) => Ok(()),
            _ => directly(text),
        },
    }
}

/// Runs the pager; returns whether it exists.
fn through(pager: &OsString, text: &[u8]) -> io::Result<bool> {
    // Ctrl-C is for the pager while it runs.
    let _held = signal(SignalKind::interrupt())?;
    let mut command = Command::new("sh");
    command.arg("-c").arg(pager).stdin(Stdio::piped());
    for (name, value) in [("LESS", "FRX"), ("LV", "-c")] {
        if env::var_os(name).is_none() {
            command.env(name, value);
        }
    }
    let mut pager = command.spawn()?;
    if let Some(mut stdin) = pager.stdin.take() {
        // A user who leaves the pager has seen enough.
        let _ = stdin.write_all(text);
    }
    Ok(pager.wait()?.code() != Some(NOT_FOUND))
}

fn directly(text: &[u8]) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(text).and_then(|()| stdout.flush())
}
