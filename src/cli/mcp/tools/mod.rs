//! The tools, a file each.

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

/// Every tool, those first that an agent needs most.
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

/// What clients are told of the tools.
pub fn described() -> &'static [Tool] {
    static DESCRIBED: LazyLock<Vec<Tool>> =
        LazyLock::new(|| TOOLS.iter().map(|entry| (entry.describe)()).collect());
    &DESCRIBED
}

/// The tool of this name.
pub fn named(name: &str) -> Option<&'static Entry> {
    TOOLS.iter().find(|entry| entry.name == name)
}

/// The names of all, as people are told them.
pub fn names() -> String {
    TOOLS.iter().map(|entry| entry.name).collect::<Vec<_>>().join(", ")
}
