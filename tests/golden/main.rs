//! Readable scripts: what is said to a server, and what its window then holds.
//!
//! Each file of `scripts/` is a test that runs against its own server, with a clock that stands still until
//! the script moves it. The language is that of [`command::Command`]; its notation is goldenscript's: `!`
//! before a command that must fail, `( )` around one whose output does not matter, `ID:` before one that
//! addresses the conversation ID. Ids that the server makes are printed as `id1`, `id2` and so on.
//!
//! `UPDATE_GOLDENFILES=1 cargo test --test golden` writes the scripts' current output into them. Read the
//! difference as you would read code.
#![allow(clippy::expect_used)] // A test can panic.

mod batch;
mod command;
mod compactions;
mod contexts;
mod conversations;
mod errors;
mod forks;
mod histories;
mod ids;
mod names;
mod operations;
mod print;
mod runner;
#[path = "../support/mod.rs"]
mod support;

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use libtest_mimic::{Arguments, Failed, Trial};

use runner::Runner;

const SCRIPTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/scripts");

fn main() -> io::Result<()> {
    let mut trials: Vec<_> = scripts()?.into_iter().map(trial).collect();
    trials.sort_by(|one, other| one.name().cmp(other.name()));
    assert!(!trials.is_empty(), "there are no scripts in {SCRIPTS}");
    libtest_mimic::run(&Arguments::from_args(), trials).exit()
}

fn scripts() -> io::Result<Vec<PathBuf>> {
    let paths: Vec<PathBuf> =
        fs::read_dir(SCRIPTS)?.map(|entry| Ok(entry?.path())).collect::<io::Result<_>>()?;
    Ok(paths.into_iter().filter(|path| path.extension().is_some_and(|kind| kind == "txt")).collect())
}

fn trial(path: PathBuf) -> Trial {
    let name = path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
    Trial::test(name, move || run(&path))
}

fn run(path: &Path) -> Result<(), Failed> {
    goldenscript::run(&mut Runner::new(), path).map_err(Failed::from)
}
