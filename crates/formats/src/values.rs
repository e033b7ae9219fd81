//! Reads the JSON values of a file.

use serde_json::{Deserializer, Error, Value};

use crate::{
    Format,
    place::{Notes, Place},
    programs::session,
    replace_surrogates,
};
use utterd_domain::{Refusal, Result};

/// Reads JSON, or JSON values one after the other.
///
/// A session can be in the middle of being written, or its program can have been killed. As the programs do, this
/// skips what it cannot read of a session's lines, with a note for each line. Refuses any other file that is not JSON
/// throughout, and names the place.
///
/// Returns the values, and why the file is not well-formed if lines of it were skipped.
pub fn read(
    bytes: &[u8],
    format: Option<Format>,
    notes: &mut Notes,
) -> Result<(Vec<Value>, Option<Refusal>)> {
    let torn = match whole(bytes, notes) {
        Ok(list) => return Ok((list, None)),
        Err(refusal) => refusal,
    };
    let list = match format.or_else(|| session(bytes)).is_some_and(Format::is_session) {
        true => lines(bytes, notes),
        false => Vec::new(),
    };
    if list.is_empty() { Err(torn) } else { Ok((list, Some(torn))) }
}

fn whole(bytes: &[u8], notes: &mut Notes) -> Result<Vec<Value>> {
    let refuse = |text: String| Refusal::invalid("content", text);
    let text = str::from_utf8(bytes).map_err(|error| refuse(format!("is not UTF-8: {error}")))?;
    let said = text.trim_start_matches('\u{feff}');
    let text = replace_surrogates(said);
    match stream(&text) {
        (values, None) => {
            let changed = said.lines().zip(text.lines()).enumerate().filter(|(_, (said, read))| said != read);
            changed.for_each(|(number, _)| replaced(number, notes));
            Ok(values)
        }
        (values, Some((at, error))) => {
            Err(refuse(format!("is not JSON: {}", told(&text, values.len(), at, &error))))
        }
    }
}

/// Reads each line by itself. A disk that lost power leaves NULs, which are in no JSON: what they part is read apart.
fn lines(bytes: &[u8], notes: &mut Notes) -> Vec<Value> {
    let mut values = Vec::new();
    for (number, line) in bytes.split(|byte| *byte == b'\n').enumerate() {
        let mut is_torn = line.contains(&0) || str::from_utf8(line).is_err();
        let mut has_halves = false;
        for piece in line.split(|byte| *byte == 0) {
            let said = String::from_utf8_lossy(piece);
            let text = replace_surrogates(said.trim_start_matches('\u{feff}'));
            let (read, wrong) = stream(&text);
            values.extend(read);
            is_torn |= wrong.is_some();
            has_halves |= !said.ends_with(&*text);
        }
        if has_halves {
            replaced(number, notes);
        }
        if is_torn {
            notes.add(&Place::lines().index(number), "is torn: what cannot be read of it is skipped");
        }
    }
    values
}

fn replaced(line: usize, notes: &mut Notes) {
    let text = "has halves of surrogate pairs, which no text can hold: each became U+FFFD";
    notes.add(&Place::lines().index(line), text);
}

/// The values up to the first that is broken, where that begins, and what is wrong with it.
fn stream(text: &str) -> (Vec<Value>, Option<(usize, Error)>) {
    let (mut values, mut stream) = (Vec::new(), Deserializer::from_str(text).into_iter());
    while let Some(next) = stream.next() {
        match next {
            Ok(value) => values.push(value),
            Err(error) => return (values, Some((stream.byte_offset(), error))),
        }
    }
    (values, None)
}

