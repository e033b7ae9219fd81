//! Calls beyond the limits are refused immediately, and told when to retry.

use std::{
    convert::Infallible,
    future::Future,
    pin::Pin,
    sync::atomic::{AtomicUsize, Ordering},
    task::{Context, Poll},
};

use futures::StreamExt;
use http::uri::PathAndQuery;
use tokio::time::Instant;
use tonic::{
    Response,
    body::Body,
    client::Grpc,
    server::{NamedService, UnaryService},
    transport::Channel,
};
use tonic_health::pb::{HealthCheckRequest, health_client::HealthClient};
use tonic_prost::ProstCodec;
use utterd::{
    proto::{memorize_stream_response::Result as StreamResult, memory_service_client::MemoryServiceClient},
    server::Server,
};

use crate::support::{connect, prelude::*, server_in_memory};

/// Checks that the status names this limit, and when to retry.
fn reaches(status: Status, reason: &str, setting: &str) {
    let refused = Refused::new(status).is(Code::ResourceExhausted, reason).says(setting);
    let quota = refused.details().quota_failure().expect("a QuotaFailure");
    assert_eq!(quota.violations[0].subject, setting);
    let delay = refused.details().retry_info().expect("a RetryInfo").retry_delay.expect("a delay");
    assert!(delay > Duration::ZERO);
}

async fn is_healthy(channel: Channel) -> bool {
    HealthClient::new(channel).check(HealthCheckRequest::default()).await.is_ok()
}

#[tokio::test]
async fn calls_in_flight_are_bounded_and_health_answers_beyond() {
    let gate = Gate::new();
    let settings = Settings { max_calls_in_flight: 4, ..Settings::default() };
    let session = Session::over_with(gate.clone(), &settings).await;
    gate.shut();
    let start = |number: usize| {
        let (mut memory, mut request) = (session.memory(), memorize(vec![user("waits")]));
        request.conversation_id = format!("c{number}");
        tokio::spawn(async move { memory.memorize(request).await })
    };
    // one caller can have three quarters
    let calls: Vec<_> = (0..3).map(start).collect();
    gate.holds(3).await;
    let status = session.memory().get_capacity_info(GetCapacityInfoRequest::default()).await.unwrap_err();
    reaches(status, "TOO_MANY_CALLS", "max_calls_in_flight");
    assert!(is_healthy(session.channel()).await);
    gate.open();
    for call in calls {
        call.await.unwrap().reply();
    }
    session.memory().get_capacity_info(GetCapacityInfoRequest::default()).await.reply();
}

#[tokio::test]
async fn open_streams_are_bounded_for_each_caller() {
    let session = Session::with(&Settings { max_streams: 8, ..Settings::default() }).await;
    let watch = || {
        let mut trace = session.trace();
        async move { trace.watch_events(WatchEventsRequest::default()).await }
    };
    let mut watches = vec![watch().await.reply(), watch().await.reply()];
    reaches(watch().await.unwrap_err(), "TOO_MANY_STREAMS", "max_streams");
    // calls and streams are counted separately
    session.say(vec![user("hello")]).await;
    let mut ended = watches.pop().unwrap();
    assert!(ended.message().await.unwrap().is_some());
    drop(ended);
    // the server handles the end after everything that was sent before it
    while let Err(status) = watch().await {
        Refused::new(status).is(Code::ResourceExhausted, "TOO_MANY_STREAMS");
        tokio::task::yield_now().await;
    }
}

#[tokio::test(start_paused = true)]
async fn calls_a_second_are_bounded_and_streams_wait() {
    let session = Session::with(&Settings { calls_per_second: 10, ..Settings::default() }).await;
    for _ in 0..10 {
        session.say(vec![user("hello")]).await;
    }
    let status = session.memory().memorize(memorize(vec![user("too much")])).await.unwrap_err();
    let refused = Refused::new(status).is(Code::ResourceExhausted, "TOO_MANY_CALLS_A_SECOND");
    assert!(refused.details().quota_failure().is_some());
    let wait = refused.details().retry_info().and_then(|retry| retry.retry_delay).expect("a delay");
    assert!(wait > Duration::ZERO && wait <= Duration::from_millis(100), "{wait:?}");
    assert!(is_healthy(session.channel()).await);
    tokio::time::sleep(wait).await;
    session.say(vec![user("in time")]).await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    let message =
        || MemorizeStreamRequest { memorize: Some(memorize(vec![user("streamed")])), ..Default::default() };
    let started = Instant::now();
    let messages = futures::stream::iter((0..30).map(move |_| message()));
    let mut responses = session.memory().memorize_stream(messages).await.reply();
    let mut answered = 0;
    while let Some(response) = responses.message().await.unwrap() {
        assert!(matches!(response.result, Some(StreamResult::Memorized(_))), "{response:?}");
        answered += 1;
    }
    assert_eq!(answered, 30);
    // ten at once, including the stream itself
    assert!(started.elapsed() >= Duration::from_secs(2), "{:?}", started.elapsed());
}

