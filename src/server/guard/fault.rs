//! What is wrong with a file of secrets.

/// What is wrong with a file, and in which line from 1. It repeats nothing of the file, as that may be a secret in the
/// wrong place.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {text}")]
pub struct Fault {
    line: usize,
    text: String,
}

impl Fault {
    /// What is wrong.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// A fault in a line.
    pub fn in_line(line: usize, text: impl Into<String>) -> Self {
        Self { line, text: text.into() }
    }

    /// A fault at a byte of a file's text.
    pub fn at(file: &str, byte: usize, text: impl Into<String>) -> Self {
        Self::in_line(1 + file.bytes().take(byte).filter(|byte| *byte == b'\n').count(), text)
    }
}
