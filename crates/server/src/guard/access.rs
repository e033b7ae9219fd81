//! The role that each method requires.

use super::principal::Role;

/// The methods that change nothing. Making a share is not among them: it lets others read.
pub(super) const READS: [&str; 18] = [
    "Remember",
    "Summarize",
    "GetCapacityInfo",
    "WatchCapacity",
    "GetConversation",
    "ListConversations",
    "ListUtterances",
    "ListMessages",
    "GetSummary",
    "GetStats",
    "GetState",
    "ExportConversation",
    "BuildContext",
    "CountTokens",
    "PrepareHistory",
    "ListCompactions",
    "WatchEvents",
    "ServerReflectionInfo",
];

/// Returns the least role that may call `method` of `service`; `None` if everybody may, because the call reveals nothing
/// of conversations or carries a token of its own. A method that nothing is known about counts as a change.
pub fn needed(service: &str, method: &str) -> Option<Role> {
    match service {
        "utterd.v1.AdminService" => Some(Role::Admin),
        "grpc.health.v1.Health" => None,
        _ if method == "ReadShared" => None,
        _ if READS.contains(&method) => Some(Role::ReadOnly),
        _ => Some(Role::ReadWrite),
    }
}
