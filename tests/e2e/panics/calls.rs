//! Calls that panic in their handler, their future, the encoder of their answer, or their stream.

use http::uri::PathAndQuery;
use tonic::{Status, client::Grpc, transport::Channel};
use tonic_prost::ProstCodec;
use utterd::config::Settings;

use crate::{
    panics::{Turn, breaking::Breaking, panicked},
    support::{ManualClock, connect, server_in_memory, session::user},
};

async fn service() -> Grpc<Channel> {
    let server = server_in_memory(&Settings::default(), &ManualClock::new()).with_service(Breaking);
    let mut service = Grpc::new(connect(&server).await);
    service.ready().await.expect("a pipe is ready");
    service
}

async fn unary(service: &mut Grpc<Channel>, path: &'static str) -> Status {
    let codec = ProstCodec::<(), ()>::default();
    service.ready().await.expect("a pipe is ready");
    let answer = service.unary(tonic::Request::new(()), PathAndQuery::from_static(path), codec).await;
    answer.expect_err("it panics")
}

#[tokio::test]
async fn a_call_that_panics_is_internal_with_its_id() {
    let turn = Turn::take().await;
    let mut service = service().await;
    for (calls, path) in
        ["/test.Breaking/Call", "/test.Breaking/Future", "/test.Breaking/Unary"].into_iter().enumerate()
    {
        panicked(&unary(&mut service, path).await);
        turn.had([calls as u64 + 1, 0, 0, 0]);
    }
}

#[tokio::test]
async fn a_stream_that_panics_ends_with_internal() {
    let turn = Turn::take().await;
    let mut service = service().await;
    let (codec, path) = (ProstCodec::<(), ()>::default(), PathAndQuery::from_static("/test.Breaking/Stream"));
    let answer = service.server_streaming(tonic::Request::new(()), path, codec).await;
    let mut stream = answer.expect("it begins well").into_inner();
    assert_eq!(stream.message().await.unwrap(), Some(()));
    assert_eq!(stream.message().await.unwrap(), Some(()));
    panicked(&stream.message().await.expect_err("it panics"));
    turn.had([1, 0, 0, 0]);
}

#[tokio::test]
async fn a_caller_finds_its_own_id_in_the_details() {
    let _turn = Turn::take().await;
    let mut service = service().await;
    let mut request = tonic::Request::new(());
    request.metadata_mut().insert("x-request-id", "mine".parse().unwrap());
    let (codec, path) = (ProstCodec::<(), ()>::default(), PathAndQuery::from_static("/test.Breaking/Future"));
    let status = service.unary(request, path, codec).await.map(drop).expect_err("it panics");
    panicked(&status);
    assert_eq!(status.metadata().get("x-request-id").unwrap(), "mine");
}

#[tokio::test]
async fn the_number_of_panics_is_among_the_metrics() {
    let turn = Turn::take().await;
    let server = server_in_memory(&Settings::default(), &ManualClock::new()).with_service(Breaking);
    let mut service = Grpc::new(connect(&server).await);
    service.ready().await.expect("a pipe is ready");
    let shown = || {
        let text = server.metrics().text().unwrap();
        let line = text.lines().find(|line| line.starts_with(r#"utterd_panics_total{within="call"}"#));
        line.and_then(|line| line.rsplit_once(' ')).unwrap().1.parse::<u64>().unwrap()
    };
    let before = shown();
    panicked(&unary(&mut service, "/test.Breaking/Future").await);
    assert_eq!(shown(), before + 1);
    turn.had([1, 0, 0, 0]);
}

/// The connection goes on, with the calls that are under way on it.
#[tokio::test]
async fn other_calls_of_the_connection_go_on() {
    let _turn = Turn::take().await;
    let server = server_in_memory(&Settings::default(), &ManualClock::new()).with_service(Breaking);
    let channel = connect(&server).await;
    let mut service = Grpc::new(channel.clone());
    service.ready().await.expect("a pipe is ready");
    let mut memory = utterd::proto::memory_service_client::MemoryServiceClient::new(channel);
    let said = memory.memorize(crate::support::session::memorize(vec![user("hello")]));
    let (panic, said) = tokio::join!(unary(&mut service, "/test.Breaking/Call"), said);
    panicked(&panic);
    assert_eq!(said.unwrap().into_inner().memorized.len(), 1);
}
