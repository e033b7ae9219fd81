//! The contents of docs/mcp.md match the program.

use serde_json::Value;

use crate::support::binary::{Outcome, utterd};

const PAGE: &str = include_str!("../../../docs/mcp.md");

/// The values of `args` anywhere in `value`.
fn arguments(value: &Value) -> Vec<Vec<String>> {
    match value {
        Value::Object(fields) => match fields.get("args") {
            Some(Value::Array(words)) => {
                vec![words.iter().map(|word| word.as_str().expect("a word").to_owned()).collect()]
            }
            _ => fields.values().flat_map(arguments).collect(),
        },
        _ => Vec::new(),
    }
}

#[test]
fn the_lines_to_paste_are_understood() {
    let directory = tempfile::tempdir().expect("a directory");
    let blocks = PAGE.split("```json\n").skip(1).map(|rest| rest.split("```").next().expect("a block"));
    let shown = blocks.flat_map(|block| arguments(&serde_json::from_str(block).expect("JSON")));
    let shown: Vec<_> = shown.collect();
    assert_eq!(shown.len(), 3);
    for words in shown {
        // with --help, a command line is parsed and not executed
        Outcome::of(utterd(directory.path()).args(&words).arg("--help")).worked();
    }
}

#[test]
fn every_flag_is_told() {
    let directory = tempfile::tempdir().expect("a directory");
    let options = Outcome::of(utterd(directory.path()).args(["mcp", "--help"])).worked();
    let flags = options
        .lines()
        .filter_map(|line| line.trim().split("--").nth(1).filter(|_| line.trim().starts_with('-')));
    let flags: Vec<_> = flags
        .filter_map(|rest| rest.split([' ', ',']).next())
        .filter(|flag| !flag.starts_with("help"))
        .collect();
    assert!(flags.len() > 10, "{flags:?}");
    for flag in flags {
        assert!(PAGE.contains(&format!("`--{flag}")), "docs/mcp.md does not tell --{flag}");
    }
}
