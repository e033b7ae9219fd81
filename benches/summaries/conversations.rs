//! The conversations to summarise.

use std::{path::PathBuf, sync::Arc};

use serde_json::Value;
use utterd::domain::{
    Draft, LineageId, More, Role, Sequence, Timestamp, Utterance, UtteranceId, extract::Line,
};

use super::{summarised, transcripts};

/// The minimum number of messages to summarise.
const LEAST_BEFORE: usize = 12;
/// Longer conversations are split into pieces, in messages.
const WHOLE: usize = 120;
/// The length of these pieces, in messages.
const PIECE: usize = 100;

/// A conversation without system messages.
pub struct Conversation(pub Vec<Arc<Utterance>>);

/// A place where a conversation is cut.
pub struct Cut {
    /// What is summarised.
    pub before: Vec<Arc<Utterance>>,
    /// What comes next.
    pub after: Vec<Arc<Utterance>>,
    /// The lines of the summary.
    pub lines: Vec<Line>,
}

impl Cut {
    /// The text of its lines.
    pub fn summary(&self) -> String {
        self.lines.iter().map(|line| &*line.text).collect()
    }
}

impl Conversation {
    fn new(drafts: impl IntoIterator<Item = Draft>) -> Self {
        let (mut turn, mut unit) = (0, Sequence(1));
        let said = drafts.into_iter().filter(|draft| draft.role != Role::System);
        let utterances = said.zip(1..).map(|(draft, sequence)| {
            turn += u32::from(draft.role == Role::User);
            if draft.role != Role::Tool {
                unit = Sequence(sequence);
            }
            Arc::new(utterance(draft, Sequence(sequence), unit, turn))
        });
        Self(utterances.collect())
    }

    /// What precedes and follows each cut.
    pub fn cuts(&self) -> impl Iterator<Item = (&[Arc<Utterance>], &[Arc<Utterance>])> {
        let places =
            [(1, 3), (1, 2), (2, 3)].map(|(part, of)| self.between_exchanges(self.0.len() * part / of));
        let places = places.into_iter().filter(|place| (LEAST_BEFORE..self.0.len()).contains(place));
        places.map(|place| self.0.split_at(place))
    }

    /// Each cut, with everything before it summarised at once.
    pub fn cut_at_once(&self, limit: u32) -> Vec<Cut> {
        let cut = |(before, after): (&[Arc<Utterance>], &[Arc<Utterance>])| Cut {
            before: before.to_vec(),
            after: after.to_vec(),
            lines: summarised(before, limit),
        };
        self.cuts().map(cut).collect()
    }

    fn between_exchanges(&self, place: usize) -> usize {
        let rest = self.0[place..].iter();
        place + rest.take_while(|utterance| utterance.role == Role::Tool).count()
    }
}

fn utterance(draft: Draft, sequence: Sequence, unit: Sequence, turn: u32) -> Utterance {
    Utterance {
        sequence,
        unit,
        create_time: Timestamp(0),
        turn,
        tokens: 0,
        id: UtteranceId::Assigned(LineageId([0; 16])),
        role: draft.role,
        forgotten: false,
        pinned: false,
        instruction: false,
        aside: false,
        content: draft.content,
        more: draft.more,
    }
}

/// The transcripts of the files in `wanted`, with long ones split into pieces.
pub fn transcripts(wanted: &[&str]) -> Vec<Conversation> {
    let all = transcripts::all().into_iter();
    let mut found = Vec::new();
    for transcript in all.filter(|transcript| wanted.contains(&&*transcript.file)) {
        let length = if transcript.drafts.len() > WHOLE { PIECE } else { WHOLE };
        let pieces = transcript.drafts.chunks(length);
        found.extend(pieces.map(|piece| Conversation::new(piece.iter().cloned())));
    }
    found
}

/// The dialogues of `recall`.
pub fn dialogues(file: &str) -> Vec<Conversation> {
    let spoken = |said: &Value| {
        let role = if said["role"] == "assistant" { Role::Assistant } else { Role::User };
        draft(role, said["name"].as_str().unwrap_or_default(), said["content"].as_str().unwrap_or_default())
    };
    let of = |line: &Value| Conversation::new(line["utterances"].as_array().unwrap().iter().map(spoken));
    lines(&format!("recall/{file}.jsonl")).iter().map(of).collect()
}

/// The dialogues of `recall`, split into pieces of these lengths in turn, in messages.
pub fn pieces(file: &str, lengths: &[usize]) -> Vec<Conversation> {
    let mut pieces = Vec::new();
    for dialogue in dialogues(file) {
        let mut rest = &dialogue.0[..];
        for length in lengths.iter().cycle() {
            let Some((piece, behind)) = rest.split_at_checked(*length) else { break };
            pieces.push(Conversation(piece.to_vec()));
            rest = behind;
        }
    }
    pieces
}

/// The conversations of `examples/data`.
pub fn fixtures(file: &str) -> Vec<Conversation> {
    let path = format!("{}/examples/data/{file}.jsonl", env!("CARGO_MANIFEST_DIR"));
    let of = |transcript: transcripts::Transcript| Conversation::new(transcript.drafts);
    transcripts::of_file(path.as_ref()).into_iter().map(of).collect()
}

/// Reads a line of QMSum: users talk, by name.
pub fn meeting(line: &Value) -> Conversation {
    let turns = line["meeting_transcripts"].as_array().unwrap().iter();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let said: Vec<_> = turns.map(|turn| (text(&turn["speaker"]), text(&turn["content"]))).collect();
    spoken(said.iter().map(|(name, content)| (name.as_str(), content.as_str())))
}

/// Reads a line of DialogSum: users talk, by name.
pub fn dialogue(line: &Value) -> Conversation {
    let turns = line["dialogue"].as_str().unwrap().lines().filter_map(|turn| turn.split_once(": "));
    spoken(turns.map(|(name, content)| (name.trim_matches('#'), content)))
}

fn spoken<'a>(said: impl IntoIterator<Item = (&'a str, &'a str)>) -> Conversation {
    Conversation::new(said.into_iter().map(|(name, content)| draft(Role::User, name, content)))
}

fn draft(role: Role, name: &str, content: &str) -> Draft {
    let more = More { name: (!name.is_empty()).then(|| name.into()), ..More::default() };
    Draft::of(role, content, more)
}

/// The lines of a file below `UTTERD_DATA`; none if it is absent.
pub fn lines(file: &str) -> Vec<Value> {
    let folder = std::env::var_os("UTTERD_DATA").unwrap_or_else(|| "../shared/data".into());
    let path = PathBuf::from(folder).join(file);
    let Ok(text) = std::fs::read_to_string(&path) else {
        println!("skipped: no {}", path.display());
        return Vec::new();
    };
    text.lines().map(|line| serde_json::from_str(line).expect("a line is JSON")).collect()
}
