//! The span of a call, by OpenTelemetry's conventions for RPC and for the memory of generative AI.

use http::HeaderMap;
use tonic::Code;

use crate::{code_names::names, guard::methods::Method};
use utterd_telemetry::Span;

/// What some calls are in the words of the conventions for memory (`gen_ai.operation.name`).
const OPERATIONS: [(&str, &str); 12] = [
    ("CreateConversation", "create_memory_store"),
    ("ForkConversation", "create_memory_store"),
    ("Memorize", "update_memory"),
    ("MemorizeStream", "update_memory"),
    ("UpdateUtterance", "update_memory"),
    ("Restore", "update_memory"),
    ("ImportConversation", "update_memory"),
    ("Remember", "search_memory"),
    ("BuildContext", "search_memory"),
    ("Forget", "delete_memory"),
    ("DeleteConversation", "delete_memory_store"),
    ("DeleteRecipient", "delete_memory_store"),
];

/// The status codes that are the server's fault; of others, only the caller knows whether they are errors.
const FAULTS: [Code; 6] = [
    Code::Unknown,
    Code::DeadlineExceeded,
    Code::Unimplemented,
    Code::Internal,
    Code::Unavailable,
    Code::DataLoss,
];

/// Begins the span of a call; `None` if it is not traced.
pub(super) fn begin(method: &'static Method, headers: &HeaderMap) -> Option<Span> {
    let header = |name: &str| headers.get(name)?.to_str().ok();
    let span = Span::of_call((&*method.path).into(), header)?;
    span.note("rpc.system.name", "grpc");
    span.note("rpc.method", &*method.path);
    let operation = OPERATIONS.iter().find(|(name, _)| *name == method.names().1);
    if let Some((_, operation)) = operation {
        span.note("gen_ai.operation.name", *operation);
        span.note("gen_ai.provider.name", "utterd");
    }
    Some(if method.is_stream() { span.of_stream() } else { span })
}

/// Ends the span with the status of the call.
pub(super) fn end(span: &Span, code: Code, id: &str) {
    let name = names(code).grpc;
    span.note("rpc.response.status_code", name);
    span.note("utterd.request_id", id.to_owned());
    span.end(FAULTS.contains(&code).then_some(name));
}
