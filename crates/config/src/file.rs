//! The configuration file.

use std::{
    collections::BTreeMap,
    io,
    path::{Path, PathBuf},
};

use toml::{Spanned, Value};

use super::{Origin, Problem, read_text};
use utterd_domain::limits::MAX_SETTINGS_BYTES;

/// The file to read, if it exists and no other is named.
pub const DEFAULT_FILE: &str = "utterd.toml";

/// A key as it is written in the file.
pub struct Entry {
    /// The word.
    pub word: String,
    /// The value as text; `None` for a table, an array, a float or a date.
    pub text: Option<String>,
    /// The value as TOML.
    pub toml: String,
    /// The file and the line.
    pub origin: Origin,
}

/// Reads the file `named`, or [`DEFAULT_FILE`] in `directory` if there is one.
pub fn read(named: Option<PathBuf>, directory: &Path) -> Result<Vec<Entry>, Problem> {
    let (path, required) = match named {
        Some(path) => (path, true),
        None => (directory.join(DEFAULT_FILE), false),
    };
    match read_text(&path, MAX_SETTINGS_BYTES) {
        Ok(text) => parse(&path, &text),
        Err(error) if error.kind() == io::ErrorKind::NotFound && !required => Ok(Vec::new()),
        Err(error) => Err(Problem::File { path, reason: format!("cannot be read: {error}") }),
    }
}

fn parse(path: &Path, text: &str) -> Result<Vec<Entry>, Problem> {
    let table: BTreeMap<String, Spanned<Value>> = toml::from_str(text).map_err(|error| {
        let line = error.span().map_or(1, |span| line(text, span.start));
        // the line itself may hold a secret
        Problem::File { path: path.into(), reason: format!("line {line} is not TOML: {}", error.message()) }
    })?;
    let mut entries: Vec<_> =
        table.into_iter().map(|(word, value)| (value.span().start, word, value)).collect();
    entries.sort_by_key(|(start, ..)| *start);
    let entry = |(start, word, value): (usize, String, Spanned<Value>)| Entry {
        word,
        text: scalar(value.get_ref()),
        toml: value.get_ref().to_string(),
        origin: Origin::File { path: path.into(), line: line(text, start) },
    };
    Ok(entries.into_iter().map(entry).collect())
}

fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Integer(number) => Some(number.to_string()),
        Value::Float(number) => Some(number.to_string()),
        Value::Boolean(switch) => Some(switch.to_string()),
        Value::Datetime(_) | Value::Array(_) | Value::Table(_) => None,
    }
}

/// The line, from 1, that byte `at` of `text` is in.
fn line(text: &str, at: usize) -> usize {
    1 + text.bytes().take(at).filter(|byte| *byte == b'\n').count()
}
