//! Faults that the transport finds are answered according to gRPC's conventions.

use http::uri::PathAndQuery;
use tonic::{
    Response,
    codec::{Codec, CompressionEncoding::Gzip, DecodeBuf, Decoder, EncodeBuf, Encoder},
};
use utterd::proto::watch_events_response::Message;

use crate::support::prelude::*;

#[tokio::test]
async fn a_deadline_that_does_not_pass() {
    let session = Session::new().await;
    let mut request = Request::new(memorize(vec![user("hello")]));
    request.set_timeout(Duration::from_secs(60));
    session.memory().memorize(request).await.reply();
}

#[tokio::test]
async fn a_message_that_is_too_large() {
    let settings = Settings { max_message_bytes: 10_000, max_content_bytes: 8_000, ..Settings::default() };
    let session = Session::with(&settings).await;
    let large = "x".repeat(10_001);
    let refused = session.memory().memorize(memorize(vec![user(&large)])).await.refusal();
    refused
        .is(Code::ResourceExhausted, "MESSAGE_TOO_LARGE")
        .says("max_message_bytes, 10000")
        .limits_to(10_000);
    let count = CountTokensRequest { texts: vec![large.clone()], ..Default::default() };
    let refused = session.context().count_tokens(count).await.refusal();
    refused.is(Code::ResourceExhausted, "MESSAGE_TOO_LARGE").says("10000");
    let list = ListConversationsRequest { page_token: large, ..Default::default() };
    let refused = session.conversations().list_conversations(list).await.refusal();
    refused.is(Code::ResourceExhausted, "MESSAGE_TOO_LARGE");
    session.say(vec![user(&"x".repeat(8_000))]).await;
}

/// Within a stream, such a message ends it, with the same status.
#[tokio::test]
async fn a_message_that_is_too_large_within_a_stream() {
    let settings = Settings { max_message_bytes: 10_000, max_content_bytes: 8_000, ..Settings::default() };
    let session = Session::with(&settings).await;
    let message = |text: &str| MemorizeStreamRequest {
        memorize: Some(memorize(vec![user(text)])),
        ..Default::default()
    };
    let messages = futures::stream::iter([message("fine"), message(&"x".repeat(10_001))]);
    let mut responses = session.memory().memorize_stream(messages).await.reply();
    assert!(responses.message().await.unwrap().is_some());
    let status = responses.message().await.unwrap_err();
    Refused::new(status).is(Code::ResourceExhausted, "MESSAGE_TOO_LARGE").says("10000");
    assert_eq!(session.window().await.len(), 1);
}

/// Sends bytes unchanged.
#[derive(Default)]
struct Raw;

impl Codec for Raw {
    type Encode = Vec<u8>;
    type Decode = ();
    type Encoder = Self;
    type Decoder = Self;

    fn encoder(&mut self) -> Self {
        Self
    }

    fn decoder(&mut self) -> Self {
        Self
    }
}

impl Encoder for Raw {
    type Item = Vec<u8>;
    type Error = Status;

    fn encode(&mut self, item: Vec<u8>, to: &mut EncodeBuf<'_>) -> Result<(), Status> {
        bytes::BufMut::put_slice(to, &item);
        Ok(())
    }
}

impl Decoder for Raw {
    type Item = ();
    type Error = Status;

    fn decode(&mut self, from: &mut DecodeBuf<'_>) -> Result<Option<()>, Status> {
        bytes::Buf::advance(from, bytes::Buf::remaining(from));
        Ok(Some(()))
    }
}

pub async fn send(session: &Session, path: &'static str, bytes: Vec<u8>) -> Result<Response<()>, Status> {
    let mut client = tonic::client::Grpc::new(session.channel());
    client.ready().await.unwrap();
    client.unary(Request::new(bytes), PathAndQuery::from_static(path), Raw).await
}

#[tokio::test]
async fn bytes_that_are_no_message() {
    let session = Session::new().await;
    for path in [
        "/utterd.v1.MemoryService/Memorize",
        "/utterd.v1.ConversationService/ListUtterances",
        "/utterd.v1.ContextService/CountTokens",
    ] {
        for bytes in [vec![0xff; 8], b"\x0a\x02\xff\xfe".to_vec(), b"\x1a\x7f".to_vec()] {
            let refused = send(&session, path, bytes).await.refusal();
            refused.is(Code::InvalidArgument, "INVALID_MESSAGE");
        }
    }
    assert_eq!(session.capacity().await.revision, 0, "nothing was stored");
}

