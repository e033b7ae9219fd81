//! Readable scripts: what is said to a server, and what its window then holds.
//!
//! Each file of `scripts/` is a test that runs against its own server on each store, with a clock that stands still until
//! the script moves it. The language is that of [`command::Command`]; its notation is goldenscript's: `!`
//! before a command that must fail, `( )` around one whose output does not matter, `ID:` before one that
//! addresses the conversation ID. Ids that the server makes are printed as `id1`, `id2` and so on.
//!
//! `UPDATE_GOLDENFILES=1 cargo test --features full --test cases golden::` writes the scripts' current output into them. Read the
//! difference as you would read code.

mod batch;
mod calls;
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

use std::{env, fs, path::Path};

use libtest_mimic::Trial;
use utterd::config::{Backend, DurableEngine};

use crate::support::{on, schema};
use runner::Runner;

const SCRIPTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cases/golden/scripts");

pub fn trials() -> Vec<Trial> {
    let scripts = fs::read_dir(SCRIPTS).expect("the scripts are there");
    scripts.flat_map(|script| on_each_store(&script.expect("a script").path())).collect()
}

/// A script on each store, as `golden::STORE::SCRIPT`; on one of them, if the scripts are written anew. A script with a
/// restart does not run in memory, where nothing outlives its server.
fn on_each_store(path: &Path) -> Vec<Trial> {
    let script = fs::read_to_string(path).expect("a script is text");
    let name = path.file_stem().expect("a script has a name").to_string_lossy();
    let run = |store: &str, backend: Backend| {
        let path = path.to_owned();
        (format!("golden::{store}::{name}"), move || on(backend, || succeeds(&path)))
    };
    let (fjall, sled) = (Backend::Durable(DurableEngine::Fjall), Backend::Durable(DurableEngine::Sled));
    let mut trials: Vec<Trial> = [("memory", Backend::Memory), ("fjall", fjall), ("sled", sled)]
        .into_iter()
        .filter(|(store, _)| *store != "memory" || !script.contains("\nrestart\n"))
        .map(|(store, backend)| run(store, backend))
        .map(|(name, run)| {
            Trial::test(name, move || {
                run();
                Ok(())
            })
        })
        .collect();
    let (postgres, run) = run("postgres", Backend::Postgres);
    trials.push(schema::trial(postgres, move |_| run()));
    trials.truncate(if env::var_os("UPDATE_GOLDENFILES").is_some() { 1 } else { trials.len() });
    trials
}

fn succeeds(path: &Path) {
    goldenscript::run(&mut Runner::new(), path).unwrap_or_else(|error| panic!("{error}"));
}
