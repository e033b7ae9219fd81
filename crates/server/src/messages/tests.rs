//! The layer around a test service.

use std::{
    convert::Infallible,
    io::Write,
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use bytes::Bytes;
use flate2::{Compression, write::GzEncoder};
use futures::{FutureExt, StreamExt, channel::mpsc};
use http::{Request, Response};
use http_body::Frame;
use http_body_util::{BodyExt, StreamBody};
use tokio::time::Instant;
use tonic::{Code, Status, body::Body};
use tonic_types::StatusExt;
use tower::{ServiceExt, service_fn};

use super::Messages;
use utterd_domain::limits::{
    CALL_BYTES, CALLS_LEAVE, IMPORT_PATIENCE, LEAST_MESSAGE_RATE, MESSAGE_BYTES, MESSAGE_PATIENCE,
    ROOM_PATIENCE, TRANSIT_BYTES,
};
use utterd_rpc::Combined;

const MIB: usize = 1 << 20;
const MOST: usize = 16 * MIB;
const UNARY: &str = "/utterd.v1.MemoryService/Memorize";
const STREAM: &str = "/utterd.v1.MemoryService/MemorizeStream";
const IMPORT: &str = "/utterd.v1.ConversationService/ImportConversation";

/// Sends the body of a call, as a client does.
type Sends = mpsc::UnboundedSender<Bytes>;

struct Server {
    messages: Messages,
    /// The bytes of requests that have reached the service.
    read: Arc<AtomicUsize>,
    /// How many calls the service answers; the others wait.
    answers: Arc<tokio::sync::Semaphore>,
}

impl Server {
    fn new() -> Self {
        let answers = Arc::new(tokio::sync::Semaphore::new(usize::MAX >> 4));
        Self { messages: Messages::new(MOST), read: Arc::default(), answers }
    }

    /// Returns a call and the sender of its body. The answer is an empty response once the body has been read.
    fn call(&self, path: &str) -> (Sends, impl Future<Output = Result<(), Status>> + use<>) {
        let (sends, chunks) = mpsc::unbounded();
        let body = StreamBody::new(chunks.map(|chunk| Ok::<_, Status>(Frame::data(chunk))));
        let request =
            Request::builder().uri(path).header("grpc-encoding", "gzip").body(Body::new(body)).unwrap();
        let (read, answers) = (self.read.clone(), self.answers.clone());
        let service = service_fn(move |request: Request<Body>| {
            let (read, answers) = (read.clone(), answers.clone());
            async move {
                let mut body = request.into_body();
                while let Some(frame) = body.frame().await {
                    match frame {
                        Ok(frame) => read.fetch_add(frame.into_data().unwrap().len(), Ordering::SeqCst),
                        Err(status) => return Ok::<_, Infallible>(status.into_http()),
                    };
                }
                answers.acquire().await.unwrap().forget();
                Ok(Response::new(Body::empty()))
            }
        });
        let service = self.messages.around(service);
        let call = async move {
            let Ok(response) = service.oneshot(request).await;
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
async fn a_message_is_handed_on_once_it_is_whole() {
    let server = Server::new();
    let (sends, call) = server.call(UNARY);
    let mut call = pin!(call);
    sends.unbounded_send(head(1_000_000)).unwrap();
    sends.unbounded_send(Bytes::from(vec![7; 999_999])).unwrap();
    assert!(call.as_mut().now_or_never().is_none());
    assert_eq!(server.read(), 0);
    sends.unbounded_send(Bytes::from(vec![7; 1])).unwrap();
    assert!(call.as_mut().now_or_never().is_none(), "the body goes on");
    assert_eq!(server.read(), 1_000_005);
    drop(sends);
    call.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn what_is_announced_is_refused_at_its_head() {
    let server = Server::new();
    for path in [UNARY, STREAM, IMPORT] {
        let (sends, call) = server.call(path);
        sends.unbounded_send(head(MOST + 1)).unwrap();
        let status = is(call.await, Code::ResourceExhausted, "MESSAGE_TOO_LARGE");
        assert!(status.message().contains("16777216"), "{}", status.message());
    }
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
    assert_eq!(server.read(), 0);
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
    assert_eq!((begun.elapsed(), server.read()), (MESSAGE_PATIENCE, 15_015));
}

/// A stream may send more than there is room for, as long as its messages are answered, each or two at a time.
#[tokio::test(start_paused = true)]
async fn what_is_answered_takes_no_room() {
    let messages = |body: Body| body.into_data_stream().map(|data| assert!(!data.unwrap().is_empty()));
    let service = service_fn(|request: Request<Body>| async move {
        let combined = Combined::default();
        let mut response = Response::new(());
        response.extensions_mut().insert(combined.clone());
        let answers = messages(request.into_body()).chunks(2).map(move |_| {
            combined.add();
            Ok::<_, Status>(Frame::data(message(0)))
        });
        Ok::<_, Infallible>(response.map(|()| Body::new(StreamBody::new(answers))))
    });
    let (sends, chunks) = mpsc::unbounded();
    let body = StreamBody::new(chunks.map(|chunk| Ok::<_, Status>(Frame::data(chunk))));
    let request = Request::builder().uri(STREAM).body(Body::new(body)).unwrap();
    let Ok(response) = Server::new().messages.around(service).oneshot(request).await;
    let (mut answers, large) = (response.into_body().into_data_stream(), message(4 * MIB));
    for _ in 0..MESSAGE_BYTES / large.len() {
        sends.unbounded_send(large.clone()).unwrap();
        sends.unbounded_send(large.clone()).unwrap();
        assert_eq!(answers.next().await.expect("an answer").unwrap(), message(0));
    }
}

#[tokio::test(start_paused = true)]
async fn an_import_is_not_kept_for_ever() {
    let server = Server::new();
    let (sends, call) = server.call(IMPORT);
    let mut call = pin!(call);
    assert!(tokio::time::timeout(IMPORT_PATIENCE * 2, call.as_mut()).await.is_err(), "nothing is kept yet");
    sends.unbounded_send(message(5_000)).unwrap();
    let begun = Instant::now();
    is(call.await, Code::DeadlineExceeded, "MESSAGE_LATE");
    assert_eq!(begun.elapsed(), IMPORT_PATIENCE);
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
        assert!(call.as_mut().now_or_never().is_none());
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

/// A compressed message of `unpacked` zeros, which states `says` as its unpacked length.
fn packed(unpacked: usize, says: usize) -> Bytes {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(&vec![0; unpacked]).unwrap();
    let mut packed = encoder.finish().unwrap();
    let end = packed.len() - 4;
    packed[end..].copy_from_slice(&u32::try_from(says).unwrap().to_le_bytes());
    let length = u32::try_from(packed.len()).unwrap().to_be_bytes();
    [&[1], &length[..], &packed].concat().into()
}

#[tokio::test(start_paused = true)]
async fn a_compressed_message_is_handed_on_as_it_was() {
    let server = Server::new();
    let (sends, call) = server.call(UNARY);
    sends.unbounded_send(packed(1_000, 1_000)).unwrap();
    drop(sends);
    call.await.unwrap();
    assert_eq!(server.read(), 1_005);
}

/// A compressed message counts with its unpacked length.
#[tokio::test(start_paused = true)]
async fn a_compressed_message_takes_what_it_unpacks_to() {
    let server = Server { messages: Messages::new(1_500), ..Server::new() };
    for (unpacked, says, code, reason) in [
        (10, 1_501, Code::ResourceExhausted, "MESSAGE_TOO_LARGE"),
        (3_000, 1, Code::ResourceExhausted, "MESSAGE_TOO_LARGE"),
        (1_000, 1, Code::InvalidArgument, "INVALID_MESSAGE"),
    ] {
        let (sends, call) = server.call(UNARY);
        sends.unbounded_send(packed(unpacked, says)).unwrap();
        is(call.await, code, reason);
    }
    let server = Server::new();
    let (sends, calls): (Vec<_>, Vec<_>) = (0..2).map(|_| server.call(UNARY)).unzip();
    sends.iter().for_each(|sends| sends.unbounded_send(message(MOST).slice(..6)).unwrap());
    let coming: Vec<_> = calls.into_iter().map(tokio::spawn).collect();
    tokio::task::yield_now().await;
    let (sends, call) = server.call(UNARY);
    sends.unbounded_send(packed(10, MOST)).unwrap();
    is(call.await, Code::ResourceExhausted, "MESSAGES_IN_FLIGHT");
    coming.iter().for_each(tokio::task::JoinHandle::abort);
}

/// Parts of two bytes become structures of several hundred.
#[tokio::test(start_paused = true)]
async fn a_message_of_many_parts_is_refused() {
    let server = Server::new();
    let parts = [26, 0].repeat(MIB);
    let (sends, call) = server.call(UNARY);
    sends.unbounded_send(head(parts.len())).unwrap();
    sends.unbounded_send(parts.into()).unwrap();
    let status = is(call.await, Code::ResourceExhausted, "MESSAGE_TOO_LARGE");
    assert!(status.message().contains("too many parts"), "{}", status.message());
    assert_eq!(server.read(), 0);
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
    let (sends, call) = server.call(STREAM);
    sends.unbounded_send(message(50).slice(..20)).unwrap();
    drop(sends);
    is(call.await, Code::InvalidArgument, "INVALID_MESSAGE");
}

/// Small parts grow a lot, however small the message is.
#[tokio::test(start_paused = true)]
async fn a_small_message_of_many_parts_takes_room() {
    let server = Server { answers: Arc::new(tokio::sync::Semaphore::new(0)), ..Server::new() };
    let parts = Bytes::from([&head(4_000)[..], &[26, 0].repeat(2_000)].concat());
    let mut waiting = Vec::new();
    let refused = loop {
        let (sends, call) = server.call(UNARY);
        sends.unbounded_send(parts.clone()).unwrap();
        drop(sends);
        let mut call = Box::pin(call);
        match tokio::time::timeout(ROOM_PATIENCE / 100, call.as_mut()).await {
            Err(_) if server.read() > waiting.len() * parts.len() => waiting.push(call),
            Err(_) => break call.await,
            Ok(answer) => break answer,
        }
    };
    is(refused, Code::ResourceExhausted, "MESSAGES_IN_FLIGHT");
    assert!((10..500).contains(&waiting.len()), "{}", waiting.len());
}

/// Calls take room as long as they are open; refused ones are told when to retry. Health checks are still answered.
#[tokio::test(start_paused = true)]
async fn open_calls_take_room() {
    let server = Server::new();
    let most = (TRANSIT_BYTES - CALLS_LEAVE) / CALL_BYTES;
    let mut open: Vec<_> =
        (0..most).map(|_| server.call(UNARY)).map(|(sends, call)| (sends, Box::pin(call))).collect();
    for (_, call) in &mut open {
        assert!(call.as_mut().now_or_never().is_none());
    }
    let (_sends, call) = server.call(UNARY);
    let status = is(call.await, Code::ResourceExhausted, "TOO_MANY_CALLS");
    assert!(status.get_details_retry_info().is_some() && status.get_details_quota_failure().is_some());
    let (sends, call) = server.call("/grpc.health.v1.Health/Check");
    drop(sends);
    call.await.unwrap();
    open.pop();
    let (sends, call) = server.call(UNARY);
    drop(sends);
    call.await.unwrap();
}