#[tokio::test]
async fn a_call_that_is_none() {
    let session = Session::new().await;
    let status = send(&session, "/utterd.v1.MemoryService/Remembrance", Vec::new()).await.unwrap_err();
    assert_eq!(status.code(), Code::Unimplemented);
}

/// A channel with compression works with every service, including health and reflection.
#[tokio::test]
async fn requests_may_be_compressed() {
    let session = Session::new().await;
    let channel = || session.channel();
    let mut memory = session.memory().send_compressed(Gzip).accept_compressed(Gzip);
    memory.memorize(memorize(vec![user(&"hello ".repeat(1_000))])).await.reply();
    let mut conversations = session.conversations().send_compressed(Gzip);
    conversations.list_conversations(ListConversationsRequest::default()).await.reply();
    let mut context = session.context().send_compressed(Gzip);
    context
        .count_tokens(CountTokensRequest { texts: vec!["a".to_owned()], ..Default::default() })
        .await
        .reply();
    let mut trace = session.trace().send_compressed(Gzip);
    let mut events = trace.watch_events(WatchEventsRequest::default()).await.reply();
    assert!(matches!(events.message().await.unwrap().unwrap().message, Some(Message::Started(_))));

    let mut health = tonic_health::pb::health_client::HealthClient::new(channel()).send_compressed(Gzip);
    for service in ["", "utterd.v1.MemoryService", "utterd.v1.TraceService", "utterd.v1.AdminService"] {
        let request = tonic_health::pb::HealthCheckRequest { service: service.to_owned() };
        assert_eq!(health.check(request).await.reply().status, 1, "{service:?} serves");
    }
    use tonic_reflection::pb::v1::{
        ServerReflectionRequest, server_reflection_client::ServerReflectionClient,
        server_reflection_request::MessageRequest, server_reflection_response::MessageResponse,
    };
    let mut reflection = ServerReflectionClient::new(channel()).send_compressed(Gzip);
    let list = ServerReflectionRequest {
        message_request: Some(MessageRequest::ListServices(String::new())),
        ..Default::default()
    };
    let mut answers = reflection.server_reflection_info(futures::stream::iter([list])).await.reply();
    let answer = answers.message().await.unwrap().unwrap().message_response;
    let Some(MessageResponse::ListServicesResponse(listed)) = answer else { panic!("no list: {answer:?}") };
    let names: Vec<_> = listed.service.iter().map(|service| service.name.as_str()).collect();
    for service in ["MemoryService", "ConversationService", "ContextService", "TraceService", "AdminService"]
    {
        assert!(names.contains(&format!("utterd.v1.{service}").as_str()), "{names:?}");
    }
}

#[tokio::test]
async fn a_message_that_unpacks_to_too_much() {
    let settings = Settings { max_message_bytes: 10_000, max_content_bytes: 8_000, ..Settings::default() };
    let session = Session::with(&settings).await;
    let mut memory = session.memory().send_compressed(Gzip);
    let refused = memory.memorize(memorize(vec![user(&"x".repeat(10_001))])).await.refusal();
    refused.is(Code::ResourceExhausted, "MESSAGE_TOO_LARGE").limits_to(10_000);
}

#[tokio::test]
async fn v1alpha_reflection_is_served_too() {
    use tonic_reflection::pb::v1alpha::{
        ServerReflectionRequest, server_reflection_client::ServerReflectionClient,
        server_reflection_request::MessageRequest,
    };
    let session = Session::new().await;
    let mut reflection = ServerReflectionClient::new(session.channel()).send_compressed(Gzip);
    let symbol = MessageRequest::FileContainingSymbol("google.rpc.ErrorInfo".to_owned());
    let request = ServerReflectionRequest { message_request: Some(symbol), ..Default::default() };
    let mut answers = reflection.server_reflection_info(futures::stream::iter([request])).await.reply();
    let answer = answers.message().await.unwrap().unwrap();
    assert!(format!("{answer:?}").contains("FileDescriptorResponse"), "{answer:?}");
}
