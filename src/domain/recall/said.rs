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
}
