//! The sentences that titles and closing summaries are made from.

use std::sync::Arc;

use crate::{
    Conversation, Role, Sequence, TokenCounter, Utterance, Window,
    closing::{english::takes_leave, pieces::clip},
    extractive::{self, LineKind, Sentence, Spoken},
};

/// How many utterances are read at either end of the window, which bounds the cost.
const END_UTTERANCES: usize = 32;
/// How many sentences of the segments are read at either end.
const END_SENTENCES: usize = 128;

/// Who said a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Speaker {
    /// A user, by role or by name.
    User,
    /// The assistant.
    Assistant,
    /// The system or a tool.
    Other,
}

/// One sentence of the conversation, or one tool call.
#[derive(Clone, Debug)]
pub(super) struct Line {
    pub sequence: Sequence,
    pub speaker: Speaker,
    /// As displayed: `User`, or the participant's name.
    pub name: String,
    /// Whether `said` is a call and its outcome.
    pub is_call: bool,
    /// Whether the call changed something or tried to.
    pub is_change: bool,
    /// What was said or called, on one line.
    pub said: String,
    /// Its worth among the sentences it was taken from.
    pub weight: u32,
}

/// How much of an utterance without a sentence is shown, in bytes.
const BARE_BYTES: usize = 80;
/// Above this, more identifiers do not make a line more readable.
const MOST_TELLING: u32 = 60;

impl Line {
    fn new(sentence: &Sentence, role: Option<Role>, assistants: &[&str]) -> Self {
        let Spoken { speaker: name, said, is_call } = Spoken::of(sentence.text.trim_end());
        Self {
            sequence: sentence.sequence,
            speaker: role.map_or_else(|| speaker(name, assistants), of_role),
            name: name.to_owned(),
            is_call,
            is_change: sentence.kind == LineKind::Act,
            said: said.to_owned(),
            weight: sentence.weight,
        }
    }

    /// The beginning of the content, however little it says: "hi".
    fn bare(utterance: &Arc<Utterance>) -> Option<Self> {
        let said = clip(&utterance.content, BARE_BYTES);
        let said = said.split(|c: char| c.is_whitespace() || c.is_control());
        let said = said.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
        let speaks = matches!(utterance.role, Role::User | Role::Assistant);
        (speaks && utterance.is_live() && !said.is_empty()).then(|| Self {
            sequence: utterance.sequence,
            speaker: of_role(utterance.role),
            name: if utterance.role == Role::User { "User" } else { "Assistant" }.to_owned(),
            is_call: false,
            is_change: false,
            said,
            weight: 0,
        })
    }

    /// Whether `other` is this very line, not just an equal one.
    pub(super) fn is(&self, other: &Self) -> bool {
        std::ptr::eq(self, other)
    }

    /// Whether the line is a question.
    pub(super) fn asks(&self) -> bool {
        extractive::asks(&self.said)
    }

    /// The line's worth to a reader: half for a list, a fragment, an announcement, or an offer of help.
    pub(super) fn telling(&self) -> u32 {
        let said = &self.said;
        let is_list = said.contains("; ") || said.ends_with(['…', ':', '：']);
        let is_fragment = said.matches('(').count() != said.matches(')').count();
        let weight = self.weight.min(MOST_TELLING);
        if is_list || is_fragment || takes_leave(said) { weight / 2 } else { weight }
    }

    /// The words without a trailing announcing mark, and the full stop they need, if any.
    pub(super) fn sentence(&self) -> (&str, &'static str) {
        let said = self.said.trim_end_matches([':', ',', ';', '：', '，', '；', '-', ' ']);
        let end = said.trim_end_matches(['"', '\'', ')', ']', '”', '’', '»', '」', '』', '）']);
        let stop = match end.chars().next_back() {
            Some('.' | '!' | '?' | '…' | '。' | '！' | '？' | '｡' | '।' | '؟' | '۔') if !self.is_call => {
                ""
            }
            Some('\u{3040}'..='\u{30ff}' | '\u{4e00}'..='\u{9fff}') => "。",
            _ => ".",
        };
        (said, stop)
    }
}

/// The lines of a conversation, in the order said.
pub(super) struct Material(Vec<Line>);

impl Material {
    /// Collects the lines of the segments and of the window's two ends.
    pub(super) fn of(conversation: &Conversation, counter: &dyn TokenCounter) -> Self {
        let window = &conversation.window;
        let sources = ends(window);
        let assistants = sources.iter().flatten().filter(|utterance| utterance.role == Role::Assistant);
        let assistants: Vec<&str> = assistants.filter_map(|utterance| utterance.name()).collect();

        let segments = conversation.summary.segments();
        let said = || segments.iter().filter(|segment| segment.imported.is_none());
        let sentences = || said().flat_map(|segment| &segment.sentences).flat_map(told);
        let head = sentences().take(END_SENTENCES);
        let skipped = sentences().count().saturating_sub(END_SENTENCES).max(END_SENTENCES);
        let lines = head.chain(sentences().skip(skipped)).map(|told| Line::new(&told, None, &assistants));
        let mut lines: Vec<Line> = lines.collect();
        for source in &sources {
            let sentences = extractive::lines(source, counter);
            let role = |sequence| window.get(sequence).map(|utterance| utterance.role);
            let sentences = sentences.iter().flat_map(told);
            lines.extend(sentences.map(|told| Line::new(&told, role(told.sequence), &assistants)));
        }
        if lines.is_empty() {
            lines = sources.iter().flatten().filter_map(Line::bare).collect();
        }
        lines.sort_by_key(|line| line.sequence);
        Self(lines)
    }

    /// The lines in the order said.
    pub(super) fn lines(&self) -> &[Line] {
        &self.0
    }
}

/// The sentences and calls of a line; none for ledger and open lines, which quote nobody.
fn told(line: &Sentence) -> Vec<Sentence> {
    if line.kind <= LineKind::Said && !line.is_state() { line.apart() } else { Vec::new() }
}

/// The window's head and tail, or the whole window as one.
fn ends(window: &Window) -> Vec<Vec<Arc<Utterance>>> {
    let length = window.len();
    if length <= 2 * END_UTTERANCES {
        return vec![window.iter().cloned().collect()];
    }
    let mut head: Vec<_> = window.slice(0..END_UTTERANCES).cloned().collect();
    // A cut exchange would look as if its call had no answer.
    let cut = window.at(END_UTTERANCES).map(|next| next.unit);
    while head.last().is_some_and(|last| Some(last.unit) == cut) {
        head.pop();
    }
    vec![head, window.slice(length - END_UTTERANCES..length).cloned().collect()]
}

/// The speaker of a segment's line: roles are written by the summariser, names by the callers.
fn speaker(name: &str, assistants: &[&str]) -> Speaker {
    match name.split(" (").next().unwrap_or(name) {
        "Assistant" => Speaker::Assistant,
        "System" | "Tool" => Speaker::Other,
        _ if assistants.contains(&name) => Speaker::Assistant,
        _ => Speaker::User,
    }
}

fn of_role(role: Role) -> Speaker {
    match role {
        Role::User => Speaker::User,
        Role::Assistant => Speaker::Assistant,
        Role::System | Role::Tool => Speaker::Other,
    }
}
