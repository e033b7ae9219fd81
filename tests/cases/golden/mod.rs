//! Readable scripts: what is said to a server, and what its window then holds.
//!
//! Each file of `scripts/` is a test that runs against its own server, with a clock that stands still until
//! the script moves it. The language is that of [`command::Command`]; its notation is goldenscript's: `!`
//! before a command that must fail, `( )` around one whose output does not matter, `ID:` before one that
//! addresses the conversation ID. Ids that the server makes are printed as `id1`, `id2` and so on.
//!
//! `UPDATE_GOLDENFILES=1 cargo test --test cases golden::` writes the scripts' current output into them. Read the
//! difference as you would read code.

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

use std::{
    fs,
    path::{Path, PathBuf},
};

use libtest_mimic::{Failed, Trial};

use runner::Runner;

const SCRIPTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cases/golden/scripts");

pub fn trials() -> Vec<Trial> {
    let scripts = fs::read_dir(SCRIPTS).expect("the scripts are there");
    scripts.map(|script| trial(script.expect("a script").path())).collect()
}

fn trial(path: PathBuf) -> Trial {
    let name = path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
    Trial::test(format!("golden::{name}"), move || run(&path))
}

fn run(path: &Path) -> Result<(), Failed> {
    goldenscript::run(&mut Runner::new(), path).map_err(Failed::from)
}
