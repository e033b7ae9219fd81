//! The layer around a test service.

use std::{
    convert::Infallible,
    future::ready,
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    thread::{self, ThreadId},
    time::Duration,
};

use bytes::Bytes;
use futures::{FutureExt, StreamExt, channel::mpsc};
use http::{Request, Response};
use http_body::Frame;
use http_body_util::{BodyExt, Full, StreamBody};
use tokio::time::{Instant, advance};
use tonic::{Code, Status, body::Body};
use tonic_types::StatusExt;

use super::{Admission, Admitting};
use crate::{routes::Answer, transport::connection::Peer};
use utterd_config::Settings;
use utterd_domain::limits::{
    LEAST_MESSAGE_RATE, MESSAGE_BYTES, MESSAGE_PATIENCE, OVERLOAD_WAIT, ROOM_PATIENCE, STANDING_WAIT,
};

const MIB: usize = 1 << 20;
const MOST: usize = 16 * MIB;
const UNARY: &str = "/utterd.v1.MemoryService/Memorize";
const STREAM: &str = "/utterd.v1.MemoryService/MemorizeStream";

/// Sends the body of a call, as a client does.
type Sends = mpsc::UnboundedSender<Bytes>;

struct Server {
    admission: Arc<Admission>,
    /// The bytes of requests that have reached the service.
    read: Arc<AtomicUsize>,
    /// How many calls the service answers; the others wait.
    answers: Arc<tokio::sync::Semaphore>,
}

impl Server {
    fn new() -> Self {
        let answers = Arc::new(tokio::sync::Semaphore::new(usize::MAX >> 4));
        let settings = Settings { max_message_bytes: MOST, ..Settings::default() };
        let admission = Admission::new(&settings, || false);
        Self { admission, read: Arc::default(), answers }
    }

    /// Returns a call and the sender of its body. The answer is an empty response once the body has been read.
    fn call(&self, path: &str) -> (Sends, impl Future<Output = Result<(), Status>> + use<>) {
        let (sends, chunks) = mpsc::unbounded();
        let body = StreamBody::new(chunks.map(|chunk| Ok::<_, Status>(Frame::data(chunk))));
        let request =
            Request::builder().uri(path).header("grpc-encoding", "gzip").body(Body::new(body)).unwrap();
        let (read, answers) = (self.read.clone(), self.answers.clone());
        let answer = move |request: Request<Body>| -> Answer {
            Box::pin(async move {
                let mut body = request.into_body();
                while let Some(frame) = body.frame().await {
                    match frame {
                        Ok(frame) => read.fetch_add(frame.into_data().unwrap().len(), Ordering::SeqCst),
                        Err(status) => return Ok(status.into_http()),
                    };
                }
                answers.acquire().await.unwrap().forget();
                Ok(Response::new(Body::empty()))
            })
        };
        let admitting = Admitting::new(self.admission.clone());
        let call = async move {
            let Ok(response) = admitting.admit(request, answer).await;
            match Status::from_header_map(response.headers()) {
                Some(status) => Err(status),
                None => Ok(()),
            }
        };
        (sends, call)
    }

    fn read(&self) -> usize {
        self.read.load(Ordering::SeqCst)
    }
}

fn head(length: usize) -> Bytes {
    Bytes::from([&[0], &u32::try_from(length).unwrap().to_be_bytes()[..]].concat())
}

fn message(length: usize) -> Bytes {
    Bytes::from([&head(length)[..], &vec![7; length]].concat())
}

fn is(refused: Result<(), Status>, code: Code, reason: &str) -> Status {
    let status = refused.expect_err("it is refused");
    assert_eq!(status.code(), code, "{status:?}");
    assert_eq!(status.get_details_error_info().expect("an ErrorInfo").reason, reason);
    status
}

#[tokio::test(start_paused = true)]
async fn a_message_that_does_not_come_is_late() {
    let server = Server::new();
    for sent in [Bytes::new(), head(10).slice(..3), head(100), message(5_000).slice(..200)] {
        let (sends, call) = server.call(UNARY);
        let begun = Instant::now();
        sends.unbounded_send(sent).unwrap();
        is(call.await, Code::DeadlineExceeded, "MESSAGE_LATE");
        assert_eq!(begun.elapsed(), MESSAGE_PATIENCE);
    }
}

