//! A line of a summary.

use crate::{Sequence, TokenCounter, extractive::progress::goal::ISSUE_WEIGHT, values::memory::allocated};

/// One line of a summary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sentence {
    /// What the line reports.
    pub kind: LineKind,
    /// The utterance the line is taken from: for a tool call, the one that made the call; of several, the first.
    pub sequence: Sequence,
    /// The result of the tool call, if the line says how the call ended.
    pub result: Option<Sequence>,
    /// The line, with `\n` at its end and nowhere else.
    pub text: Box<str>,
    /// The exact token count of `text`.
    pub tokens: u32,
    /// Its worth among the lines it was chosen from; the higher, the longer it stays.
    pub weight: u32,
    /// The items the line lists; empty for a single sentence.
    pub items: Box<[Item]>,
}

/// The kind of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LineKind {
    /// Tool calls that changed something, and how they ended.
    Act,
    /// A sentence that somebody said, or a tool call and its result.
    Said,
    /// The ledger: identifiers, amounts and dates that no other line mentions.
    Facts,
    /// What is open: unanswered questions, promises, failures.
    Open,
}

/// A part of a line that is chosen and forgotten on its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Item {
    /// The utterance the item is taken from: for a tool call, the one that made the call.
    pub sequence: Sequence,
    /// The result of the tool call, if the item depends on it.
    pub result: Option<Sequence>,
    /// Where the item starts in the line's text, in bytes.
    pub start: u32,
    /// Where the item ends.
    pub end: u32,
    /// The item's worth.
    pub weight: u32,
}

/// An item detached from its line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Part<T = Box<str>> {
    pub sequence: Sequence,
    pub result: Option<Sequence>,
    pub text: T,
    pub weight: u32,
}

/// The utterance that something is taken from, and the result of a call that it depends on.
pub(crate) type Origin = (Sequence, Option<Sequence>);

/// Separates two items. A space is enough between two names of a ledger.
pub(super) const BETWEEN: &str = "; ";
/// Separates the values of a part of an object.
pub(super) const BETWEEN_VALUES: &str = ", ";
/// Precedes the number of items left out.
const LEFT_OUT: &str = "; … and ";
/// Follows the number of items left out.
const MORE: &str = " more";
/// The head of what the conversation is for.
pub(super) const GOAL: &str = "Goal:";
/// The head of what the newest changes were for.
pub(super) const STEPS: &str = "Steps:";
/// The head of the last check.
pub(super) const CHECK: &str = "Check:";
/// The head of the last error.
pub(super) const ERROR: &str = "Error:";
/// Precedes an error that a later call solved.
pub(super) const SOLVED: &str = "(solved) ";
/// Precedes a check that is older than the last change of a file.
pub(super) const OUTDATED: &str = "(before the last change) ";
/// Follows the head of calls that are listed together.
pub(super) const DONE: &str = " → ok:";

impl Sentence {
    /// Creates a line without items.
    pub fn plain(kind: LineKind, sequence: Sequence, text: Box<str>, weight: u32, tokens: u32) -> Self {
        Self { kind, sequence, result: None, text, tokens, weight, items: Box::default() }
    }

    /// Creates `head part; part`, with the number of parts left out, if any. `parts` must not be empty.
    pub(crate) fn listed<T: AsRef<str>>(
        kind: LineKind,
        head: &str,
        parts: &[Part<T>],
        left_out: usize,
        counter: &dyn TokenCounter,
    ) -> Self {
        let mut text = String::from(head);
        let mut items = Vec::with_capacity(parts.len());
        let (mut follows_name, sentences) = (true, kind == LineKind::Said && head != STEPS);
        for part in parts {
            let said = part.text.as_ref();
            let is_name = kind == LineKind::Facts && !said.contains(' ');
            let follows = items.is_empty() || sentences || is_name && follows_name;
            text.push_str(if follows { " " } else { BETWEEN });
            follows_name = is_name;
            let start = bounded(text.len());
            text.push_str(said);
            items.push(Item {
                sequence: part.sequence,
                result: part.result,
                start,
                end: bounded(text.len()),
                weight: part.weight,
            });
        }
        if left_out > 0 {
            text.push_str(&format!("{LEFT_OUT}{left_out}{MORE}"));
        }
        text.push('\n');
        Self {
            kind,
            sequence: parts.iter().map(|part| part.sequence).min().unwrap_or(Sequence::FIRST),
            result: None,
            tokens: counter.count(&text),
            text: text.into(),
            weight: parts.iter().fold(0, |sum, part| sum.saturating_add(part.weight)),
            items: items.into(),
        }
    }

    /// The text before the items.
    pub(crate) fn head(&self) -> &str {
        let end = self.items.first().map_or(0, |first| first.start as usize);
        self.text.get(..end).unwrap_or_default().trim_end()
    }

    /// The number of items left out, according to the line.
    pub(crate) fn left_out(&self) -> usize {
        let end = self.items.last().map_or(self.text.len(), |last| last.end as usize);
        let rest = self.text.get(end..).unwrap_or_default().trim_end();
        let count = rest.strip_prefix(LEFT_OUT).and_then(|rest| rest.strip_suffix(MORE));
        count.and_then(|count| count.parse().ok()).unwrap_or(0)
    }

