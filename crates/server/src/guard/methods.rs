//! The methods that are served: what their descriptors say, and what role they require.

use std::{borrow::Cow, sync::LazyLock};

use http::Request;
use prost::Message;
use prost_types::FileDescriptorSet;
use rustc_hash::FxHashMap;

use super::{access::needed, principal::Role};
use utterd_rpc::proto::FILE_DESCRIPTOR_SET;

/// Every served method, by the path of its calls.
static METHODS: LazyLock<FxHashMap<String, Method>> = LazyLock::new(methods);

/// A method that nothing is known about: it counts as one that changes something.
static UNKNOWN: Method = Method {
    number: 0,
    path: Cow::Borrowed("unknown"),
    origin: Origin::Unknown,
    needed: Some(Role::ReadWrite),
    takes_many: false,
    answers_many: false,
};

/// What is known of a method.
#[derive(Debug)]
pub struct Method {
    /// Counted from 1; 0 for a method that nothing is known about.
    pub number: usize,
    /// The full name of its service, a slash and its name; `unknown` if nothing is known about it.
    pub path: Cow<'static, str>,
    /// Who defines the method.
    pub origin: Origin,
    /// The least role that may call it; `None` if everybody may.
    pub needed: Option<Role>,
    /// Whether requests are a stream of messages, and not one.
    pub takes_many: bool,
    /// Whether responses are.
    pub answers_many: bool,
}

/// Who defines a method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The project.
    Own,
    /// gRPC: health and reflection.
    Grpc,
    /// The program that embeds the server.
    Unknown,
}

impl Method {
    /// Returns the method of calls with the path `/package.Service/Method`.
    pub fn of(path: &str) -> &'static Self {
        METHODS.get(path).unwrap_or(&UNKNOWN)
    }

    /// Returns the method of `request`, which [`Self::note`] found.
    pub fn of_request<B>(request: &Request<B>) -> &'static Self {
        let noted = request.extensions().get::<&'static Self>().copied();
        noted.unwrap_or_else(|| Self::of(request.uri().path()))
    }

    /// Finds the method of `request`, once for all layers.
    pub fn note<B>(request: &mut Request<B>) -> &'static Self {
        let method = Self::of(request.uri().path());
        request.extensions_mut().insert(method);
        method
    }

    /// Returns the full name of its service, and its name in that; both `unknown` if nothing is known about it.
    pub fn names(&self) -> (&str, &str) {
        self.path.split_once('/').unwrap_or((&self.path, &self.path))
    }

    /// Returns the number of methods, the unknown one included.
    pub fn count() -> usize {
        METHODS.len() + 1
    }

    /// Whether a call can change something.
    pub fn changes(&self) -> bool {
        self.needed >= Some(Role::ReadWrite)
    }

    /// Whether it asks for the server's health once, which is answered under any load.
    pub fn is_health_check(&self) -> bool {
        self.origin == Origin::Grpc && !self.is_stream()
    }

    /// Whether either side of a call is a stream, so that the call can last long.
    pub fn is_stream(&self) -> bool {
        self.takes_many || self.answers_many
    }
}

