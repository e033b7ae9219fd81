//! The kinds of calls.

use crate::guard::methods::{Method, Origin};

/// How a call is limited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// One request, one response.
    Unary,
    /// A stream: open for as long as its caller likes.
    Stream,
    /// Health and reflection, which answer under any load.
    Exempt,
}

impl Kind {
    /// Returns the kind of the call with this path.
    pub fn of(path: &str) -> Self {
        let method = Method::of(path);
        match method.origin {
            Origin::Grpc => Self::Exempt,
            _ if method.is_stream() => Self::Stream,
            _ => Self::Unary,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_call_has_its_kind() {
        for (path, kind) in [
            ("/utterd.v1.MemoryService/Memorize", Kind::Unary),
            ("/utterd.v1.MemoryService/MemorizeStream", Kind::Stream),
            ("/utterd.v1.MemoryService/WatchCapacity", Kind::Stream),
            ("/utterd.v1.ConversationService/ImportConversation", Kind::Stream),
            ("/utterd.v1.MemoryService/None", Kind::Unary),
            ("/grpc.health.v1.Health/Watch", Kind::Exempt),
            ("/grpc.reflection.v1.ServerReflection/ServerReflectionInfo", Kind::Exempt),
        ] {
            assert_eq!(Kind::of(path), kind, "{path}");
        }
    }
}
