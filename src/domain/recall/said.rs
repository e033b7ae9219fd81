//! What an index reads of an utterance.

use crate::domain::Role;

/// An utterance, as it is found.
#[derive(Clone, Debug)]
pub struct Said<'a> {
    /// Its place in the conversation.
    pub sequence: u64,
    /// Who speaks.
    pub role: Role,
    /// The speaker's name, or the tool's; empty without one.
    pub name: &'a str,
    /// When, in minutes since 1970.
    pub minute: u32,
    /// What was said.
    pub content: &'a str,
    /// The tools that it calls: the name and the arguments of each.
    pub calls: Vec<(&'a str, &'a str)>,
}

impl Said<'_> {
    /// All that it can be found by but its speaker and its time.
    pub(super) fn texts(&self) -> impl Iterator<Item = &str> {
        let tool = (self.role == Role::Tool).then_some(self.name);
        let calls = self.calls.iter().flat_map(|&(name, arguments)| [name, arguments]);
        tool.into_iter().chain([self.content]).chain(calls).filter(|text| !text.is_empty())
    }

    /// Whether it asks: it has a question mark or, in languages that do without one, ends with a word that asks.
    pub(super) fn is_question(&self) -> bool {
        if self.content.is_ascii() {
            return self.content.as_bytes().contains(&b'?');
        }
        if self.content.contains(is_question_mark) {
            return true;
        }
        let end = self.content.trim_end_matches(|c: char| !c.is_alphanumeric());
        if ASKING_AT_END.iter().any(|word| end.ends_with(word)) {
            return true;
        }
        let clause = end.rsplit(char::is_whitespace).next().unwrap_or(end);
        ASKING.iter().any(|word| clause.contains(word))
    }
}

/// The question marks of the scripts that have one of their own.
fn is_question_mark(c: char) -> bool {
    matches!(c, '?' | '？' | '؟' | '\u{37E}')
}

/// What ends a question in Japanese, Chinese and Korean.
const ASKING_AT_END: [&str; 5] = ["か", "かな", "吗", "呢", "까"];

/// What the last clause of a question has in Thai, which writes no question marks.
const ASKING: [&str; 13] = [
    "ไหม",
    "มั้ย",
    "อะไร",
    "ไหน",
    "เท่าไหร่",
    "เท่าไร",
    "เมื่อไหร่",
    "เมื่อไร",
    "ยังไง",
    "อย่างไร",
    "หรือเปล่า",
    "หรือยัง",
    "กี่",
];