#[tokio::test(start_paused = true)]
async fn writes_that_wait_in_one_conversation_are_bounded() {
    const MOST: usize = 1_024;
    let gate = Gate::new();
    let session = Session::over(gate.clone()).await;
    session.say(vec![user("first")]).await;
    gate.shut();
    // a connection can have 1,000 concurrent calls
    let channels = [connect(&session.server).await, connect(&session.server).await];
    let start = |index: usize| {
        let mut memory = MemoryServiceClient::new(channels[index % channels.len()].clone());
        tokio::spawn(async move { memory.memorize(memorize(vec![user("waits")])).await })
    };
    // one is being committed, with the calls before it
    let calls: Vec<_> = (0..2 * MOST).map(start).collect();
    gate.holds(1).await;
    let (mut written, mut refused) = (0, 0);
    let mut calls = calls.into_iter().collect::<futures::stream::FuturesUnordered<_>>();
    while refused == 0 {
        let status = calls.next().await.unwrap().unwrap().unwrap_err();
        let refusal = Refused::new(status).is(Code::ResourceExhausted, "QUEUE_FULL");
        assert!(refusal.details().retry_info().is_some());
        refused += 1;
    }
    gate.open();
    while let Some(call) = calls.next().await {
        match call.unwrap() {
            Ok(_) => written += 1,
            Err(status) => {
                Refused::new(status).is(Code::ResourceExhausted, "QUEUE_FULL");
                refused += 1;
            }
        }
    }
    assert_eq!(written + refused, 2 * MOST);
    assert!(written >= MOST, "{written}");
    assert_eq!(gate.held(), 0);
    session.say(vec![user("there is room again")]).await;
}

/// A call that takes five milliseconds of its worker.
#[derive(Clone, Default)]
struct Busy {
    begun: Arc<AtomicUsize>,
}

const BUSY: &str = "/utterd.test.Busy/Call";
const CALL: Duration = Duration::from_millis(5);

impl NamedService for Busy {
    const NAME: &'static str = "utterd.test.Busy";
}

impl UnaryService<()> for Busy {
    type Response = ();
    type Future = Pin<Box<dyn Future<Output = Result<Response<()>, Status>> + Send>>;

    fn call(&mut self, _: Request<()>) -> Self::Future {
        self.begun.fetch_add(1, Ordering::Relaxed);
        Box::pin(async {
            tokio::time::advance(CALL).await;
            Ok(Response::new(()))
        })
    }
}

impl tower::Service<http::Request<Body>> for Busy {
    type Response = http::Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        let service = self.clone();
        Box::pin(async move {
            Ok(tonic::server::Grpc::new(ProstCodec::<(), ()>::default()).unary(service, request).await)
        })
    }
}

async fn call(channel: Channel, deadline: Option<Duration>) -> Result<(), Status> {
    let mut client = Grpc::new(channel);
    client.ready().await.expect("a connection");
    let mut request = Request::new(());
    deadline.into_iter().for_each(|deadline| request.set_timeout(deadline));
    let codec = ProstCodec::<(), ()>::default();
    client.unary(request, PathAndQuery::from_static(BUSY), codec).await.map(|_| ())
}

/// A server with the busy call, and a connection to it.
async fn busy() -> (Server, Busy, Channel) {
    let busy = Busy::default();
    let server = server_in_memory(&Settings::default(), &ManualClock::new()).with_service(busy.clone());
    let channel = connect(&server).await;
    (server, busy, channel)
}

/// Four times as many calls arrive as can be served: the server detects it, refuses the excess before
/// starting it, and recovers soon after.
#[tokio::test(start_paused = true)]
async fn overload_is_turned_away() {
    let (_server, busy, channel) = busy().await;
    let (mut calls, started) = (Vec::new(), Instant::now());
    while calls.len() < 1_400 {
        let due = 4 * (1 + started.elapsed().div_duration_f64(CALL) as usize);
        match due > calls.len() {
            true => calls.extend((calls.len()..due).map(|_| tokio::spawn(call(channel.clone(), None)))),
            false => tokio::time::sleep(CALL).await,
        }
        tokio::task::yield_now().await;
    }
    assert!(is_healthy(channel.clone()).await);
    let (mut served, mut refused) = (0, 0);
    for call in calls {
        match call.await.unwrap() {
            Ok(()) => served += 1,
            Err(status) => {
                let retry = Refused::new(status).is(Code::ResourceExhausted, "OVERLOADED");
                assert!(retry.details().retry_info().is_some_and(|retry| retry.retry_delay.is_some()));
                refused += 1;
            }
        }
    }
    assert!(refused > 300 && served > 300, "served {served}, refused {refused}");
    assert_eq!(busy.begun.load(Ordering::Relaxed), served);
    for _ in 0..100 {
        let _ = call(channel.clone(), None).await;
    }
    call(channel, None).await.expect("it is over");
}

/// As many concurrent calls as usual, and many that wait for their responses, are all served.
#[tokio::test(start_paused = true)]
async fn bursts_are_served() {
    let (_server, busy, channel) = busy().await;
    let calls: Vec<_> = (0..200).map(|_| tokio::spawn(call(channel.clone(), None))).collect();
    for call in calls {
        call.await.unwrap().expect("an answer");
    }
    assert_eq!(busy.begun.load(Ordering::Relaxed), 200);
}

/// A call whose deadline passed while it waited for its turn is not started.
#[tokio::test(start_paused = true)]
async fn a_deadline_that_is_over_before_the_turn_has_no_effect() {
    let (_server, busy, channel) = busy().await;
    let calls: Vec<_> = (0..100).map(|_| tokio::spawn(call(channel.clone(), Some(20 * CALL)))).collect();
    let mut served = 0;
    for call in calls {
        match call.await.unwrap() {
            Ok(()) => served += 1,
            Err(status) => assert!(matches!(status.code(), Code::DeadlineExceeded | Code::Cancelled)),
        }
    }
    let begun = busy.begun.load(Ordering::Relaxed);
    assert!(begun >= served && begun < 30, "{begun} begun, {served} served");
}
