//! A refusal arrives, whatever it refuses: message and details stay below the 8 KiB of trailers that many clients accept.

use http::HeaderMap;
use prost_reflect::{
    DynamicMessage, FieldDescriptor, Kind, MapKey, MessageDescriptor, MethodDescriptor, ReflectMessage, Value,
};
use tonic::transport::Channel;
use tonic_types::StatusExt;
use utterd::proto::memory_service_client::MemoryServiceClient;

use crate::support::{connect, prelude::*, server_in_memory, wire};

/// What many clients accept, as HTTP/2 counts it: 32 bytes an entry besides its name and its value.
const MOST: usize = 8 << 10;
/// What message and details quote, at most.
const MOST_TEXT: usize = 4 << 10;
/// How deep fields are filled.
const DEPTH: usize = 4;

/// The codes of a call that is refused for what it says, or succeeds. Any other is a fault.
const EXPECTED: [Code; 9] = [
    Code::Ok,
    Code::InvalidArgument,
    Code::NotFound,
    Code::AlreadyExists,
    Code::FailedPrecondition,
    Code::Aborted,
    Code::OutOfRange,
    Code::PermissionDenied,
    Code::Unimplemented,
];

#[tokio::test]
async fn a_refusal_of_any_text_in_any_field_arrives() {
    let server = server_in_memory(&Settings::default(), &ManualClock::new());
    let channel = connect(&server).await;
    let (mut calls, mut refused, mut wrong) = (0, 0, Vec::new());
    for method in &wire::methods() {
        for text in texts() {
            for (path, message) in filled(&method.input(), &text, DEPTH) {
                restore(&channel).await;
                let status = called(&channel, method, message).await;
                calls += 1;
                refused += usize::from(status.code() != Code::Ok);
                let faults = faults(&status);
                if !faults.is_empty() {
                    let beginning: String = text.chars().take(3).collect();
                    let name = method.name();
                    wrong.push(format!(
                        "{name}.{path}, {} times {beginning:?}: {faults:?}",
                        text.len() / beginning.len() * 3
                    ));
                }
            }
        }
    }
    assert!(refused * 4 > calls, "only {refused} of {calls} calls were refused");
    assert!(wrong.is_empty(), "{} of {calls} refusals do not arrive:\n{}", wrong.len(), wrong.join("\n"));
}

/// Metadata that is far too large is refused with a status, and the other calls of the connection go on.
#[tokio::test]
async fn a_refusal_of_metadata_arrives() {
    let server = server_in_memory(&Settings::default(), &ManualClock::new());
    let mut memory = MemoryServiceClient::new(connect(&server).await);
    let mut watch = memory.clone();
    let watched = WatchCapacityRequest::default();
    memory.memorize(said()).await.expect("the conversation starts");
    let mut watching = watch.watch_capacity(watched).await.expect("a stream").into_inner();
    watching.message().await.expect("the stream goes on").expect("the capacity");
    for bytes in [20_000, 70_000, 120_000, 200_000, 250_000] {
        let mut request = tonic::Request::new(said());
        request.metadata_mut().insert("x-long", "x".repeat(bytes).parse().unwrap());
        let status = memory.memorize(request).await.expect_err("too much");
        let reason = status.get_details_error_info().map(|info| info.reason);
        assert_eq!((status.code(), reason.as_deref()), (Code::ResourceExhausted, Some("METADATA_TOO_LARGE")));
        memory.memorize(said()).await.expect("other calls go on");
        watching.message().await.expect("the stream goes on").expect("the capacity");
    }
}

fn said() -> MemorizeRequest {
    memorize(vec![user("hello")])
}

/// Long texts: plain ones, ones of three bytes a character, and ones that are escaped wherever they are quoted.
fn texts() -> Vec<String> {
    let lengths = [100, 5_000, 60_000];
    ["x", "漢", "\u{1}", "a \"b\"\n"]
        .into_iter()
        .flat_map(|part| lengths.map(|bytes| part.repeat(bytes / part.len())))
        .collect()
}

