//! The texts in filled stores: they compress like what people write.

use std::{fs, path::PathBuf};

use serde_json::Value;

/// The size of a generated vocabulary.
const WORDS: usize = 4_000;
/// Bytes of generated text before it repeats.
const GENERATED_BYTES: usize = 8 << 20;
/// The range of text lengths in bytes; an utterance can be longer by a word.
const SHORTEST: u64 = 20;
const LONGEST: u64 = 200;

/// Texts by number; they only repeat after megabytes, further than any engine's blocks reach back.
pub struct Texts {
    pieces: Vec<Box<str>>,
    /// Where they come from.
    pub source: &'static str,
}

impl Texts {
    /// Pieces of the transcripts below `UTTERD_DATA` (default `../shared/data`), or of generated words if
    /// there are none.
    pub fn new() -> Self {
        let mut random = Random(1);
        let said = transcripts();
        let (words, source) = match said.is_empty() {
            false => (said.split_whitespace().map(str::to_owned).collect(), "real transcripts"),
            true => (generated(&mut random), "generated words"),
        };
        Self { pieces: pieces(&words, &mut random), source }
    }

    /// The text with this number.
    pub fn get(&self, number: usize) -> &str {
        &self.pieces[number % self.pieces.len()]
    }

    /// The size of the first `count` texts in bytes.
    pub fn bytes(&self, count: usize) -> u64 {
        (0..count).map(|number| self.get(number).len() as u64).sum()
    }
}

/// The texts of all transcripts.
fn transcripts() -> String {
    let folder = std::env::var_os("UTTERD_DATA").unwrap_or_else(|| "../shared/data".into());
    let Ok(files) = fs::read_dir(PathBuf::from(folder).join("transcripts")) else { return String::new() };
    let mut paths: Vec<_> = files.filter_map(|file| Some(file.ok()?.path())).collect();
    paths.sort();
    let mut said = String::new();
    for path in paths.iter().filter(|path| path.extension().is_some_and(|kind| kind == "jsonl")) {
        for line in fs::read_to_string(path).expect("a transcript").lines() {
            let transcript: Value = serde_json::from_str(line).expect("a transcript");
            for message in transcript["messages"].as_array().into_iter().flatten() {
                said.push_str(message["content"].as_str().unwrap_or_default());
                said.push('\n');
            }
        }
    }
    said
}

/// Words of which a few are frequent and many are rare.
fn generated(random: &mut Random) -> Vec<String> {
    const SYLLABLES: [&str; 24] = [
        "a", "ber", "con", "do", "en", "fi", "ga", "her", "in", "ka", "lo", "men", "ni", "or", "per", "qui",
        "re", "sta", "ti", "un", "ver", "wo", "ing", "ed",
    ];
    let mut syllables =
        |count| (0..count).map(|_| SYLLABLES[random.below(SYLLABLES.len() as u64) as usize]).collect();
    let vocabulary: Vec<String> = (0..WORDS).map(|word| syllables(1 + word % 4)).collect();
    let (mut words, mut bytes) = (Vec::new(), 0);
    while bytes < GENERATED_BYTES {
        let rare = random.below(WORDS as u64) * random.below(WORDS as u64) / WORDS as u64;
        let word = vocabulary[rare as usize].clone();
        bytes += word.len() + 1;
        words.push(word);
    }
    words
}

/// The words in order, joined into texts of mixed lengths.
fn pieces(words: &[String], random: &mut Random) -> Vec<Box<str>> {
    let mut pieces = Vec::new();
    let mut words = words.iter().peekable();
    while words.peek().is_some() {
        let length = (SHORTEST + random.below(LONGEST - SHORTEST)) as usize;
        let mut piece = String::with_capacity(length + 16);
        while let Some(word) = words.next_if(|_| piece.len() < length) {
            piece.push_str(if piece.is_empty() { "" } else { " " });
            piece.push_str(word);
        }
        pieces.push(piece.into());
    }
    pieces
}

/// Marsaglia's xorshift: the same numbers in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % limit
    }
}
