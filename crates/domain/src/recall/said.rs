//! What an index reads from an utterance.

use crate::Role;

/// An utterance to index.
#[derive(Clone, Debug)]
pub struct Said<'a> {
    /// The utterance's sequence.
    pub sequence: u64,
    /// The speaker's role.
    pub role: Role,
    /// The name of the speaker or of the tool; empty if there is none.
    pub name: &'a str,
    /// The time in minutes since 1970.
    pub minute: u32,
    /// What was said.
    pub content: &'a str,
    /// The name and the arguments of each tool call.
    pub calls: Vec<(&'a str, &'a str)>,
}

impl Said<'_> {
    /// All texts that it can be found by, besides its speaker and its time.
    pub(super) fn texts(&self) -> impl Iterator<Item = &str> {
        let tool = (self.role == Role::Tool).then_some(self.name);
        let calls = self.calls.iter().flat_map(|&(name, arguments)| [name, arguments]);
        tool.into_iter().chain([self.content]).chain(calls).filter(|text| !text.is_empty())
    }
}
