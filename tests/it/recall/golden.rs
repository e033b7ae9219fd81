//! Golden queries: conversations in several languages, and what a person would expect first.

use std::path::Path;

use serde::Deserialize;
use utterd::domain::{
    Role, Timestamp,
    recall::{Index, Query, Said},
};

use crate::recall::support::score;

#[derive(Deserialize)]
struct Golden {
    utterances: Vec<Utterance>,
    questions: Vec<Question>,
}

#[derive(Deserialize)]
struct Utterance {
    role: String,
    #[serde(default)]
    name: String,
    content: String,
    #[serde(default)]
    time: Option<String>,
}

#[derive(Deserialize)]
struct Question {
    prompt: String,
    evidence: Vec<usize>,
}

/// The percentages of a set's questions whose evidence comes first, and among the first three.
fn shares(name: &str) -> (usize, usize) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/it/recall/golden")
        .join(name)
        .with_extension("json");
    let golden: Golden = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let mut index = Index::new();
    index.extend((1..).zip(&golden.utterances).map(|(sequence, utterance)| utterance.said(sequence)));
    let now = golden.utterances.last().map_or(0, Utterance::minute);
    let within = |question: &&Question, first: usize| {
        let hits = score(&Query::new(&question.prompt).at(now), &[&index], |_| true, 0..first);
        hits.iter().any(|hit| question.evidence.contains(&(hit.sequence as usize - 1)))
    };
    let share = |first| {
        100 * golden.questions.iter().filter(|question| within(question, first)).count()
            / golden.questions.len()
    };
    (share(1), share(3))
}

impl Utterance {
    fn said(&self, sequence: u64) -> Said<'_> {
        let role = Role::named(&self.role).unwrap();
        Said {
            sequence,
            role,
            name: &self.name,
            minute: self.minute(),
            content: &self.content,
            calls: Vec::new(),
        }
    }

    fn minute(&self) -> u32 {
        let time = self.time.as_ref().map(|time| time.parse::<jiff::Timestamp>().unwrap());
        time.map_or(0, |time| Timestamp(time.as_microsecond()).minute())
    }
}

/// Requires what a set has reached, so that a worse ranking is noticed.
macro_rules! sets {
    ($($name:ident: $first:literal, $three:literal;)*) => {
        $(#[test]
        fn $name() {
            let (first, three) = shares(stringify!($name));
            assert!(first >= $first && three >= $three, "{first} % first, {three} % among three");
        })*
    };
}

sets! {
    german: 82, 97;
    spanish: 90, 97;
    french: 85, 97;
    arabic: 87, 100;
    hindi: 92, 100;
    chinese: 97, 100;
    japanese: 87, 100;
    thai: 87, 97;
    identifiers: 97, 100;
    typos: 97, 100;
}
