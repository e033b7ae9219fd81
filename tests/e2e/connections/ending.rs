//! What happens to calls when the server is asked to stop.

use futures::{StreamExt, stream};
use tonic::{Code, Status, Streaming, transport::Channel};
use tonic_types::StatusExt;
use utterd::proto::{
    GetCapacityInfoRequest, MemorizeRequest, MemorizeStreamRequest, MemorizeStreamResponse, NewUtterance,
    Role, WatchCapacityRequest, WatchEventsRequest, memorize_stream_response::Result as Outcome,
    memory_service_client::MemoryServiceClient, trace_service_client::TraceServiceClient,
};

use crate::{connections::client::channel, support::binary::Server};

fn request(number: usize) -> MemorizeStreamRequest {
    let said =
        NewUtterance { role: Role::User.into(), content: format!("message {number}"), ..Default::default() };
    let memorize = MemorizeRequest { utterances: vec![said], ..Default::default() };
    MemorizeStreamRequest { memorize: Some(memorize), ..Default::default() }
}

/// The sequences of the messages, and how the stream ended.
async fn to_the_end(mut responses: Streaming<MemorizeStreamResponse>) -> (Vec<i64>, Option<Status>) {
    let mut sequences = Vec::new();
    loop {
        match responses.message().await {
            Ok(Some(MemorizeStreamResponse { result: Some(Outcome::Memorized(response)), .. })) => {
                sequences.push(response.memorized[0].sequence);
            }
            Ok(Some(other)) => panic!("it was not memorized: {other:?}"),
            Ok(None) => return (sequences, None),
            Err(status) => return (sequences, Some(status)),
        }
    }
}

#[track_caller]
fn is_closing(status: &Status) {
    let reason = status.get_error_details().error_info().map(|info| info.reason.clone());
    assert_eq!((status.code(), reason.as_deref()), (Code::Unavailable, Some("SERVER_CLOSING")), "{status:?}");
}

/// A client that keeps sending: it gets an answer to each message that took effect, and learns that the
/// others must be repeated.
#[tokio::test]
async fn a_stream_in_full_flow_says_that_it_ends() {
    let server = Server::start(&[]);
    let mut memory = MemoryServiceClient::new(channel(&server).await);
    let messages = stream::iter(0..).map(request);
    let mut responses = memory.memorize_stream(messages).await.expect("it is served").into_inner();
    responses.message().await.expect("the first is answered");
    server.terminate();
    let (sequences, end) = to_the_end(responses).await;
    is_closing(&end.expect("it does not end as if all were done"));
    assert_eq!(sequences, (2..=sequences.len() as i64 + 1).collect::<Vec<_>>());
    until_ended(memory).await;
    server.ended();
}

#[tokio::test]
async fn streams_that_wait_say_that_they_end() {
    let server = Server::start(&[]);
    let channel = channel(&server).await;
    let mut memory = MemoryServiceClient::new(channel.clone());
    let mut trace = TraceServiceClient::new(channel);
    let messages = stream::iter([request(1)]).chain(stream::pending());
    let memorizing = memory.memorize_stream(messages).await.expect("it is served").into_inner();
    let capacity = memory.watch_capacity(WatchCapacityRequest::default()).await;
    let mut capacity = capacity.expect("it is served").into_inner();
    let events = trace.watch_events(WatchEventsRequest::default()).await;
    let mut events = events.expect("it is served").into_inner();
    capacity.message().await.expect("it is told");
    server.terminate();
    let (sequences, end) = to_the_end(memorizing).await;
    assert_eq!(sequences.len(), 1);
    is_closing(&end.expect("it does not end as if all were done"));
    is_closing(&last(&mut capacity).await);
    is_closing(&last(&mut events).await);
    until_ended(memory).await;
    server.ended();
}

/// Calls until the client has heard of the end. A message that arrives before is answered.
async fn until_ended(mut memory: MemoryServiceClient<Channel>) {
    while memory.get_capacity_info(GetCapacityInfoRequest::default()).await.is_ok() {}
}

/// How a stream ends.
async fn last<T>(responses: &mut Streaming<T>) -> Status {
    loop {
        match responses.message().await {
            Ok(message) => assert!(message.is_some(), "it ends as if all were said"),
            Err(status) => return status,
        }
    }
}
