//! Real transcripts, where they are.

use std::{fs, path::PathBuf};

use serde_json::{Value, json};
use utterd::formats::{Format, Repairs, UnknownRoles, parse};

use crate::{exported, faults::faults, through};

/// Every line of the transcripts; none where they are absent.
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

#[test]
fn every_transcript_is_sound_in_other_formats() {
    for line in lines() {
        let source = parse(line.to_string().as_bytes(), None, UnknownRoles::ReadAsUser).expect("it is read");
        assert_eq!(source.format, Format::OpenAiChat);
        for format in [Format::Anthropic, Format::OpenAiResponses] {
            let (value, _) = exported(&source.conversations[0], format, Repairs::default());
            assert_eq!(faults(&value, format), Vec::<String>::new(), "{} as {}", line["id"], format.name());
            // and back again, in the format that it is in now
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
