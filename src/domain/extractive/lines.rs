//! The lines that a summary may consist of.

use std::{ops::Range, sync::Arc};

use crate::domain::{
    Role, Sequence, Utterance,
    extractive::{
        calls::{answers, tell},
        choose::Worth,
        split::{fold, split},
    },
};

/// A speaker's name is clipped here, in bytes.
const SPEAKER_BYTES: usize = 48;
/// For the first sentence of an utterance: what it is about.
const OPENING_BONUS: u32 = 4;
/// A first sentence shorter than this, in bytes, is a greeting or an answer: "Hi!", "Yes.".
const OPENING_BYTES: usize = 16;
/// For the first sentence of the first turn: what the conversation is about.
const REQUEST_BONUS: u32 = 16;
/// For a question of the user's.
const QUESTION_BONUS: u32 = 4;
/// For a tool call, so that one with few words is told too.
const CALL_BONUS: u32 = 4;
/// For a call that failed or was never answered.
const FAILURE_BONUS: u32 = 6;
/// What a tool call is worth, in percent of its words: they are identifiers, mostly.
const CALL_PERCENT: u32 = 80;

/// The lines of a source, in the order said, their text in one place.
#[derive(Default)]
pub(super) struct Lines {
    text: String,
    lines: Vec<Line>,
}

/// Who said it, and what, as places in the text.
struct Line {
    sequence: Sequence,
    worth: Worth,
    speaker: Range<usize>,
    verb: &'static str,
    said: Range<usize>,
}

impl Lines {
    /// All sentences and calls of what is live in `source` and is no head instruction.
    pub(super) fn of(source: &[Arc<Utterance>]) -> Self {
        let mut lines = Self::default();
        let mut answers = answers(source).into_iter();
        for utterance in source.iter().filter(|utterance| utterance.is_live()) {
            let outcomes: Vec<_> = answers.by_ref().take(utterance.tool_calls().len()).collect();
            if utterance.role != Role::Tool && !utterance.instruction {
                lines.add(utterance, &outcomes);
            }
        }
        lines
    }

    fn add(&mut self, utterance: &Utterance, outcomes: &[Option<&str>]) {
        let speaker = self.speaker(utterance);
        let sentences = split(&utterance.content, &mut self.text);
        let opening = sentences.iter().position(|said| said.len() >= OPENING_BYTES).unwrap_or(0);
        for (place, said) in sentences.into_iter().enumerate() {
            let bonus = self.bonus(utterance, place == opening, &said);
            self.lines.push(Line {
                sequence: utterance.sequence,
                worth: Worth::Fresh { bonus, percent: percent(utterance.role) },
                speaker: speaker.clone(),
                verb: ": ",
                said,
            });
        }
        for (call, outcome) in utterance.tool_calls().iter().zip(outcomes) {
            let start = self.text.len();
            let failed = tell(call, *outcome, &mut self.text);
            let bonus = CALL_BONUS + if failed { FAILURE_BONUS } else { 0 };
            self.lines.push(Line {
                sequence: utterance.sequence,
                worth: Worth::Fresh { bonus, percent: CALL_PERCENT },
                speaker: speaker.clone(),
                verb: " called ",
                said: start..self.text.len(),
            });
        }
    }

    fn bonus(&self, utterance: &Utterance, opens: bool, said: &Range<usize>) -> u32 {
        let is_user = utterance.role == Role::User;
        let asks = is_user && self.text[said.clone()].ends_with(['?', '？', '؟']);
        let requests = is_user && opens && utterance.turn == 1;
        OPENING_BONUS * u32::from(opens)
            + QUESTION_BONUS * u32::from(asks)
            + REQUEST_BONUS * u32::from(requests)
    }

    /// The name, or the role. Starts with a letter always: a name that does not comes in
    /// parentheses behind the role.
    fn speaker(&mut self, utterance: &Utterance) -> Range<usize> {
        let start = self.text.len();
        let role = match utterance.role {
            Role::System => "System",
            Role::User => "User",
            Role::Assistant => "Assistant",
            Role::Tool => "Tool",
        };
        let name = utterance.name().unwrap_or_default().trim_start();
        if name.starts_with(char::is_alphabetic) {
            fold(name, SPEAKER_BYTES, &mut self.text);
        } else {
            self.text.push_str(role);
            if name.contains(|c: char| !c.is_whitespace() && !c.is_control()) {
                self.text.push_str(" (");
                fold(name, SPEAKER_BYTES, &mut self.text);
                self.text.push(')');
            }
        }
        start..self.text.len()
    }

    /// Keeps the lines that `keep` says, by what was said in them.
    pub(super) fn retain(&mut self, mut keep: impl FnMut(&str, Worth) -> bool) {
        let Self { text, lines } = self;
        lines.retain(|line| keep(&text[line.said.clone()], line.worth));
    }

    pub(super) fn count(&self) -> usize {
        self.lines.len()
    }

    pub(super) fn sequence(&self, line: usize) -> Sequence {
        self.lines[line].sequence
    }

    /// What was said, without the speaker.
    pub(super) fn said(&self, line: usize) -> &str {
        &self.text[self.lines[line].said.clone()]
    }

    /// The line as it stands in a summary; of what was said the first `limit` bytes.
    pub(super) fn written(&self, line: usize, limit: usize) -> String {
        let said = self.said(line);
        let Line { speaker, verb, .. } = &self.lines[line];
        let mut written = String::with_capacity(speaker.len() + verb.len() + said.len() + 1);
        written.push_str(&self.text[speaker.clone()]);
        written.push_str(verb);
        match said.len() <= limit {
            true => written.push_str(said),
            false => fold(said, limit, &mut written),
        }
        written.push('\n');
        written
    }
}

/// What the role's words are worth, in percent. The user's own words are what a
/// conversation is measured by later.
fn percent(role: Role) -> u32 {
    match role {
        Role::User => 200,
        Role::Assistant => 100,
        Role::System | Role::Tool => 60,
    }
}
