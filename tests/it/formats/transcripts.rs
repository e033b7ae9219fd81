//! Real transcripts, if they exist.

use std::{fs, path::PathBuf};

use serde::Serialize;
use serde_json::{Value, json};
use utterd::formats::{Format, Repairs, UnknownRoles, parse};

use crate::formats::{exported, faults::faults, given_out, through};

/// The default style of Python's `json`.
struct Spaced;

impl serde_json::ser::Formatter for Spaced {
    fn begin_array_value<W: ?Sized + std::io::Write>(
        &mut self,
        to: &mut W,
        first: bool,
    ) -> std::io::Result<()> {
        to.write_all(if first { b"" } else { b", " })
    }

    fn begin_object_key<W: ?Sized + std::io::Write>(
        &mut self,
        to: &mut W,
        first: bool,
    ) -> std::io::Result<()> {
        to.write_all(if first { b"" } else { b", " })
    }

    fn begin_object_value<W: ?Sized + std::io::Write>(&mut self, to: &mut W) -> std::io::Result<()> {
        to.write_all(b": ")
    }
}

/// Every line of the transcripts; none if they are absent.
fn lines() -> Vec<Value> {
    let data = std::env::var_os("UTTERD_DATA").map_or_else(|| PathBuf::from("../shared/data"), PathBuf::from);
    let Ok(files) = fs::read_dir(data.join("transcripts")) else {
        eprintln!("ignored: {} holds no transcripts", data.display());
        return Vec::new();
    };
    let text = |file: std::io::Result<fs::DirEntry>| fs::read_to_string(file.ok()?.path()).ok();
    let texts: Vec<String> = files.filter_map(text).collect();
    texts.iter().flat_map(|text| text.lines()).map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

#[test]
fn every_transcript_comes_out_as_it_went_in() {
    for line in lines() {
        for value in [&line, &line["messages"]] {
            let out = through(value, Format::OpenAiChat, Format::OpenAiChat);
            assert!(out.len() == 1 && out[0] == *value, "{}", line["id"]);
        }
    }
}

/// As written by a program that puts a space after each colon and comma, and by one that does not.
#[test]
fn every_message_comes_back_byte_for_byte() {
    for line in lines() {
        let messages = line["messages"].as_array().cloned().unwrap_or_default();
        let plain: Vec<String> = messages.iter().map(Value::to_string).collect();
        let mut spaced = Vec::new();
        for message in &messages {
            let mut json = serde_json::Serializer::with_formatter(Vec::new(), Spaced);
            message.serialize(&mut json).expect("it is written");
            spaced.push(String::from_utf8(json.into_inner()).expect("UTF-8"));
        }
        for list in [plain, spaced] {
            assert_eq!(given_out(&list, Format::OpenAiChat), list, "{}", line["id"]);
        }
    }
}

#[test]
fn every_transcript_is_sound_in_other_formats() {
    for line in lines() {
        let source = parse(line.to_string().as_bytes(), None, UnknownRoles::ReadAsUser).expect("it is read");
        assert_eq!(source.format, Format::OpenAiChat);
        for format in [Format::Anthropic, Format::OpenAiResponses] {
            let (value, _) = exported(&source.conversations[0], format, Repairs::default());
            assert_eq!(faults(&value, format), Vec::<String>::new(), "{} as {}", line["id"], format.name());
            // and back again, in its current format
            assert_eq!(through(&value, format, format), [value]);
        }
        let all = Repairs { all: true, ..Repairs::default() };
        let (value, _) = exported(&source.conversations[0], Format::OpenAiChat, all);
        assert_eq!(faults(&value, Format::OpenAiChat), Vec::<String>::new(), "{}", line["id"]);
        let (value, _) = exported(&source.conversations[0], Format::Persisted, Repairs::default());
        assert_eq!(
            through(&json!({"conversations": [value]}), Format::Persisted, Format::Persisted),
            [value]
        );
    }
}
