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

use super::tool::{Entry, Shown};

/// The tools that clients usually need, those that they need most first.
static USUAL: [Entry; 6] = [
    Entry::of::<memorize::Memorize>(),
    Entry::of::<remember::Remember>(),
    Entry::of::<get_conversation::GetConversation>(),
    Entry::of::<end_conversation::EndConversation>(),
    Entry::of::<build_context::BuildContext>(),
    Entry::of::<forget::Forget>(),
];
/// The others. They answer even if they are not shown.
static RARE: [Entry; 2] =
    [Entry::of::<summarize::Summarize>(), Entry::of::<get_capacity_info::GetCapacityInfo>()];

fn all() -> impl Iterator<Item = &'static Entry> {
    USUAL.iter().chain(&RARE)
}

/// The descriptions of the tools for clients.
pub fn described(shown: Shown) -> &'static [Tool] {
    static DESCRIBED: [LazyLock<Vec<Tool>>; 2] = [
        LazyLock::new(|| USUAL.iter().map(|entry| (entry.describe)(Shown::Usual)).collect()),
        LazyLock::new(|| all().map(|entry| (entry.describe)(Shown::All)).collect()),
    ];
    let [usual, all] = &DESCRIBED;
    match shown {
        Shown::Usual => usual,
        Shown::All => all,
    }
}

/// The tool of this name, and its whole description.
pub fn named(name: &str) -> Option<(&'static Entry, &'static Tool)> {
    all().zip(described(Shown::All)).find(|(entry, _)| entry.name == name)
}

/// The names of all tools, for people.
pub fn names() -> String {
    all().map(|entry| entry.name).collect::<Vec<_>>().join(", ")
}