/// What is wrong with the value that begins `at` this byte, after `before` others, and where.
///
/// If each of the others is a line, so is this one: it is broken within that line, although a parser reads on.
fn told(text: &str, before: usize, at: usize, error: &Error) -> String {
    let is_blank = |line: &&str| line.trim().is_empty();
    let start = text[..at].rfind('\n').map_or(0, |end| end + 1);
    let line = text[start..].lines().next().unwrap_or_default();
    let by_lines = before > 0 && text[..start].lines().filter(|line| !is_blank(line)).count() == before;
    if by_lines && let (_, Some((_, error))) = stream(line) {
        return placed(&error, text[..start].lines().count() + 1, error.column());
    }
    match (error.line(), error.column()) {
        // A line end within a text is at the end of its line, not before the next one.
        (next, 0) if next > 1 => placed(error, next - 1, text.lines().nth(next - 2).map_or(0, str::len) + 1),
        (line, column) => placed(error, line, column),
    }
}

fn placed(error: &Error, line: usize, column: usize) -> String {
    let told = error.to_string();
    let what = told.rsplit_once(" at line ").map_or(&*told, |(what, _)| what);
    format!("{what} at line {line} column {column}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str) -> String {
        let Err(refusal) = read(text.as_bytes(), None, &mut Notes::default()) else { panic!("it is read") };
        refusal.to_string()
    }

    #[test]
    fn a_file_that_is_no_session_is_refused_with_the_broken_line() {
        let message = r#"{"role":"user","content":"hi"}"#;
        let cut = r#"{"role":"user","content":"h"#;
        for (text, place) in [
            (format!("{message}\n{cut}\ni\"}}\n{message}\n"), "line 2 column 27"),
            (format!("{message}\n{cut}"), "line 2 column 27"),
            (format!("{message}\n\n{message}\n{{\"role\":\n{message}\n"), "line 4 column 8"),
            (format!("{message}\n\0\0\n{message}\n"), "line 2 column 1"),
            (format!("{cut}\n{message}\n"), "line 1 column 28"),
            (format!("[\n{message},\n]\n"), "line 3 column 1"),
            (format!("[{message},]"), "line 1 column 33"),
            ("{\n}\n{\n\"a\": 1,\n}".to_owned(), "line 5 column 1"),
        ] {
            let refusal = refused(&text);
            assert!(refusal.ends_with(place), "{refusal}: {text}");
        }
    }

    #[test]
    fn what_is_replaced_is_told() {
        let torn = r#"{"uuid":"\ud83d","parentUuid":null,"sessionId":"s"}"#;
        let whole = r#"{"uuid":"\ud83d\ude00","parentUuid":null,"sessionId":"s"}"#;
        for end in ["", "{cut off"] {
            let mut notes = Notes::default();
            let (list, _) = read([whole, torn, end].join("\n").as_bytes(), None, &mut notes).unwrap();
            assert_eq!(list[1]["uuid"], "\u{fffd}");
            let notes = notes.list;
            assert_eq!(notes[0].place, "line 2");
            assert!(
                notes[0].description.contains("U+FFFD") && notes.len() == 1 + usize::from(!end.is_empty())
            );
        }
    }

    #[test]
    fn of_a_session_only_what_cannot_be_read_is_skipped() {
        let line = |name: &str| format!("{{\"uuid\":\"{name}\",\"parentUuid\":null,\"sessionId\":\"s\"}}");
        let [a, b, c, d, e] = ["a", "b", "c", "d", "e"].map(line);
        let file = [
            a.as_bytes(),
            &c.as_bytes()[..20],
            b"\0\0\0\0",
            b"",
            &[b"\0\0", b.as_bytes()].concat(),
            &[&c.as_bytes()[..20], a.as_bytes()].concat(),
            &[c.as_bytes(), d.as_bytes()].concat(),
            b"{\"uuid\":\"\xff\"}",
            &e.as_bytes()[..e.len() - 1],
        ]
        .join(&b'\n');
        let mut notes = Notes::default();
        let (list, torn) = read(&file, None, &mut notes).unwrap();
        let ids: Vec<_> = list.iter().map(|value| value["uuid"].as_str().unwrap()).collect();
        assert_eq!(ids, ["a", "b", "c", "d", "\u{fffd}"]);
        let places: Vec<_> = notes.list.into_iter().map(|note| note.place).collect();
        assert_eq!(places, ["line 2", "line 3", "line 5", "line 6", "line 8", "line 9"]);
        assert!(torn.unwrap().to_string().contains("not UTF-8"));
    }
}
