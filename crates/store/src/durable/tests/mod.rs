//! Tests of the engines, and what the tests of the durable stores need.

pub(super) mod conversation;
mod engine;
pub(super) mod outcome;

use std::{fs, path::Path};

use super::{Directory, DurableStore, EngineKind, Options};
use crate::verify::Survey;

/// Whether a file below `directory` contains a text.
pub(super) fn holds(directory: &Path, text: &[u8]) -> bool {
    fs::read_dir(directory).unwrap().any(|entry| {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => holds(&path, text),
            false => memchr::memmem::find(&fs::read(&path).unwrap(), text).is_some(),
        }
    })
}

/// What is wrong with the store in a directory.
pub(super) fn problems(engine: EngineKind, path: &Path) -> Vec<String> {
    let mut survey = Survey::default();
    let each = &mut |record| {
        survey.record(record);
        Ok(())
    };
    Directory::open(engine, path).unwrap().each_record(each).unwrap();
    let store = DurableStore::open(engine, path, &Options::default()).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let report = runtime.block_on(survey.check(&store));
    report.problems.iter().map(ToString::to_string).collect()
}
