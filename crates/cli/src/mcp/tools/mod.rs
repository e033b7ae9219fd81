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

/// The tools, those that clients need most first.
static TOOLS: LazyLock<[Entry; 8]> = LazyLock::new(|| {
    [
        Entry::of::<memorize::Memorize>(),
        Entry::of::<remember::Remember>(),
        Entry::of::<get_conversation::GetConversation>(),
        Entry::of::<end_conversation::EndConversation>(),
        Entry::of::<build_context::BuildContext>(),
        Entry::of::<forget::Forget>(),
        Entry::of::<summarize::Summarize>(),
        Entry::of::<get_capacity_info::GetCapacityInfo>(),
    ]
});

/// The descriptions for clients: of `all` tools with all that they accept, or of what is usually needed.
pub fn described(all: bool) -> Vec<Tool> {
    match all {
        true => TOOLS.iter().map(|tool| tool.described.clone()).collect(),
        false => TOOLS.iter().filter(|tool| tool.is_usual).map(Entry::briefly).collect(),
    }
}

/// The tool of this name.
pub fn named(name: &str) -> Option<&'static Entry> {
    TOOLS.iter().find(|tool| tool.described.name == name)
}

/// The names of all tools, for people.
pub fn names() -> String {
    TOOLS.iter().map(|tool| &*tool.described.name).collect::<Vec<_>>().join(", ")
}
