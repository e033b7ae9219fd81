//! What each call asks of its caller.

/// What a call asks of its caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Nothing: it tells nothing of conversations, or carries a token of its own.
    Open,
    /// A caller: it changes nothing.
    Read,
    /// A caller who may change its namespace.
    Write,
    /// A caller who may do what concerns the whole server.
    Admin,
}

/// What the call with the path `/package.Service/Method` asks of its caller. One that is not known counts as
/// one that changes something.
pub fn access(path: &str) -> Access {
    known(path).unwrap_or(Access::Write)
}

/// Whether either side of the call is a stream, so that it may go on for long.
pub fn is_stream(path: &str) -> bool {
    matches!(
        path,
        "/utterd.v1.MemoryService/MemorizeStream"
            | "/utterd.v1.MemoryService/WatchCapacity"
            | "/utterd.v1.ConversationService/ExportConversation"
            | "/utterd.v1.ConversationService/ImportConversation"
            | "/utterd.v1.TraceService/WatchEvents"
            | "/utterd.v1.AdminService/Backup"
            | "/grpc.health.v1.Health/Watch"
            | "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo"
            | "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo"
    )
}

fn known(path: &str) -> Option<Access> {
    let (service, method) = path.strip_prefix('/')?.split_once('/')?;
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
        "GetConversation" | "ListConversations" | "ListUtterances" | "GetSummary" | "GetStats"
        | "ExportConversation" => Some(Access::Read),
        // a share lets others read, so making one is more than reading
        "CreateConversation" | "UpdateConversation" | "EndConversation" | "DeleteConversation"
        | "DeleteRecipient" | "ShareConversation" | "RevokeShare" | "UpdateUtterance"
        | "ForkConversation" | "ImportConversation" => Some(Access::Write),
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

#[cfg(test)]
mod tests {
    use prost_reflect::{DescriptorPool, MethodDescriptor};

    use super::*;
    use crate::proto::FILE_DESCRIPTOR_SET;

    /// Each method that is served, with its path.
    fn served() -> Vec<(String, MethodDescriptor)> {
        let sets = [
            FILE_DESCRIPTOR_SET,
            tonic_health::pb::FILE_DESCRIPTOR_SET,
            tonic_reflection::pb::v1::FILE_DESCRIPTOR_SET,
            tonic_reflection::pb::v1alpha::FILE_DESCRIPTOR_SET,
        ];
        let pools = sets.map(|set| DescriptorPool::decode(set).unwrap());
        let services = pools.iter().flat_map(|pool| pool.services().collect::<Vec<_>>());
        let methods = services.flat_map(|service| service.methods().collect::<Vec<_>>());
        let path = |it: &MethodDescriptor| format!("/{}/{}", it.parent_service().full_name(), it.name());
        methods.map(|method| (path(&method), method)).collect()
    }

    #[test]
    fn each_call_is_known() {
        let served = served();
        let unknown: Vec<_> = served.iter().filter(|(path, _)| known(path).is_none()).collect();
        assert!(unknown.is_empty(), "say in src/server/methods.rs what they ask of callers: {unknown:#?}");
        assert!(served.len() > 30, "{} calls", served.len());
    }

    #[test]
    fn a_call_is_a_stream_as_its_descriptor_says() {
        for (path, method) in served() {
            assert_eq!(
                is_stream(&path),
                method.is_client_streaming() || method.is_server_streaming(),
                "{path}"
            );
        }
    }

    #[test]
    fn what_is_not_known_counts_as_a_change() {
        for path in ["", "/", "/utterd.v1.MemoryService", "/utterd.v1.MemoryService/Recall", "/a.B/C", "a"] {
            assert_eq!(access(path), Access::Write, "{path}");
        }
    }
}
