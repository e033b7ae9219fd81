//! The cost of clients that do not send what they announce, or do not read responses.

use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use h2::{RecvStream, SendStream, client::SendRequest};
use http::Response;
use prost::Message;
use tokio::time::Instant;
use utterd::{
    proto::import_conversation_request::Message as Import,
    server::{Peer, Server},
};

use crate::support::{pipe, prelude::*};

const MIB: usize = 1 << 20;
const MEMORIZE: &str = "utterd.v1.MemoryService/Memorize";
const LIST: &str = "utterd.v1.ConversationService/ListUtterances";

/// A client whose window is closed: it receives no response data until it asks.
struct Client {
    requests: SendRequest<Bytes>,
    most_streams: usize,
}

/// A call by such a client.
struct Call {
    body: SendStream<Bytes>,
    response: h2::client::ResponseFuture,
}

impl Client {
    async fn of(server: &Server) -> Self {
        static CLIENTS: AtomicU64 = AtomicU64::new(0);
        let near = pipe::open(server, Peer::new(CLIENTS.fetch_add(1, Ordering::Relaxed), None));
        let mut builder = h2::client::Builder::new();
        let handshake = builder.initial_window_size(0).handshake(near).await;
        let (requests, mut connection) = handshake.expect("a pipe connects");
        let mut requests = requests.ready().await.unwrap();
        // the server's settings arrive with the first response
        let call = requests.send_request(request(MEMORIZE), true).unwrap().0;
        tokio::select! {
            answered = call => drop(answered.unwrap()),
            ended = &mut connection => panic!("the connection ended: {ended:?}"),
        }
        let most_streams = connection.max_concurrent_send_streams();
        tokio::spawn(connection);
        Self { requests, most_streams }
    }

    async fn call(&self, path: &str) -> Call {
        let mut requests = self.requests.clone().ready().await.unwrap();
        let (response, body) = requests.send_request(request(path), false).unwrap();
        Call { body, response }
    }

    /// A call that sends one complete message.
    async fn ask(&self, path: &str, message: &impl Message) -> Call {
        let mut call = self.call(path).await;
        call.body.send_data(framed(message), true).unwrap();
        call
    }
}

impl Call {
    /// Its status, if that is the only response; otherwise the response.
    async fn answer(self) -> Result<Response<RecvStream>, Refused> {
        let response = self.response.await.unwrap();
        match Status::from_header_map(response.headers()) {
            Some(status) => Err(Refused::new(status)),
            None => Ok(response),
        }
    }

    async fn refusal(self) -> Refused {
        self.answer().await.expect_err("it is refused")
    }
}

fn request(path: &str) -> http::Request<()> {
    let request = http::Request::post(format!("http://utterd.test/{path}"));
    request.header("content-type", "application/grpc").header("te", "trailers").body(()).unwrap()
}

fn head(length: usize) -> Bytes {
    Bytes::from([&[0], &u32::try_from(length).unwrap().to_be_bytes()[..]].concat())
}

fn framed(message: &impl Message) -> Bytes {
    let message = message.encode_to_vec();
    Bytes::from([&head(message.len())[..], &message].concat())
}

#[tokio::test(start_paused = true)]
async fn what_is_announced_and_not_sent_keeps_nobody_waiting() {
    let session = Session::with(&Settings::default()).await;
    let client = Client::of(&session.server).await;
    let mut calls = Vec::new();
    for _ in 0..200 {
        let mut call = client.call(MEMORIZE).await;
        call.body.send_data(Bytes::from([&head(16 * MIB)[..], &[7]].concat()), false).unwrap();
        calls.push(call);
    }
    let begun = Instant::now();
    session.say(vec![user("hello")]).await;
    // not so long that it waits for its turn of long work, which other tests have too
    session.say(vec![user(&"long ".repeat(6_000))]).await;
    assert_eq!(begun.elapsed().as_secs(), 0);
    let mut late = 0;
    for call in calls {
        let refused = call.refusal().await;
        match refused.code() {
            Code::DeadlineExceeded => {
                refused.is(Code::DeadlineExceeded, "MESSAGE_LATE").says("10 seconds");
                late += 1;
            }
            _ => drop(refused.is(Code::ResourceExhausted, "MESSAGES_IN_FLIGHT").names_its_limit()),
        }
    }
    assert_eq!(late, 2, "two had room");
    assert!(begun.elapsed().as_secs() <= 15);
    // a paused clock would run ahead while this waits for its turn of long work
    tokio::time::resume();
    session.say(vec![user(&"long ".repeat(100_000))]).await;
}

