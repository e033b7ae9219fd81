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

/// Returns the access that `method` of `service` requires; `None` if the method is unknown.
pub fn access(service: &str, method: &str) -> Option<Access> {
    match service {
        "utterd.v1.MemoryService" => memory(method),
        "utterd.v1.ConversationService" => conversation(method),
        "utterd.v1.ContextService" => context(method),
        "utterd.v1.CompactionService" => compaction(method),
        "utterd.v1.TraceService" => (method == "WatchEvents").then_some(Access::Read),
        "utterd.v1.AdminService" => Some(Access::Admin),
        "grpc.health.v1.Health" => Some(Access::Open),
        "grpc.reflection.v1.ServerReflection" | "grpc.reflection.v1alpha.ServerReflection" => {
            Some(Access::Read)
        }
        _ => None,
    }
}

fn memory(method: &str) -> Option<Access> {
    match method {
        "Remember" | "Summarize" | "GetCapacityInfo" | "WatchCapacity" => Some(Access::Read),
        "Memorize" | "MemorizeStream" | "Forget" | "Restore" => Some(Access::Write),
        _ => None,
    }
}

fn conversation(method: &str) -> Option<Access> {
    match method {
        "ReadShared" => Some(Access::Open),
        "GetConversation" | "ListConversations" | "ListUtterances" | "ListMessages" | "GetSummary"
        | "GetStats" | "GetState" | "ExportConversation" => Some(Access::Read),
        // a share lets others read, so making one is more than reading
        "CreateConversation" | "UpdateConversation" | "UpdateState" | "EndConversation"
        | "DeleteConversation" | "DeleteRecipient" | "ShareConversation" | "RevokeShare"
        | "UpdateUtterance" | "ForkConversation" | "ImportConversation" => Some(Access::Write),
        _ => None,
    }
}

fn context(method: &str) -> Option<Access> {
    match method {
        "BuildContext" | "CountTokens" | "PrepareHistory" => Some(Access::Read),
        _ => None,
    }
}

fn compaction(method: &str) -> Option<Access> {
    match method {
        "ListCompactions" => Some(Access::Read),
        "CompactConversation" | "UndoCompaction" | "AnswerCompactionPrompt" => Some(Access::Write),
        _ => None,
    }
}
