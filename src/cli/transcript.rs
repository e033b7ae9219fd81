//! Transcript files: JSON or JSONL, read into conversations.

use std::{
    fs, io,
    io::Read,
    path::{Path, PathBuf},
};

use serde_json::{Deserializer, Value};

use super::{
    message::{self, Message},
    naming::Names,
    text::visible,
};
use crate::formats::{kind, mend_surrogates};

/// One conversation of a file.
#[derive(Debug)]
pub struct Transcript {
    /// How it is named to people: the file, and its id or its number.
    pub label: String,
    /// The conversation that it becomes.
    pub conversation_id: String,
    /// What was said, in order.
    pub messages: Vec<Message>,
}

/// Reads the transcripts of all `files`; `-` is stdin. A file or a transcript that cannot be read
/// is an error that names it, and does not keep the others from being read.
pub fn read(files: &[PathBuf]) -> Vec<Result<Transcript, String>> {
    let mut names = Names::default();
    let mut transcripts = Vec::new();
    for file in files {
        let source = Source::of(file);
        match source.values() {
            Ok(values) => source.transcripts(values, &mut names, &mut transcripts),
            Err(reason) => transcripts.push(Err(format!("{}: {reason}", source.label))),
        }
    }
    transcripts
}

/// A file, and what its conversations are called after.
struct Source<'a> {
    path: Option<&'a Path>,
    label: String,
    stem: String,
}

impl<'a> Source<'a> {
    fn of(file: &'a Path) -> Self {
        if file.as_os_str() == "-" {
            return Self { path: None, label: "stdin".into(), stem: "stdin".into() };
        }
        let part =
            |part: Option<&std::ffi::OsStr>| part.unwrap_or(file.as_os_str()).to_string_lossy().into_owned();
        Self { path: Some(file), label: part(file.file_name()), stem: part(file.file_stem()) }
    }

    /// The JSON values of the file, one after the other: a JSON file holds one, a JSONL file one a
    /// line.
    fn values(&self) -> Result<Vec<Value>, String> {
        let bytes = match self.path {
            Some(path) => fs::read(path).map_err(|error| error.to_string())?,
            None => stdin().map_err(|error| error.to_string())?,
        };
        let text = String::from_utf8(bytes).map_err(|error| format!("is not UTF-8: {error}"))?;
        let text = mend_surrogates(text.trim_start_matches('\u{feff}'));
        let values: Result<Vec<Value>, _> = Deserializer::from_str(&text).into_iter().collect();
        values.map_err(|error| format!("is no JSON: {error}"))
    }

    /// Sorts the values into transcripts: an object with `messages`, or an array of messages, is
    /// one; single messages, one a line, are one together.
    fn transcripts(&self, values: Vec<Value>, names: &mut Names, into: &mut Vec<Result<Transcript, String>>) {
        let mut loose = Vec::new();
        let mut whole = Vec::new();
        for value in values.into_iter().flat_map(spread) {
            match value {
                Value::Object(mut fields) if fields.contains_key("messages") => {
                    let messages = fields.remove("messages").unwrap_or_default();
                    whole.push((fields.get("id").map(id_text), messages));
                }
                Value::Array(_) => whole.push((None, value)),
                message => loose.push(message),
            }
        }
        if !loose.is_empty() {
            whole.push((None, Value::Array(loose)));
        }
        let alone = whole.len() == 1;
        for (index, (id, messages)) in whole.into_iter().enumerate() {
            let id = id.or_else(|| (!alone).then(|| (index + 1).to_string()));
            into.push(self.transcript(id.as_deref(), messages, names));
        }
    }

    fn transcript(&self, id: Option<&str>, messages: Value, names: &mut Names) -> Result<Transcript, String> {
        let with = |name: &str, between: &str| match id {
            Some(id) => format!("{name}{between}{id}"),
            None => name.to_owned(),
        };
        let label = visible(&with(&self.label, " "));
        let conversation_id = names.take(&with(&self.stem, "/"));
        let Value::Array(messages) = messages else {
            return Err(format!("{label}: messages is {}; accepted is an array", kind(&messages)));
        };
        let read = |(index, value)| {
            message::read(value).map_err(|reason| format!("{label} message {}: {reason}", index + 1))
        };
        let messages = messages.into_iter().enumerate().map(read).collect::<Result<_, _>>()?;
        Ok(Transcript { label, conversation_id, messages })
    }
}

fn stdin() -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    io::stdin().read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// An array of transcripts is as good as a file of them; an array of messages is one transcript.
fn spread(value: Value) -> Vec<Value> {
    let is_transcript = |value: &Value| value.is_array() || value.get("messages").is_some();
    match value {
        Value::Array(values) if values.first().is_some_and(is_transcript) => values,
        other => vec![other],
    }
}

fn id_text(id: &Value) -> String {
    id.as_str().map_or_else(|| id.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_text(name: &str, text: &str) -> Vec<Result<Transcript, String>> {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join(name);
        fs::write(&path, text).unwrap();
        read(&[path])
    }

    fn ids(name: &str, text: &str) -> Vec<(String, usize)> {
        let transcripts = read_text(name, text).into_iter().map(Result::unwrap);
        transcripts.map(|it| (it.conversation_id, it.messages.len())).collect()
    }

    const HI: &str = r#"{"role":"user","content":"hi"}"#;

    #[test]
    fn every_shape_is_read() {
        let one = |name: &str, messages| vec![(name.to_owned(), messages)];
        assert_eq!(ids("a.json", &format!("[{HI},{HI}]")), one("a", 2));
        assert_eq!(ids("a.json", &format!("{{\"messages\":[\n{HI}]}}")), one("a", 1));
        assert_eq!(ids("a.json", &format!("{{\"id\":\"x\",\"messages\":[{HI}]}}")), one("a/x", 1));
        assert_eq!(ids("a.jsonl", &format!("{HI}\n\n{HI}\n{HI}\n")), one("a", 3));
        let numbered = format!("{{\"id\":7,\"messages\":[{HI}]}}\n{{\"messages\":[]}}\n");
        assert_eq!(ids("a.jsonl", &numbered), [("a/7".into(), 1), ("a/2".into(), 0)]);
        let array = format!("[{{\"id\":\"x\",\"messages\":[{HI}]}},{{\"id\":\"x\",\"messages\":[]}}]");
        assert_eq!(ids("a.json", &array), [("a/x".into(), 1), ("a/x~2".into(), 0)]);
    }

    #[test]
    fn what_is_wrong_is_named() {
        let errors = |text: &str| -> Vec<_> {
            read_text("a.jsonl", text).into_iter().filter_map(Result::err).collect()
        };
        assert!(errors("{\"role\":")[0].starts_with("a.jsonl: is no JSON: EOF"));
        assert!(errors("{\"messages\":3}")[0].contains("a.jsonl: messages is a number"));
        let second = format!("{{\"id\":\"x\",\"messages\":[{HI},{{}}]}}");
        assert_eq!(errors(&second), ["a.jsonl x message 2: has no role"]);
        assert!(read(&["/nowhere.json".into()])[0].as_ref().unwrap_err().starts_with("nowhere.json: "));
    }
}
