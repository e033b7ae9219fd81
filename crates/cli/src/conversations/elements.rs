//! Splits a JSON array into its elements, without reading the whole.

use std::{io::BufRead, path::Path};

use crate::{
    errors::CliError,
    terminal::read::{about, bounded},
};

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
pub fn before(reader: &mut impl BufRead, file: &Path, limit: usize) -> Result<Vec<u8>, CliError> {
    let mut before = Vec::new();
    while let Some(byte) = next(reader, file)?
        && (byte.is_ascii_whitespace() || matches!(byte, b'[' | b','))
    {
        before.push(byte);
        before = bounded(before, limit, file, limit)?;
        reader.consume(1);
    }
    Ok(before)
}

fn next(reader: &mut impl BufRead, file: &Path) -> Result<Option<u8>, CliError> {
    Ok(reader.fill_buf().map_err(about(file))?.first().copied())
}

/// Reads an object of at most `limit` bytes to its end, or to the end of the file; reads nothing if something else comes
/// next.
pub fn object(reader: &mut impl BufRead, file: &Path, limit: usize) -> Result<Vec<u8>, CliError> {
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
        object = bounded(object, limit, file, limit)?;
        if end.is_some() || taken == 0 {
            return Ok(object);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufReader, Cursor, Read as _};

    use super::*;

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