#[tokio::test(start_paused = true)]
async fn a_message_that_comes_slowly_is_waited_for() {
    let server = Server::new();
    let (sends, call) = server.call(UNARY);
    let call = tokio::spawn(call);
    sends.unbounded_send(head(MIB)).unwrap();
    for _ in 0..MIB / LEAST_MESSAGE_RATE / 2 {
        tokio::time::sleep(Duration::from_secs(1)).await;
        sends.unbounded_send(Bytes::from(vec![7; 2 * LEAST_MESSAGE_RATE])).unwrap();
    }
    drop(sends);
    call.await.unwrap().unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_stream_may_pause_between_its_messages_only() {
    let server = Server::new();
    let (sends, call) = server.call(STREAM);
    let mut call = pin!(call);
    for _ in 0..3 {
        let pause = tokio::time::timeout(MESSAGE_PATIENCE * 1_000, call.as_mut());
        assert!(pause.await.is_err(), "a pause ended the stream");
        sends.unbounded_send(message(5_000)).unwrap();
    }
    sends.unbounded_send(message(10).slice(..14)).unwrap();
    let begun = Instant::now();
    is(call.await, Code::DeadlineExceeded, "MESSAGE_LATE");
    assert_eq!((begun.elapsed(), server.read()), (MESSAGE_PATIENCE, 15_029));
}

/// However many messages are announced, those that have room are received, and the others wait and are refused. Small
/// messages still get through.
#[tokio::test(start_paused = true)]
async fn announcing_takes_room() {
    let server = Server::new();
    let (all, own) = (MESSAGE_BYTES / MOST, MESSAGE_BYTES / 4 * 3 / MOST);
    let calls: Vec<_> = (0..10 * all).map(|_| server.call(UNARY)).collect();
    let (sends, calls): (Vec<_>, Vec<_>) = calls.into_iter().unzip();
    sends.iter().for_each(|sends| sends.unbounded_send(message(MOST).slice(..6)).unwrap());
    let begun = Instant::now();
    let calls: Vec<_> = calls.into_iter().map(tokio::spawn).collect();
    let (small, small_call) = server.call(UNARY);
    small.unbounded_send(message(4_000)).unwrap();
    drop(small);
    small_call.await.unwrap();
    assert_eq!(begun.elapsed(), Duration::ZERO);
    let (mut late, mut refused) = (0, 0);
    for call in calls {
        let status = call.await.unwrap().unwrap_err();
        match status.code() {
            Code::DeadlineExceeded => late += 1,
            _ => {
                is(Err(status.clone()), Code::ResourceExhausted, "MESSAGES_IN_FLIGHT");
                assert!(status.get_details_retry_info().is_some_and(|retry| retry.retry_delay.is_some()));
                assert!(status.get_details_quota_failure().is_some());
                refused += 1;
            }
        }
    }
    assert_eq!((late, refused), (own, 10 * all - own), "a quarter is for other callers");
    assert!(begun.elapsed() <= MESSAGE_PATIENCE + ROOM_PATIENCE);
    let (sends, call) = server.call(UNARY);
    sends.unbounded_send(message(MOST)).unwrap();
    drop(sends);
    call.await.unwrap();
}

/// A message counts until it is answered.
#[tokio::test(start_paused = true)]
async fn what_is_not_answered_takes_room() {
    let server = Server { answers: Arc::new(tokio::sync::Semaphore::new(0)), ..Server::new() };
    let mut waiting = Vec::new();
    for _ in 0..MESSAGE_BYTES / 4 * 3 / MOST {
        let (sends, call) = server.call(UNARY);
        sends.unbounded_send(message(MOST)).unwrap();
        drop(sends);
        let mut call = Box::pin(call);
        assert!(tokio::time::timeout(Duration::from_millis(1), call.as_mut()).await.is_err());
        waiting.push(call);
    }
    let read = server.read();
    let (sends, call) = server.call(UNARY);
    sends.unbounded_send(message(MOST)).unwrap();
    let call = tokio::spawn(call);
    tokio::time::sleep(ROOM_PATIENCE / 2).await;
    assert_eq!(server.read(), read, "it waits");
    server.answers.add_permits(10);
    waiting.remove(0).await.unwrap();
    drop(sends);
    call.await.unwrap().unwrap();
}

/// A compressed message counts as what it can become at most.
#[tokio::test(start_paused = true)]
async fn a_compressed_message_takes_what_it_can_unpack_to() {
    let server = Server { answers: Arc::new(tokio::sync::Semaphore::new(0)), ..Server::new() };
    let packed = Bytes::from([&[1][..], &message(20_000)[1..]].concat());
    let (sends, calls): (Vec<_>, Vec<_>) = (0..3).map(|_| server.call(UNARY)).unzip();
    sends.iter().for_each(|sends| sends.unbounded_send(packed.clone()).unwrap());
    drop(sends);
    let (mut calls, begun) = (calls.into_iter().map(tokio::spawn), Instant::now());
    let waiting: Vec<_> = calls.by_ref().take(2).collect();
    tokio::task::yield_now().await;
    is(calls.next().unwrap().await.unwrap(), Code::ResourceExhausted, "MESSAGES_IN_FLIGHT");
    assert_eq!(begun.elapsed(), ROOM_PATIENCE);
    server.answers.add_permits(2);
    for call in waiting {
        call.await.unwrap().unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_that_takes_one_message_takes_one() {
    let server = Server::new();
    let (sends, call) = server.call(UNARY);
    sends.unbounded_send([message(5), message(5)].concat().into()).unwrap();
    is(call.await, Code::InvalidArgument, "INVALID_MESSAGE");
    let (sends, call) = server.call(UNARY);
    sends.unbounded_send(message(5)).unwrap();
    is(call.await, Code::DeadlineExceeded, "MESSAGE_LATE");
}

/// A server whose store is behind or not.
fn behind(is_store_behind: bool) -> Server {
    let admission = Admission::new(&Settings::default(), move || is_store_behind);
    Server { admission, answers: Arc::new(tokio::sync::Semaphore::new(0)), ..Server::new() }
}

#[tokio::test(start_paused = true)]
async fn a_store_that_is_behind_takes_one_change_of_each_caller() {
    let answered = async |server: &Server, path| {
        let (sends, call) = server.call(path);
        drop(sends);
        tokio::time::timeout(Duration::from_millis(1), Box::pin(call)).await
    };
    const READ: &str = "/utterd.v1.MemoryService/Remember";
    for is_behind in [true, false] {
        let server = behind(is_behind);
        let (sends, first) = server.call(UNARY);
        drop(sends);
        let mut first = Box::pin(first);
        assert!(first.as_mut().now_or_never().is_none(), "it waits for its answer");
        assert!(answered(&server, READ).await.is_err(), "so does a read");
        match answered(&server, UNARY).await {
            Ok(refused) => drop(is(refused, Code::ResourceExhausted, "OVERLOADED")),
            Err(_) => assert!(!is_behind),
        }
    }
}

#[tokio::test(start_paused = true)]
async fn the_only_call_of_a_caller_is_served_in_overload() {
    let admitting = Admitting::new(Server::new().admission);
    let arrive = |caller| {
        let peer = Peer::new(caller, None);
        let request = Request::builder().uri(UNARY).extension(peer).body(Body::empty()).unwrap();
        admitting.admit(request, |_| Box::pin(ready(Ok(Response::new(Body::empty())))))
    };
    let has_status = |response: Result<Response<Body>, Infallible>| {
        let Ok(response) = response;
        Status::from_header_map(response.headers()).is_some()
    };
    let mut many: Vec<_> = (0..3).map(|_| arrive(1)).collect();
    advance(STANDING_WAIT * 2).await;
    assert!(!has_status(many.remove(0).await), "the worker may have been delayed once");
    advance(STANDING_WAIT * 2).await;
    let only = arrive(2);
    advance(OVERLOAD_WAIT * 2).await;
    assert!(has_status(many.remove(0).await) && !has_status(only.await));
}

/// It is decoded by the poll that reads its end.
#[tokio::test]
async fn a_long_message_is_decoded_on_another_thread() {
    for (length, is_elsewhere) in [(1_000, false), (MIB, true)] {
        let request = Request::builder().uri(UNARY).body(Body::new(Full::new(message(length)))).unwrap();
        let decoded = |request: Request<Body>| -> Answer {
            Box::pin(async move {
                request.into_body().collect().await.unwrap();
                let mut response = Response::new(Body::empty());
                response.extensions_mut().insert(thread::current().id());
                Ok(response)
            })
        };
        let Ok(response) = Admitting::new(Server::new().admission).admit(request, decoded).await;
        let by = response.extensions().get::<ThreadId>().unwrap();
        assert_eq!(*by != thread::current().id(), is_elsewhere, "{length}");
    }
}