/// What is wrong with a status.
fn faults(status: &Status) -> Vec<String> {
    let mut faults = Vec::new();
    if !EXPECTED.contains(&status.code()) {
        faults.push(format!("{:?}: {}", status.code(), status.message()));
    }
    let mut trailers = HeaderMap::new();
    status.add_header(&mut trailers).expect("it came in trailers");
    let bytes: usize = trailers.iter().map(|(name, value)| name.as_str().len() + value.len() + 32).sum();
    if bytes >= MOST {
        faults.push(format!("{bytes} bytes of trailers"));
    }
    // the details repeat the message
    let text = status.details().len();
    if text > MOST_TEXT {
        faults.push(format!("message and details have {text} bytes"));
    }
    if status.code() != Code::Ok && status.get_details_error_info().is_none() {
        faults.push("no ErrorInfo".to_owned());
    }
    faults
}

/// The messages in which one field has the text, each with the path of the field.
fn filled(message: &MessageDescriptor, text: &str, depth: usize) -> Vec<(String, DynamicMessage)> {
    let mut all = Vec::new();
    for field in message.fields() {
        for (path, value) in values(&field, text, depth) {
            let mut message = DynamicMessage::new(message.clone());
            message.set_field(&field, value);
            all.push((format!("{}{path}", field.name()), message));
        }
    }
    all
}

fn values(field: &FieldDescriptor, text: &str, depth: usize) -> Vec<(String, Value)> {
    if field.is_map() {
        let Kind::Message(entry) = field.kind() else { return Vec::new() };
        let value = entry.map_entry_value_field();
        let named = |key: &str, value: Value| Value::Map([(MapKey::String(key.to_owned()), value)].into());
        let key = (".key".to_owned(), named(text, Value::default_value_for_field(&value)));
        let valued = single(&value, text, depth).into_iter().map(|(path, value)| (path, named("k", value)));
        return valued.chain([key]).collect();
    }
    let alone = single(field, text, depth).into_iter();
    match field.is_list() {
        true => alone.map(|(path, value)| (format!("[]{path}"), Value::List(vec![value]))).collect(),
        false => alone.collect(),
    }
}

fn single(field: &FieldDescriptor, text: &str, depth: usize) -> Vec<(String, Value)> {
    match field.kind() {
        Kind::String => vec![(String::new(), Value::String(text.to_owned()))],
        Kind::Bytes => vec![(String::new(), Value::Bytes(text.to_owned().into()))],
        Kind::Message(inner) if depth > 0 => {
            let inner = filled(&inner, text, depth - 1).into_iter();
            inner.map(|(path, message)| (format!(".{path}"), Value::Message(message))).collect()
        }
        _ => Vec::new(),
    }
}

/// Calls the method, for the conversation of the test unless the message names another; returns how the call ends.
async fn called(channel: &Channel, method: &MethodDescriptor, mut message: DynamicMessage) -> Status {
    if let Some(field) = message.descriptor().get_field_by_name("conversation_id")
        && !message.has_field(&field)
        && method.name() != "CreateConversation"
    {
        message.set_field(&field, Value::String("c".to_owned()));
    }
    let mut stream = match wire::open(channel.clone(), None, method, &[message]).await {
        Ok(stream) => stream,
        Err(status) => return status,
    };
    loop {
        let next = tokio::select! {
            biased;
            next = stream.message() => next,
            () = settle(), if wire::is_endless(method) => return Status::ok(""),
        };
        match next {
            Ok(Some(_)) => {}
            Ok(None) => return Status::ok(""),
            Err(status) => return status,
        }
    }
}

/// Starts the conversation of the test, if there is none or it has ended.
async fn restore(channel: &Channel) {
    let hello = MemorizeRequest { conversation_id: "c".to_owned(), ..memorize(vec![user("hello")]) };
    let _refused_if_it_has_ended = MemoryServiceClient::new(channel.clone()).memorize(hello).await;
}
