//! Splits a file into parts that are imported one after the other.

use std::{
    io::BufRead,
    mem,
    path::{Path, PathBuf},
};

use crate::{
    errors::CliError,
    terminal::read::{self, about, bounded},
};
use utterd_domain::limits::{MAX_IMPORT_BYTES, MAX_IMPORT_WEIGHT};
use utterd_formats::{Condenser, weight};

/// Bytes of conversations, one per line, sent at a time.
const PART: usize = 1 << 20;

/// A file in parts. A file with one conversation per line, or with an array of those that ChatGPT and Claude
/// export, is split into whole conversations. Any other file is one part; a session that is too large is
/// reduced to what is read of it. No part is larger than a server accepts, and only one is read at a time.
pub struct Parts {
    reader: Box<dyn BufRead + Send>,
    file: PathBuf,
    /// What has been read and belongs to the next part.
    begun: Vec<u8>,
    form: Form,
    ended: bool,
}

/// What a part consists of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// The file.
    Whole,
    /// Lines.
    Lines,
    /// Elements of an array.
    Elements,
}

impl Parts {
    /// Opens a file, or stdin for `-`.
    pub fn open(file: PathBuf) -> Result<Self, CliError> {
        let reader = read::open(&file)?;
        Self::of(reader, file)
    }

    fn of(mut reader: Box<dyn BufRead + Send>, file: PathBuf) -> Result<Self, CliError> {
        let mut begun = before(&mut reader, &file, MAX_IMPORT_BYTES)?;
        let form = if begun.contains(&b'[') {
            let first = object(&mut reader, &file, MAX_IMPORT_BYTES)?;
            let is_export = has_any(&first, &["mapping", "chat_messages"]);
            begun = if is_export { first } else { [begun, first].concat() };
            if is_export { Form::Elements } else { Form::Whole }
        } else {
            begun.extend(read::line(&mut reader, &file, MAX_IMPORT_BYTES)?);
            let is_line = begun.iter().position(|byte| *byte == b'\n') == begun.len().checked_sub(1);
            if is_line && has_any(&begun, &["messages", "input"]) { Form::Lines } else { Form::Whole }
        };
        Ok(Self { reader, file, begun, form, ended: false })
    }

    /// The next part. Even an empty file has one, which is empty.
    pub fn next(&mut self) -> Result<Option<Vec<u8>>, CliError> {
        if mem::replace(&mut self.ended, self.form == Form::Whole) {
            return Ok(None);
        }
        let mut part = mem::take(&mut self.begun);
        if self.form == Form::Whole {
            return whole(&mut self.reader, &self.file, part, MAX_IMPORT_BYTES).map(Some);
        }
        // The brackets and the comma of an array.
        let beside = if self.form == Form::Elements { 3 } else { 0 };
        while part.len() <= PART {
            let more = self.conversation()?;
            if more.is_empty() {
                self.ended = true;
                break;
            }
            if part.len() + more.len() + beside > MAX_IMPORT_BYTES {
                self.begun = more;
                break;
            }
            if self.form == Form::Elements && !part.is_empty() {
                part.push(b',');
            }
            part.extend(more);
        }
        if part.is_empty() {
            return Ok(None);
        }
        Ok(Some(match self.form {
            Form::Elements => [b"[", part.as_slice(), b"]"].concat(),
            _ => part,
        }))
    }

    /// Reads the next conversation; empty at the end of the file.
    fn conversation(&mut self) -> Result<Vec<u8>, CliError> {
        match self.form {
            Form::Elements => {
                before(&mut self.reader, &self.file, MAX_IMPORT_BYTES)?;
                object(&mut self.reader, &self.file, MAX_IMPORT_BYTES - 2)
            }
            _ => read::line(&mut self.reader, &self.file, MAX_IMPORT_BYTES),
        }
    }
}

/// A whole file of at most `limit` bytes; a session that has more is reduced to what is read of it.
pub fn whole_file(file: &Path, limit: usize) -> Result<Vec<u8>, CliError> {
    whole(&mut read::open(file)?, file, Vec::new(), limit)
}

