//! `PersistedConversations` of seed 000: conversations of user and assistant messages, with times, ids,
//! titles and summaries. Extra fields hold utterd's state values of a conversation, the summaries of what was
//! said before it, and the origins of messages.

mod export;
mod origin;
mod parse;
mod state;
pub(super) mod summaries;

pub use export::{document, export, last_migrated};
pub use parse::{conversations, tools};

use serde_json::{Map, Value};

use crate::extras::{Parts, hole};
use utterd_domain::Role;

/// The label with the time of a conversation's migration (`lastMigrated`).
pub const LAST_MIGRATED: &str = "last_migrated";

/// `parts` as a message of this format, with holes for the texts.
fn canonical(parts: &Parts<'_>) -> Value {
    let role = if parts.role == Role::User { "user" } else { "assistant" };
    let mut message = Map::new();
    let mut add = |name: &str, value: Value| message.insert(name.into(), value);
    add("id", hole("id"));
    add("timestamp", hole("time"));
    add("role", role.into());
    add("content", hole("content"));
    if parts.more.is_some_and(|more| !more.tools_used.is_empty()) {
        add("toolsUsed", hole("tools_used"));
    }
    Value::Object(message)
}
