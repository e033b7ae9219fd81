//! What kind of call a path names.

use std::collections::HashMap;

use prost::Message;
use prost_types::FileDescriptorSet;

use super::weight::{Layout, layout};
use crate::{
    proto::FILE_DESCRIPTOR_SET,
    server::methods::{Access, access},
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

/// The project's calls, by their paths.
pub struct Calls(HashMap<String, Call>);

impl Calls {
    /// Every call of the project's, and of health.
    pub fn new() -> Self {
        let mut calls = HashMap::new();
        let sets = [FILE_DESCRIPTOR_SET, tonic_health::pb::FILE_DESCRIPTOR_SET];
        for file in sets.into_iter().flat_map(|set| FileDescriptorSet::decode(set).unwrap_or_default().file) {
            for service in &file.service {
                for method in &service.method {
                    let path = format!("/{}.{}/{}", file.package(), service.name(), method.name());
                    let changes = matches!(access(&path), Access::Write | Access::Admin);
                    calls.insert(
                        path,
                        Call {
                            changes,
                            layout: layout(method.input_type()),
                            ..Call::of(method.client_streaming(), method.server_streaming())
                        },
                    );
                }
            }
        }
        Self(calls)
    }

    /// The call at `path`.
    pub fn of(&self, path: &str) -> Call {
        self.0.get(path).copied().unwrap_or(Call {
            kind: Kind::Unknown,
            answers_once: false,
            changes: true,
            layout: None,
        })
    }
}

impl Call {
    fn of(takes_many: bool, answers_many: bool) -> Self {
        let kind = match (takes_many, answers_many) {
            (false, _) => Kind::One,
            (true, true) => Kind::Each,
            (true, false) => Kind::All,
        };
        Self { kind, answers_once: !answers_many, changes: true, layout: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_by_their_paths() {
        let calls = Calls::new();
        for (path, kind) in [
            ("/utterd.v1.MemoryService/Memorize", Kind::One),
            ("/utterd.v1.TraceService/WatchEvents", Kind::One),
            ("/utterd.v1.MemoryService/MemorizeStream", Kind::Each),
            ("/utterd.v1.ConversationService/ImportConversation", Kind::All),
            ("/grpc.health.v1.Health/Check", Kind::One),
            ("/grpc.reflection.v1.ServerReflection/ServerReflectionInfo", Kind::Unknown),
        ] {
            assert_eq!(calls.of(path).kind, kind, "{path}");
        }
    }

    /// A call that takes any number of messages and answers with any number answers each with one: room is given
    /// back by that.
    #[test]
    fn only_memorize_stream_answers_each() {
        let calls = Calls::new();
        let each: Vec<_> =
            calls.0.iter().filter(|(_, call)| call.kind == Kind::Each).map(|(path, _)| path).collect();
        assert_eq!(each, ["/utterd.v1.MemoryService/MemorizeStream"]);
    }
}
