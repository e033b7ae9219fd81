//! The two commands at the head of the README: one runs the program, the other passes its tests.

use std::fs;

use crate::docs::page::{Page, root};

/// The lines that a screen shows.
const SCREEN: usize = 24;

/// Checks that the commands stand within the first screen, and that CI runs the tests by that very command.
pub fn has_the_commands_to_run_and_to_test(readme: &Page) -> Result<(), String> {
    let blocks = readme.blocks();
    let first = blocks.first().ok_or("there is no block")?;
    let commands: Vec<&str> =
        first.text.lines().map(|line| line.split('#').next().unwrap_or_default().trim()).collect();
    let [run, test] = commands[..] else { return Err(format!("not two commands: {commands:?}")) };
    if !run.starts_with("cargo run") || !test.starts_with("cargo test") {
        return Err(format!("they are {run:?} and {test:?}"));
    }
    if first.line + 3 > SCREEN {
        return Err(format!("the commands stand at line {}, below the first screen", first.line));
    }
    let ci = fs::read_to_string(root().join(".ci/run")).map_err(|error| error.to_string())?;
    let runs = |line: &str| {
        line.trim().strip_prefix(test).is_some_and(|rest| {
            rest.is_empty() || rest.trim_start_matches(" --no-fail-fast").starts_with(" 2>&1")
        })
    };
    match ci.lines().any(runs) {
        true => Ok(()),
        false => Err(format!(".ci/run does not run {test:?}")),
    }
}