/// The whole file, which begins with `part`.
fn whole(
    reader: &mut impl BufRead,
    file: &Path,
    mut part: Vec<u8>,
    limit: usize,
) -> Result<Vec<u8>, CliError> {
    let mut condenser: Option<Condenser> = None;
    loop {
        let line = read::line(reader, file, limit)?;
        let is_end = line.is_empty();
        part.extend(match &mut condenser {
            Some(condenser) => condenser.line(&line),
            None => line,
        });
        let is_too_heavy = || is_end && weight(&part) > MAX_IMPORT_WEIGHT;
        if condenser.is_none() && (part.len() > limit || is_too_heavy()) {
            condenser = Condenser::of(&part);
            if let Some(condenser) = &mut condenser {
                let lines = part.split_inclusive(|byte| *byte == b'\n');
                part = lines.flat_map(|line| condenser.line(line)).collect();
            }
        }
        part = bounded(part, file, limit)?;
        if is_end {
            return Ok(part);
        }
    }
}

/// Whether it is an object with one of these fields.
fn has_any(object: &[u8], names: &[&str]) -> bool {
    serde_json::from_slice::<serde_json::Value>(object)
        .is_ok_and(|value| names.iter().any(|name| value.get(name).is_some()))
}

/// How far the reader is in an element.
#[derive(Default)]
struct Scan {
    depth: usize,
    in_text: bool,
    is_escaped: bool,
}

impl Scan {
    /// Follows the next byte of an object; returns whether it is the last one.
    fn ends(&mut self, byte: u8) -> bool {
        match (self.in_text, byte) {
            (true, _) if self.is_escaped => self.is_escaped = false,
            (true, b'\\') => self.is_escaped = true,
            (_, b'"') => self.in_text = !self.in_text,
            (false, b'{' | b'[') => self.depth += 1,
            (false, b'}' | b']') => self.depth = self.depth.saturating_sub(1),
            _ => {}
        }
        self.depth == 0
    }
}

/// Reads what stands before the next object of an array: blanks, brackets and commas, of at most `limit` bytes.
fn before(reader: &mut impl BufRead, file: &Path, limit: usize) -> Result<Vec<u8>, CliError> {
    let mut before = Vec::new();
    while let Some(byte) = next(reader, file)?
        && (byte.is_ascii_whitespace() || matches!(byte, b'[' | b','))
    {
        before.push(byte);
        before = bounded(before, file, limit)?;
        reader.consume(1);
    }
    Ok(before)
}

fn next(reader: &mut impl BufRead, file: &Path) -> Result<Option<u8>, CliError> {
    Ok(reader.fill_buf().map_err(about(file))?.first().copied())
}

