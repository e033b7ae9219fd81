//! The access that each method requires.

/// The access that a method requires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// None: the call reveals nothing of conversations, or carries a token of its own.
    Open,
    /// A known caller: the call changes nothing.
    Read,
    /// A caller that may change its namespace.
    Write,
    /// A caller that may do what affects the whole server.
    Admin,
}

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

/// Returns the access that `method` of `service` requires. A method that nothing is known about counts as a change.
pub fn access(service: &str, method: &str) -> Access {
    match service {
        "utterd.v1.AdminService" => Access::Admin,
        "grpc.health.v1.Health" => Access::Open,
        _ if method == "ReadShared" => Access::Open,
        _ if READS.contains(&method) => Access::Read,
        _ => Access::Write,
    }
}
