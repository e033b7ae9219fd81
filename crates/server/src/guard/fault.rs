//! A fault in a file of secrets.

/// A fault in a file, and its line, from 1. It repeats nothing of the file: that could be a misplaced secret.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {text}")]
pub struct Fault {
    line: usize,
    text: String,
}

impl Fault {
    /// Returns what is wrong.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// A fault in a line.
    pub fn in_line(line: usize, text: impl Into<String>) -> Self {
        Self { line, text: text.into() }
    }

    /// A fault at a byte offset in the file's text.
    pub fn at(file: &str, byte: usize, text: impl Into<String>) -> Self {
        Self::in_line(1 + file.bytes().take(byte).filter(|byte| *byte == b'\n').count(), text)
    }
}
