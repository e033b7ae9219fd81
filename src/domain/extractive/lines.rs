//! The lines that a summary may consist of.

use std::{ops::Range, sync::Arc};

use crate::domain::{
    Role, Sequence, ToolCall, Utterance,
    exchange::LateResult,
    extractive::{
        calls::{answers, find, tell, tell_late},
        choose::Worth,
        split::{fold, split},
        words::Word,
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
/// For a call that failed or was never answered, and for what answers one late.
const FAILURE_BONUS: u32 = 6;
/// What a tool call is worth, in percent of its words: what it names may stand in the ledger as well.
const CALL_PERCENT: u32 = 30;

/// The lines of a source, in the order said, their text in one place.
#[derive(Default)]
pub(super) struct Lines {
    text: String,
    lines: Vec<Line>,
    utterances: usize,
    pages: usize,
}

/// Who said it, and what, as places in the text.
struct Line {
    sequence: Sequence,
    /// Which utterance it belongs to, of those that have lines.
    utterance: usize,
    /// Which page of the ledger its words belong to: that of the utterance, or of the call.
    page: usize,
    /// The name of the tool that was called.
    tool: Option<Range<usize>>,
    worth: Worth,
    speaker: Range<usize>,
    said: Range<usize>,
}

impl Lines {
    /// All sentences and calls of what is live in `source` and is no head instruction.
    pub(super) fn of(source: &[Arc<Utterance>]) -> Self {
        let mut lines = Self::default();
        let mut answers = answers(source).into_iter();
        for utterance in source.iter().filter(|utterance| utterance.is_live()) {
            let outcomes: Vec<_> = answers.by_ref().take(utterance.tool_calls().len()).collect();
            match utterance.late() {
                Some(late) => lines.add_late(utterance, late),
                None if utterance.role == Role::Tool || utterance.instruction => {}
                None => lines.add(utterance, &outcomes),
            }
        }
        lines
    }

    fn add(&mut self, utterance: &Utterance, outcomes: &[Option<&str>]) {
        let speaker = self.name(utterance);
        let sentences = split(&utterance.content, &mut self.text);
        let opening = sentences.iter().position(|said| said.len() >= OPENING_BYTES).unwrap_or(0);
        for (place, said) in sentences.into_iter().enumerate() {
            let bonus = self.bonus(utterance, place == opening, &said);
            let worth = Worth::Fresh { bonus, percent: percent(utterance.role) };
            self.push(utterance, &speaker, worth, None, said);
        }
        self.pages += 1;
        for (call, outcome) in utterance.tool_calls().iter().zip(outcomes) {
            self.call(utterance, &speaker, call, *outcome);
            self.pages += 1;
        }
        self.utterances += 1;
    }

    /// The line of a late result, and what it names.
    fn add_late(&mut self, utterance: &Utterance, late: &LateResult) {
        let speaker = self.name(utterance);
        let start = self.text.len();
        let failed = tell_late(late, &utterance.content, &mut self.text);
        let worth = Worth::Fresh { bonus: CALL_BONUS + FAILURE_BONUS, percent: CALL_PERCENT };
        self.push(utterance, &speaker, worth, None, start..self.text.len());
        if !failed {
            self.named(utterance, &speaker, None, |text| find(&utterance.content, text));
        }
        self.pages += 1;
        self.utterances += 1;
    }

    /// The line of a call, and what its result names.
    fn call(
        &mut self,
        utterance: &Utterance,
        speaker: &Range<usize>,
        call: &ToolCall,
        outcome: Option<&str>,
    ) {
        let start = self.text.len();
        let (failed, name) = tell(call, outcome, &mut self.text);
        let bonus = CALL_BONUS + if failed { FAILURE_BONUS } else { 0 };
        let worth = Worth::Fresh { bonus, percent: CALL_PERCENT };
        let tool = start..start + name;
        self.push(utterance, speaker, worth, Some(tool.clone()), start..self.text.len());
        let was_clipped = self.text[start..].contains('…');
        self.named(utterance, speaker, Some(tool), |text| {
            if was_clipped {
                find(&call.arguments_json, text);
            }
            if let (Some(result), false) = (outcome, failed) {
                find(result, text);
            }
        });
    }

    /// What a result or arguments name, as far as `find` finds it.
    fn named(
        &mut self,
        utterance: &Utterance,
        speaker: &Range<usize>,
        tool: Option<Range<usize>>,
        find: impl FnOnce(&mut String),
    ) {
        let start = self.text.len();
        find(&mut self.text);
        let end = self.text.trim_end().len();
        if end > start {
            self.push(utterance, speaker, Worth::Named, tool, start..end);
        }
    }

    fn push(
        &mut self,
        utterance: &Utterance,
        speaker: &Range<usize>,
        worth: Worth,
        tool: Option<Range<usize>>,
        said: Range<usize>,
    ) {
        let (sequence, speaker) = (utterance.sequence, speaker.clone());
        let (utterance, page) = (self.utterances, self.pages);
        self.lines.push(Line { sequence, utterance, page, tool, worth, speaker, said });
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
    fn name(&mut self, utterance: &Utterance) -> Range<usize> {
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
        let Self { text, lines, .. } = self;
        lines.retain(|line| keep(&text[line.said.clone()], line.worth));
    }

    pub(super) fn count(&self) -> usize {
        self.lines.len()
    }

    pub(super) fn sequence(&self, line: usize) -> Sequence {
        self.lines[line].sequence
    }

    /// Which utterance the line belongs to, in order from 0.
    pub(super) fn utterance(&self, line: usize) -> usize {
        self.lines[line].utterance
    }

    /// How many utterances there are.
    pub(super) fn utterances(&self) -> usize {
        self.utterances
    }

    /// Which page of the ledger the line's words belong to, in order from 0.
    pub(super) fn page(&self, line: usize) -> usize {
        self.lines[line].page
    }

    /// How many pages there are.
    pub(super) fn pages(&self) -> usize {
        self.pages
    }

    /// The tool that the line tells of.
    pub(super) fn tool(&self, line: usize) -> Option<&str> {
        Some(&self.text[self.lines[line].tool.clone()?])
    }

    /// Whether it is what a tool's result names.
    pub(super) fn is_found(&self, line: usize) -> bool {
        matches!(self.lines[line].worth, Worth::Named)
    }

    /// Whether a word of the line is the name of the tool that it tells of.
    pub(super) fn is_tool(&self, line: usize, word: &Word) -> bool {
        self.lines[line].tool.is_some() && word.start == 0 && !self.is_found(line)
    }

    /// Whether a word of the line can stand in the ledger: whole, and no key of an argument.
    pub(super) fn names(&self, line: usize, word: &Word) -> bool {
        let said = self.said(line);
        !said[word.end as usize..].starts_with(['…', '=']) && is_name(word.of(said))
    }

    /// Bytes of all lines.
    pub(super) fn bytes(&self) -> usize {
        let lines = self.lines.iter().filter(|line| !matches!(line.worth, Worth::Named));
        lines.map(|line| line.speaker.len() + line.said.len() + 3).sum()
    }

    /// Who says it.
    pub(super) fn speaker(&self, line: usize) -> &str {
        &self.text[self.lines[line].speaker.clone()]
    }

    /// What was said, without the speaker.
    pub(super) fn said(&self, line: usize) -> &str {
        &self.text[self.lines[line].said.clone()]
    }

    /// The line as it stands in a summary; of what was said the first `limit` bytes.
    pub(super) fn written(&self, line: usize, limit: usize) -> String {
        let said = self.said(line);
        let Line { speaker, tool, .. } = &self.lines[line];
        let verb = if tool.is_some() { " called " } else { ": " };
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

/// Whether it can stand alone: an amount, or three letters and digits that are no measure (`38ms`).
fn is_name(word: &str) -> bool {
    let digits = word.bytes().filter(u8::is_ascii_digit).count();
    let is_amount = digits > 0 && (word.starts_with(['$', '€', '£', '¥']) || word.ends_with('%'));
    let is_measure =
        word.starts_with(|c: char| c.is_ascii_digit()) && word.ends_with(|c: char| c.is_ascii_lowercase());
    let is_long = word.chars().filter(|c| c.is_alphanumeric()).nth(2).is_some();
    is_amount || is_long && !is_measure && !word.starts_with("/..") && !word.contains(['\'', '’'])
}

/// What the role's words are worth, in percent. The user's own words are what a
/// conversation is measured by later.
fn percent(role: Role) -> u32 {
    match role {
        Role::User => 300,
        Role::Assistant => 100,
        Role::System | Role::Tool => 60,
    }
}