fn methods() -> FxHashMap<String, Method> {
    let sets = [
        (Origin::Own, FILE_DESCRIPTOR_SET),
        (Origin::Grpc, tonic_health::pb::FILE_DESCRIPTOR_SET),
        (Origin::Grpc, tonic_reflection::pb::v1::FILE_DESCRIPTOR_SET),
        (Origin::Grpc, tonic_reflection::pb::v1alpha::FILE_DESCRIPTOR_SET),
    ];
    let mut methods = FxHashMap::default();
    for (origin, set) in sets {
        for file in FileDescriptorSet::decode(set).unwrap_or_default().file {
            for service in &file.service {
                let service_name = format!("{}.{}", file.package(), service.name());
                for method in &service.method {
                    let known = Method {
                        number: methods.len() + 1,
                        path: format!("{service_name}/{}", method.name()).into(),
                        origin,
                        needed: needed(&service_name, method.name()),
                        takes_many: method.client_streaming(),
                        answers_many: method.server_streaming(),
                    };
                    methods.insert(format!("/{service_name}/{}", method.name()), known);
                }
            }
        }
    }
    methods
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use prost_reflect::{DescriptorPool, MethodDescriptor};

    use super::*;
    use crate::guard::access::READS;

    /// Every served method.
    fn served() -> Vec<MethodDescriptor> {
        let sets = [
            FILE_DESCRIPTOR_SET,
            tonic_health::pb::FILE_DESCRIPTOR_SET,
            tonic_reflection::pb::v1::FILE_DESCRIPTOR_SET,
            tonic_reflection::pb::v1alpha::FILE_DESCRIPTOR_SET,
        ];
        let pools = sets.map(|set| DescriptorPool::decode(set).unwrap());
        let services = pools.iter().flat_map(|pool| pool.services().collect::<Vec<_>>());
        services.flat_map(|service| service.methods().collect::<Vec<_>>()).collect()
    }

    fn path(method: &MethodDescriptor) -> String {
        format!("/{}/{}", method.parent_service().full_name(), method.name())
    }

    #[test]
    fn each_call_is_known() {
        let served = served();
        let known: BTreeSet<_> = METHODS.keys().cloned().collect();
        assert_eq!(known, served.iter().map(path).collect());
        let of = |asked| {
            let these = METHODS.values().filter(move |it| it.needed == asked);
            these.map(|it| it.names().1).collect::<BTreeSet<_>>()
        };
        assert_eq!(of(None), BTreeSet::from(["Check", "ReadShared", "Watch"]));
        assert_eq!(of(Some(Role::Admin)), BTreeSet::from(["Backup"]));
        assert_eq!(of(Some(Role::ReadOnly)), READS.into());
        let writes = [
            "Memorize",
            "MemorizeStream",
            "Forget",
            "Restore",
            "CreateConversation",
            "UpdateConversation",
            "UpdateState",
            "EndConversation",
            "DeleteConversation",
            "DeleteRecipient",
            "ShareConversation",
            "RevokeShare",
            "UpdateUtterance",
            "ForkConversation",
            "ImportConversation",
            "CompactConversation",
            "UndoCompaction",
            "AnswerCompactionPrompt",
        ];
        assert_eq!(of(Some(Role::ReadWrite)), writes.into(), "say in access.rs which of them change nothing");
    }

    #[test]
    fn a_call_is_what_its_descriptor_says() {
        for method in served() {
            let path = path(&method);
            let known = Method::of(&path);
            let told = (known.takes_many, known.answers_many);
            let says = (method.is_client_streaming(), method.is_server_streaming());
            assert_eq!(told, says, "{path}");
        }
    }

    #[test]
    fn the_calls_that_go_on_for_long() {
        let streams = METHODS.iter().filter(|(_, method)| method.is_stream());
        let streams: BTreeSet<_> = streams.map(|(path, _)| &**path).collect();
        let expected = [
            "/utterd.v1.MemoryService/MemorizeStream",
            "/utterd.v1.MemoryService/WatchCapacity",
            "/utterd.v1.ConversationService/ExportConversation",
            "/utterd.v1.ConversationService/ImportConversation",
            "/utterd.v1.TraceService/WatchEvents",
            "/utterd.v1.AdminService/Backup",
            "/grpc.health.v1.Health/Watch",
            "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
            "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
        ];
        assert_eq!(streams, BTreeSet::from(expected));
    }

    #[test]
    fn what_is_not_known_counts_as_a_change() {
        for path in ["", "/", "/utterd.v1.MemoryService", "/utterd.v1.MemoryService/Recall", "/a.B/C", "a"] {
            let Method { origin, needed, .. } = Method::of(path);
            assert_eq!((*origin, *needed), (Origin::Unknown, Some(Role::ReadWrite)), "{path}");
        }
    }
}