/// Reads an object of at most `limit` bytes to its end, or to the end of the file; reads nothing if something else comes
/// next.
fn object(reader: &mut impl BufRead, file: &Path, limit: usize) -> Result<Vec<u8>, CliError> {
    if next(reader, file)? != Some(b'{') {
        return Ok(Vec::new());
    }
    let (mut object, mut scan) = (Vec::new(), Scan::default());
    loop {
        let bytes = reader.fill_buf().map_err(about(file))?;
        let end = bytes.iter().position(|byte| scan.ends(*byte));
        let taken = end.map_or(bytes.len(), |end| end + 1);
        object.extend_from_slice(&bytes[..taken]);
        reader.consume(taken);
        object = bounded(object, file, limit)?;
        if end.is_some() || taken == 0 {
            return Ok(object);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufReader, Cursor, Read as _};

    use super::*;
    use utterd_formats as formats;

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
    fn an_export_is_parted_between_conversations() {
        let one = format!("{{\"mapping\":{{}},\"title\":\"[{}\"}}", "x".repeat(300_000));
        let content = format!("[{}]", [one.as_str(); 9].join(",\n"));
        let parts = parts(content.as_bytes());
        assert!(parts.len() > 1);
        let read = |part: &Vec<u8>| serde_json::from_slice::<Vec<serde_json::Value>>(part).unwrap();
        let all: Vec<_> = parts.iter().flat_map(read).collect();
        assert_eq!(all, vec![serde_json::from_str::<serde_json::Value>(&one).unwrap(); 9]);
    }

    #[test]
    fn what_is_one_conversation_stays_whole() {
        for content in [
            "[{\"role\":\"user\"}, 3]",
            "[]",
            "{\"messages\":[]}",
            "{\"role\":\"user\"}\n{\"role\":\"user\"}\n",
            "",
            "{\n}",
        ] {
            assert_eq!(parts(content.as_bytes()), [content.as_bytes()]);
        }
    }

    /// Claude Code records the whole of a file with each change of it; these records are not part of what was
    /// said.
    #[test]
    fn of_a_large_session_what_is_read_is_sent() {
        let line = |number: usize| {
            let before = if number == 0 { "null".to_owned() } else { format!("\"m{}\"", number - 1) };
            let role = if number.is_multiple_of(2) { "user" } else { "assistant" };
            format!(
                "{{\"uuid\":\"m{number}\",\"parentUuid\":{before},\"sessionId\":\"s\",\"type\":\"{role}\",\
                 \"toolUseResult\":\"{}\",\"message\":{{\"role\":\"{role}\",\"content\":\"{number}\"}}}}\n",
                "x".repeat(1 << 20)
            )
        };
        let content: String = (0..40).map(line).collect();
        let parts = parts(content.as_bytes());
        assert!(parts.len() == 1 && parts[0].len() < 40 << 10);
        let read = |content: &[u8]| formats::parse(content, None, formats::UnknownRoles::Refuse).unwrap();
        assert_eq!(format!("{:?}", read(&parts[0])), format!("{:?}", read(content.as_bytes())));
    }

    #[test]
    fn an_endless_file_is_refused() {
        let parts = |file: &str| Parts::open(file.into()).and_then(|mut parts| parts.next());
        let error = parts("/dev/zero").unwrap_err().to_string();
        assert_eq!(error, "/dev/zero: is larger than 16.00 MiB, the limit");
    }

    /// Every object, and what is left, read a few bytes at a time.
    fn split(text: &str) -> (Vec<String>, String) {
        let mut reader = BufReader::with_capacity(3, Cursor::new(text.as_bytes().to_vec()));
        let mut objects = Vec::new();
        loop {
            let before = before(&mut reader, Path::new("x"), 100).unwrap();
            let object = object(&mut reader, Path::new("x"), 100).unwrap();
            if object.is_empty() {
                let mut rest = before;
                reader.read_to_end(&mut rest).unwrap();
                return (objects, String::from_utf8(rest).unwrap());
            }
            objects.push(String::from_utf8(object).unwrap());
        }
    }

    #[test]
    fn an_array_is_split_into_its_objects() {
        let objects = [r#"{"a":[{"b":"}]"}]}"#, "{}", r#"{"c\"{":"\\"}"#];
        let array = format!("[\n {} ,{},{} ]", objects[0], objects[1], objects[2]);
        assert_eq!(split(&array), (objects.map(str::to_owned).to_vec(), " ]".to_owned()));
    }

    #[test]
    fn what_is_no_array_of_objects_is_left() {
        for text in ["", "3", "[1, 2]", "[\"{\"]", "nothing"] {
            assert_eq!(split(text), (Vec::new(), text.to_owned()));
        }
        assert_eq!(split("[{\"a\": 1").0, ["{\"a\": 1"], "it was cut off");
    }

    #[test]
    fn an_object_has_a_limit() {
        let mut reader = Cursor::new(format!("[{{\"a\":\"{}\"}}]", "x".repeat(200)));
        before(&mut reader, Path::new("x"), 100).unwrap();
        assert!(object(&mut reader, Path::new("x"), 100).is_err());
    }
}
