//! The program that started a server and owns it.

use std::{
    fs::File,
    io::{self, IsTerminal, Read},
    os::{fd::AsFd, unix::fs::FileTypeExt},
    thread,
};

use tokio::sync::oneshot;

/// The program that started this one and owns it; it holds the other end of stdin, a pipe.
///
/// The system closes the other end of a pipe however its holder ends, even by SIGKILL, so the end of stdin reliably
/// shows the end of the owner on every system. The alternatives are worse: a signal at the parent's death
/// (`PR_SET_PDEATHSIG`) exists only on Linux, arrives when the *thread* that started this process ends, and never if
/// the parent ended before it was requested; polling the parent's id notices late. With a pipe, an owner can also stop
/// its server by closing the pipe, and a program that is not the parent can own a server.
pub struct Owner(oneshot::Receiver<()>);

impl Owner {
    /// Returns the owner at the other end of stdin; refuses a stdin that no other program can hold open.
    pub fn on_stdin() -> io::Result<Self> {
        let stdin = io::stdin();
        let held = File::from(stdin.as_fd().try_clone_to_owned()?).metadata()?.file_type();
        if !held.is_fifo() && !held.is_socket() && !stdin.is_terminal() {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                "stdin is not a pipe; it must be a pipe, a socket or a terminal whose other end the parent holds open",
            ));
        }
        let (gone, owner) = oneshot::channel();
        // A thread of its own: a runtime that shuts down would wait for a read that never ends.
        thread::Builder::new().name("utterd-owner".into()).spawn(move || {
            read_to_the_end();
            let _ = gone.send(());
        })?;
        Ok(Self(owner))
    }

    /// Waits until the owner has ended.
    pub async fn gone(self) {
        let _ = self.0.await;
    }
}

/// Reads stdin until it ends or fails, and ignores its content.
fn read_to_the_end() {
    let mut stdin = io::stdin().lock();
    let mut passed_over = [0; 256];
    loop {
        match stdin.read(&mut passed_over) {
            Ok(0) => return,
            Err(error) if error.kind() != io::ErrorKind::Interrupted => return,
            _ => {}
        }
    }
}