    /// The text of an item.
    pub(crate) fn item(&self, item: &Item) -> &str {
        self.text.get(item.start as usize..item.end as usize).unwrap_or_default()
    }

    pub(crate) fn parts(&self) -> impl Iterator<Item = Part> {
        self.items.iter().map(|item| Part {
            sequence: item.sequence,
            result: item.result,
            text: self.item(item).into(),
            weight: item.weight,
        })
    }

    /// The utterances the line depends on: hard-forgetting one of them removes the line, or the items that
    /// depend on it.
    pub fn sequences(&self) -> impl Iterator<Item = Sequence> {
        let own = self.items.is_empty().then_some([Some(self.sequence), self.result]);
        let items = self.items.iter().map(|item| [Some(item.sequence), item.result]);
        own.into_iter().chain(items).flatten().flatten()
    }

    /// The approximate memory use in bytes.
    pub(crate) fn memory_bytes(&self) -> usize {
        size_of::<Self>() + allocated(self.text.len()) + allocated(size_of_val(&*self.items))
    }

    /// The title of the issue or task that a goal begins with.
    pub(crate) fn issue(&self) -> Option<&str> {
        let first = self.items.first().filter(|first| first.weight == ISSUE_WEIGHT)?;
        (self.head() == GOAL).then(|| self.item(first))
    }

    /// Whether the line says where things stand (a check, an error, what was done for what), and quotes nobody.
    pub(crate) fn is_state(&self) -> bool {
        self.has_head(&[STEPS, CHECK, ERROR]) || self.kind == LineKind::Said && self.is_day()
    }

    fn has_head(&self, heads: &[&str]) -> bool {
        self.kind == LineKind::Said && heads.iter().any(|head| self.text.starts_with(head))
    }

    /// Whether the line says what the conversation is for.
    pub(crate) fn is_goal(&self) -> bool {
        self.has_head(&[GOAL])
    }

    /// Whether the line says what a reader needs to go on: the goal, a check, an error, what is open.
    pub(crate) fn tells_state(&self) -> bool {
        self.kind == LineKind::Open || self.has_head(&[GOAL, CHECK, ERROR])
    }

    /// The line's place in a summary: the goal, what was said, what was done, where things stand, facts, what is open.
    pub(crate) fn place(&self) -> u8 {
        match self.kind {
            LineKind::Said if self.text.starts_with(GOAL) => 0,
            LineKind::Said if self.text.starts_with(STEPS) => 3,
            LineKind::Said if self.text.starts_with(CHECK) => 4,
            LineKind::Said if self.text.starts_with(ERROR) => 5,
            LineKind::Said => 1,
            LineKind::Act => 2,
            LineKind::Facts => 6,
            LineKind::Open => 7,
        }
    }

    /// Splits a line that holds several sentences or calls into one line for each.
    pub(crate) fn apart(&self) -> Vec<Self> {
        let done = caller(self.head());
        if done.is_none() && (self.kind != LineKind::Said || self.items.is_empty()) {
            return vec![self.clone()];
        }
        let line = |part: Part| {
            let text = match &done {
                Some(head) => format!("{head}({}) → ok\n", part.text),
                None if self.head() == GOAL => format!("User: {}\n", part.text),
                None => format!("{} {}\n", self.head(), part.text),
            };
            let line = Self::plain(self.kind, part.sequence, text.into(), part.weight, 0);
            Self { result: part.result, ..line }
        };
        self.parts().map(line).collect()
    }

    /// The line without its items of `gone`; `None` if nothing is left. The count of items left out stays,
    /// because nobody knows which utterances it covers.
    pub fn without(
        &self,
        mut gone: impl FnMut(Sequence) -> bool,
        counter: &dyn TokenCounter,
    ) -> Option<Self> {
        if !self.sequences().any(&mut gone) {
            return Some(self.clone());
        }
        let mut stays = |part: &Part| !gone(part.sequence) && !part.result.is_some_and(&mut gone);
        let parts: Vec<Part> = self.parts().filter(&mut stays).collect();
        (!parts.is_empty()).then(|| Self::listed(self.kind, self.head(), &parts, self.left_out(), counter))
    }
}

/// The head of calls that are listed together: `cancel → ok:`, and with the caller if that is not the assistant.
pub(super) fn done(head: &str) -> String {
    format!("{}{DONE}", head.strip_prefix(ASSISTANT).unwrap_or(head))
}

/// The caller and the tool of calls that are listed together, by their head; `None` for any other line.
pub(super) fn caller(head: &str) -> Option<String> {
    let head = head.strip_suffix(DONE)?;
    Some(if head.contains(" called ") { head.to_owned() } else { format!("{ASSISTANT}{head}") })
}

/// Precedes a tool that the assistant called.
const ASSISTANT: &str = "Assistant called ";

/// The token count of all `lines`.
pub(super) fn total(lines: &[Sentence]) -> u32 {
    lines.iter().map(|line| line.tokens).sum()
}

fn bounded(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}
