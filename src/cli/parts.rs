//! Splits a file into parts that are imported one after the other.

use std::{io::BufRead, mem, path::PathBuf};

use super::{errors::CliError, read};
use crate::domain::limits::MAX_IMPORT_BYTES;

/// Bytes of conversations, one per line, sent at a time.
const PART: usize = 1 << 20;

/// A file in parts: whole lines if each line is a conversation, else the whole file. No part is larger than a server
/// accepts, and only one is read at a time.
pub struct Parts {
    reader: Box<dyn BufRead + Send>,
    file: PathBuf,
    /// What has been read and belongs to the next part.
    begun: Vec<u8>,
    lines: bool,
    ended: bool,
}

impl Parts {
    /// Opens a file, or stdin for `-`.
    pub fn open(file: PathBuf) -> Result<Self, CliError> {
        let reader = read::open(&file)?;
        Self::of(reader, file)
    }

    fn of(mut reader: Box<dyn BufRead + Send>, file: PathBuf) -> Result<Self, CliError> {
        let begun = read::line(&mut reader, &file, MAX_IMPORT_BYTES)?;
        let lines = begun.ends_with(b"\n") && is_conversation(&begun);
        Ok(Self { reader, file, begun, lines, ended: false })
    }

    /// The next part. Even an empty file has one, so that the server says what is wrong with it.
    pub fn next(&mut self) -> Result<Option<Vec<u8>>, CliError> {
        if mem::replace(&mut self.ended, !self.lines) {
            return Ok(None);
        }
        let mut part = mem::take(&mut self.begun);
        if !self.lines {
            part.extend(read::rest(&mut self.reader, &self.file, part.len(), MAX_IMPORT_BYTES)?);
            return Ok(Some(part));
        }
        while part.len() <= PART {
            let line = read::line(&mut self.reader, &self.file, MAX_IMPORT_BYTES)?;
            if line.is_empty() {
                self.ended = true;
                return Ok((!part.is_empty()).then_some(part));
            }
            if part.len() + line.len() > MAX_IMPORT_BYTES {
                self.begun = line;
                break;
            }
            part.extend(line);
        }
        Ok(Some(part))
    }
}

fn is_conversation(line: &[u8]) -> bool {
    serde_json::from_slice::<serde_json::Value>(line)
        .is_ok_and(|value| ["messages", "input"].iter().any(|list| value.get(list).is_some()))
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;

    fn parts(content: &[u8]) -> Vec<Vec<u8>> {
        let reader = Box::new(Cursor::new(content.to_vec()));
        let mut parts = Parts::of(reader, PathBuf::from("x")).unwrap();
        std::iter::from_fn(|| parts.next().unwrap()).collect()
    }

    #[test]
    fn conversations_are_parted_at_line_ends() {
        let line = format!("{{\"messages\":[\"{}\"]}}\n", "x".repeat(300_000));
        let content = line.repeat(9);
        let parts = parts(content.as_bytes());
        assert!(parts.len() > 1 && parts.iter().all(|part| part.ends_with(b"\n")));
        assert_eq!(parts.concat(), content.as_bytes());
    }

    #[test]
    fn large_conversations_are_parts_of_their_own() {
        let line = format!("{{\"messages\":[\"{}\"]}}\n", "x".repeat(MAX_IMPORT_BYTES - 100));
        let content = format!("{{\"messages\":[]}}\n{line}{line}");
        let parts = parts(content.as_bytes());
        assert!(parts.iter().all(|part| part.len() <= MAX_IMPORT_BYTES));
        assert_eq!(parts.concat(), content.as_bytes());
    }

    #[test]
    fn what_is_one_conversation_stays_whole() {
        for content in ["[]", "{\"messages\":[]}", "{\"role\":\"user\"}\n{\"role\":\"user\"}\n", "", "{\n}"] {
            assert_eq!(parts(content.as_bytes()), [content.as_bytes()]);
        }
    }

    #[test]
    fn an_endless_file_is_refused() {
        let parts = |file: &str| Parts::open(file.into()).and_then(|mut parts| parts.next());
        let error = parts("/dev/zero").unwrap_err().to_string();
        assert_eq!(error, "/dev/zero: is larger than 16.00 MiB, the most that is read");
    }
}
