//! The kinds of calls, by path.

use super::weight::{Layout, layout};
use crate::guard::methods::{Count, Method, Origin};
use utterd_domain::limits::{CALL_BYTES, STREAM_BYTES, STREAM_WINDOW};

/// What the path of a call says about it.
#[derive(Clone, Copy, Debug)]
pub struct Call {
    /// How its messages are answered.
    pub kind: Kind,
    /// Whether it has exactly one answer.
    pub answers_once: bool,
    /// Whether it can change something.
    pub changes: bool,
    /// Whether its method is one of the project's own.
    pub is_own: bool,
    /// The layout of its messages.
    pub layout: Option<&'static Layout>,
}

/// How a call's messages are answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The call takes one message.
    One,
    /// The call takes any number of messages and answers each.
    Each,
    /// The call takes any number of messages, keeps them, and answers after the last.
    All,
    /// A foreign call: it may take any number of messages, and keeps none.
    Unknown,
}

impl Call {
    /// Returns the bytes that it holds while it is open. If it can send any number of messages, the server can hold as
    /// many bytes of them as the flow-control window of a stream allows.
    pub fn bytes(self) -> usize {
        match (self.kind, self.answers_once) {
            (Kind::One, true) => CALL_BYTES,
            (Kind::One, false) => STREAM_BYTES,
            (Kind::Each | Kind::All | Kind::Unknown, _) => STREAM_BYTES + STREAM_WINDOW as usize,
        }
    }

    /// Whether it can take room for the results of its messages, or for its answers before they are sent.
    pub fn may_take_room(self) -> bool {
        self.kind == Kind::All || !self.answers_once
    }

    /// Returns what `path` says about a call.
    pub fn of(path: &str) -> Self {
        let method = Method::of(path);
        Self {
            kind: Kind::of(method),
            answers_once: method.origin != Origin::Unknown && method.answers == Count::One,
            changes: method.changes(),
            is_own: method.origin == Origin::Own,
            layout: method.input.as_deref().and_then(layout),
        }
    }
}

impl Kind {
    fn of(method: &Method) -> Self {
        match (method.origin, method.takes, method.answers) {
            (Origin::Unknown, ..) | (Origin::Grpc, Count::Any, _) => Self::Unknown,
            (_, Count::One, _) => Self::One,
            (_, Count::Any, Count::Any) => Self::Each,
            (_, Count::Any, Count::One) => Self::All,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::guard::methods;

    #[test]
    fn calls_by_their_paths() {
        for (path, kind) in [
            ("/utterd.v1.MemoryService/Memorize", Kind::One),
            ("/utterd.v1.TraceService/WatchEvents", Kind::One),
            ("/utterd.v1.MemoryService/MemorizeStream", Kind::Each),
            ("/utterd.v1.ConversationService/ImportConversation", Kind::All),
            ("/grpc.health.v1.Health/Check", Kind::One),
            ("/grpc.reflection.v1.ServerReflection/ServerReflectionInfo", Kind::Unknown),
            ("/a.Service/Of", Kind::Unknown),
        ] {
            assert_eq!(Call::of(path).kind, kind, "{path}");
        }
    }

    /// A call with streams in both directions must answer each message with one: these answers release the room.
    #[test]
    fn only_memorize_stream_answers_each() {
        let each: Vec<_> = methods::paths().filter(|path| Call::of(path).kind == Kind::Each).collect();
        assert_eq!(each, ["/utterd.v1.MemoryService/MemorizeStream"]);
    }
}