#[tokio::test]
async fn what_is_announced_beyond_the_limit_is_refused_at_once() {
    let session = Session::new().await;
    let client = Client::of(&session.server).await;
    for path in [MEMORIZE, "utterd.v1.ConversationService/ImportConversation"] {
        let mut call = client.call(path).await;
        call.body.send_data(head(17 * MIB + 1), false).unwrap();
        call.refusal().await.is(Code::ResourceExhausted, "MESSAGE_TOO_LARGE").limits_to(17 * MIB);
    }
}

#[tokio::test]
async fn streams_of_a_connection_are_limited() {
    let session = Session::new().await;
    let client = Client::of(&session.server).await;
    assert_eq!(client.most_streams, 1_000);
}

#[tokio::test]
async fn metadata_is_limited() {
    let session = Session::new().await;
    let with = |bytes: usize| {
        let mut request = Request::new(memorize(vec![user("hi")]));
        request.metadata_mut().insert("x-trace", "x".repeat(bytes).parse().unwrap());
        request
    };
    session.memory().memorize(with(8_000)).await.reply();
    for bytes in [20_000, 60_000, 200_000] {
        let refused = Refused::new(session.memory().memorize(with(bytes)).await.unwrap_err());
        refused.is(Code::ResourceExhausted, "METADATA_TOO_LARGE").says("16384");
    }
}

/// A conversation whose list is a response of 2.5 MB.
async fn long_conversation(session: &Session) {
    session.say((0..10).map(|_| user(&"x".repeat(250_000))).collect()).await;
}

#[tokio::test]
async fn answers_that_are_not_read_are_bounded() {
    let session = Session::with(&Settings { max_tokens: 0, ..Settings::default() }).await;
    long_conversation(&session).await;
    let client = Client::of(&session.server).await;
    let list = ListUtterancesRequest::default();
    let (mut unread, mut refused) = (Vec::new(), 0);
    // one after another: many at once could be refused because they wait too long for a processor
    for _ in 0..20 {
        match client.ask(LIST, &list).await.answer().await {
            Ok(answer) => unread.push(answer),
            Err(refusal) => {
                refusal.is(Code::ResourceExhausted, "ANSWERS_UNREAD").names_its_limit();
                refused += 1;
            }
        }
    }
    assert!((12..=16).contains(&unread.len()), "{} answers of 2.5 MB within 38 MiB", unread.len());
    assert!(refused > 0);
    // another caller is served; so is this one, for writes and small responses
    assert_eq!(session.list(list.clone()).await.len(), 10);
    client.ask(MEMORIZE, &memorize(vec![user("hello")])).await.answer().await.unwrap();
    drop(unread);
    assert_eq!(client.ask(LIST, &list).await.answer().await.unwrap().status(), 200);
}

/// A stream whose responses are not read only accepts a limited amount.
#[tokio::test(start_paused = true)]
async fn a_stream_that_is_not_read_takes_no_more() {
    let session = Session::with(&Settings::default()).await;
    let client = Client::of(&session.server).await;
    let mut call = client.call("utterd.v1.MemoryService/MemorizeStream").await;
    let message = framed(&MemorizeStreamRequest {
        memorize: Some(memorize(vec![user("hello")])),
        ..Default::default()
    });
    call.body.send_data(message.repeat(400_000).into(), false).unwrap();
    let answers = call.answer().await.unwrap();
    // nothing is left to do
    tokio::time::sleep(Duration::from_secs(1)).await;
    let stored = session.capacity().await.revision;
    assert!((1..5_000).contains(&stored), "{stored} of 400,000 messages were taken in");
    drop(answers);
}

/// An import is not kept for ever.
#[tokio::test(start_paused = true)]
async fn an_import_that_pauses_is_late() {
    let session = Session::with(&Settings::default()).await;
    let client = Client::of(&session.server).await;
    let mut call = client.call("utterd.v1.ConversationService/ImportConversation").await;
    let header = Import::Header(ImportHeader::default());
    let first = framed(&ImportConversationRequest { message: Some(header) });
    call.body.send_data(first, false).unwrap();
    let begun = Instant::now();
    call.refusal().await.is(Code::DeadlineExceeded, "MESSAGE_LATE").says("60 seconds");
    assert_eq!(begun.elapsed().as_secs(), 60);
}

/// Parts of two bytes become structures of several hundred.
#[tokio::test]
async fn a_message_of_many_parts_is_refused() {
    let session = Session::new().await;
    let client = Client::of(&session.server).await;
    let many = memorize(vec![NewUtterance::default(); 200_000]);
    client
        .ask(MEMORIZE, &many)
        .await
        .refusal()
        .await
        .is(Code::ResourceExhausted, "MESSAGE_TOO_LARGE")
        .says("parts");
}
