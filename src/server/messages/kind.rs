//! What kind of call a path names.

use super::weight::{Layout, layout};
use crate::{
    domain::limits::{CALL_BYTES, STREAM_BYTES, STREAM_WINDOW},
    server::methods::{Count, Method, Origin},
};

/// What is known of a call by its path.
#[derive(Clone, Copy, Debug)]
pub struct Call {
    /// How its messages are answered.
    pub kind: Kind,
    /// Whether it has one answer.
    pub answers_once: bool,
    /// Whether it may change something.
    pub changes: bool,
    /// Whether it is one of the project's.
    pub is_own: bool,
    /// Its messages.
    pub layout: Option<&'static Layout>,
}

/// How a call's messages are answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// It takes one message.
    One,
    /// It takes any number, and answers each.
    Each,
    /// It takes any number, and is answered at their end: they are kept until then.
    All,
    /// It is no call of the project's; it may take any number, and keeps none.
    Unknown,
}

impl Call {
    /// What it takes as long as it is open. Of one that may send any number of messages, the server may hold as many
    /// as the window of a stream lets it send ahead.
    pub fn bytes(self) -> usize {
        match (self.kind, self.answers_once) {
            (Kind::One, true) => CALL_BYTES,
            (Kind::One, false) => STREAM_BYTES,
            (Kind::Each | Kind::All | Kind::Unknown, _) => STREAM_BYTES + STREAM_WINDOW as usize,
        }
    }

    /// Whether it may take room for what it makes of its messages, or for its answers before they are sent.
    pub fn may_take_room(self) -> bool {
        self.kind == Kind::All || !self.answers_once
    }

    /// What is known of a call by its path.
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
    use crate::server::methods;

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

    /// A call that takes any number of messages and answers with any number answers each with one: room is given
    /// back by that.
    #[test]
    fn only_memorize_stream_answers_each() {
        let each: Vec<_> = methods::paths().filter(|path| Call::of(path).kind == Kind::Each).collect();
        assert_eq!(each, ["/utterd.v1.MemoryService/MemorizeStream"]);
    }
}
