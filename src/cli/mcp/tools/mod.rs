//! The tools, one file each.

mod build_context;
mod end_conversation;
mod forget;
mod get_capacity_info;
mod get_conversation;
mod memorize;
mod remember;
mod role;
mod summarize;

use std::sync::LazyLock;

use rmcp::model::Tool;

use super::tool::Entry;

/// Every tool, those that an agent needs most first.
static TOOLS: [Entry; 8] = [
    Entry::of::<memorize::Memorize>(),
    Entry::of::<remember::Remember>(),
    Entry::of::<get_conversation::GetConversation>(),
    Entry::of::<end_conversation::EndConversation>(),
    Entry::of::<build_context::BuildContext>(),
    Entry::of::<summarize::Summarize>(),
    Entry::of::<get_capacity_info::GetCapacityInfo>(),
    Entry::of::<forget::Forget>(),
];

/// The descriptions of the tools for clients.
pub fn described() -> &'static [Tool] {
    static DESCRIBED: LazyLock<Vec<Tool>> =
        LazyLock::new(|| TOOLS.iter().map(|entry| (entry.describe)()).collect());
    &DESCRIBED
}

/// The tool of this name.
pub fn named(name: &str) -> Option<&'static Entry> {
    TOOLS.iter().find(|entry| entry.name == name)
}

/// The names of all tools, for people.
pub fn names() -> String {
    TOOLS.iter().map(|entry| entry.name).collect::<Vec<_>>().join(", ")
}
