//! Tests of the engines, and what the tests of the durable stores need.

pub(super) mod conversation;
mod engine;
pub(super) mod outcome;

use std::{fs, path::Path};

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
