//! MemorizeStream over a slow or failing store: what is handed over and answered, when and in which order.

use futures::{FutureExt, StreamExt};
use tokio::sync::mpsc;
use tokio_stream::wrappers::UnboundedReceiverStream;
use tonic::Streaming;
use utterd::proto::{memorize_stream_response::Result as Outcome, watch_events_response::Message};

use crate::support::prelude::*;

/// Maximum number of waiting messages of a stream.
const MOST: usize = 256;

/// A stream to which a test sends messages one by one.
struct Talk {
    requests: mpsc::UnboundedSender<MemorizeStreamRequest>,
    responses: Streaming<MemorizeStreamResponse>,
}

impl Talk {
    async fn start(session: &Session) -> Self {
        let (requests, messages) = mpsc::unbounded_channel();
        let messages = UnboundedReceiverStream::new(messages);
        Self { requests, responses: session.memory().memorize_stream(messages).await.reply() }
    }

    fn send(&self, request: MemorizeRequest) {
        self.requests.send(MemorizeStreamRequest { memorize: Some(request), ..Default::default() }).unwrap();
    }

    fn say(&self, texts: impl IntoIterator<Item = usize>) {
        texts.into_iter().for_each(|number| self.send(memorize(vec![user(&format!("message {number}"))])));
    }

    async fn next(&mut self) -> Result<MemorizeResponse, Refused> {
        let response = self.responses.next().await.expect("the stream goes on").unwrap();
        match response.result.unwrap() {
            Outcome::Memorized(response) => Ok(response),
            Outcome::Error(status) => {
                let details = prost::Message::encode_to_vec(&status);
                let code = Code::from_i32(status.code);
                Err(Refused::new(Status::with_details(code, status.message, details.into())))
            }
        }
    }

    /// The sequences that the next `count` messages got.
    async fn sequences(&mut self, count: usize) -> Vec<i64> {
        let mut sequences = Vec::new();
        for _ in 0..count {
            let response = self.next().await.unwrap_or_else(|_| panic!("a message was refused"));
            sequences.push(response.memorized[0].sequence);
        }
        sequences
    }

    async fn is_refused(&mut self) {
        let Err(refused) = self.next().await else { panic!("a message was not refused") };
        refused.is(Code::Unavailable, "STORE_UNAVAILABLE").says("the disk is gone");
    }

    fn is_silent(&mut self) -> bool {
        self.responses.next().now_or_never().is_none()
    }
}

async fn gated() -> (Session, Arc<Gate>) {
    let gate = Gate::new();
    let session = Session::over(gate.clone()).await;
    session.say(vec![user("stored")]).await;
    (session, gate)
}

/// What is stored, after what was there before the test.
async fn said(session: &Session) -> Vec<String> {
    let stored = session.stored().await;
    assert_eq!(sequences_of(&stored), (1..=stored.len() as i64).collect::<Vec<_>>());
    stored.into_iter().skip(1).map(|utterance| utterance.content).collect()
}

fn messages(numbers: impl IntoIterator<Item = usize>) -> Vec<String> {
    numbers.into_iter().map(|number| format!("message {number}")).collect()
}

/// The same for a large amount of messages.
async fn settle_long() {
    for _ in 0..20 {
        settle().await;
    }
}

#[tokio::test]
async fn messages_share_a_flush() {
    let (session, gate) = gated().await;
    gate.shut();
    let mut talk = Talk::start(&session).await;
    talk.say(0..30);
    gate.holds(1).await;
    settle().await;
    assert!(talk.is_silent(), "nothing is flushed");
    assert_eq!((session.capacity().await.revision, gate.held()), (1, 1));
    // first those that arrived together, then the others
    gate.release(1);
    settle().await;
    gate.open();
    assert_eq!(talk.sequences(30).await, (2..=31).collect::<Vec<_>>());
    assert_eq!(said(&session).await, messages(0..30));
}

#[tokio::test]
async fn several_conversations_share_a_flush() {
    let (session, gate) = gated().await;
    let to = |recipient: &str| MemorizeRequest {
        recipient_id: recipient.to_owned(),
        ..memorize(vec![user("hi")])
    };
    for recipient in ["ann", "bob", "cid"] {
        session.memory().memorize(to(recipient)).await.reply();
    }
    gate.shut();
    let mut talk = Talk::start(&session).await;
    for recipient in ["ann", "bob", "cid", "ann", "bob", "cid"] {
        talk.send(to(recipient));
    }
    gate.holds(3).await;
    settle().await;
    assert_eq!(gate.held(), 3, "one of each conversation");
    gate.open();
    assert_eq!(talk.sequences(6).await, [2, 2, 2, 3, 3, 3]);
}

/// After a failed message, the others are decided in order, before any later ones.
#[tokio::test]
async fn what_stands_behind_a_failure_keeps_its_order() {
    let (session, gate) = gated().await;
    gate.shut();
    let mut talk = Talk::start(&session).await;
    talk.say(0..10);
    gate.holds(1).await;
    settle().await;
    let first = gate.changes();
    gate.fail(1);
    gate.open();
    talk.say(10..15);
    for _ in 0..first {
        talk.is_refused().await;
    }
    assert_eq!(talk.sequences(15 - first).await, (2..=16 - first as i64).collect::<Vec<_>>());
    assert_eq!(said(&session).await, messages(first..15));
}

/// The first message repeats an attempt that is in flight elsewhere.
#[tokio::test]
async fn a_conflict_does_not_mix_the_order() {
    let (session, gate) = gated().await;
    gate.shut();
    let request = MemorizeRequest { request_id: "r".to_owned(), ..memorize(vec![user("once")]) };
    let mut first = Talk::start(&session).await;
    first.send(request.clone());
    gate.holds(1).await;
    let mut talk = Talk::start(&session).await;
    talk.send(request.clone());
    talk.say(1..5);
    talk.send(request);
    talk.say(5..8);
    settle().await;
    gate.open();
    talk.say(8..10);
    assert_eq!(first.sequences(1).await, [2]);
    let Ok(replayed) = talk.next().await else { panic!("the attempt was refused") };
    assert!(replayed.replayed && replayed.memorized[0].sequence == 2);
    assert_eq!(talk.sequences(4).await, [3, 4, 5, 6]);
    assert_eq!(talk.sequences(1).await, [2], "the attempt again");
    assert_eq!(talk.sequences(5).await, (7..=11).collect::<Vec<_>>());
    let said = said(&session).await;
    assert_eq!((&*said[0], &said[1..]), ("once", &messages(1..10)[..]));
}

/// A recipient's first message is committed before the next is decided: both go to one conversation.
#[tokio::test]
async fn a_start_is_waited_for() {
    let (session, gate) = gated().await;
    gate.shut();
    let to_ann = MemorizeRequest { recipient_id: "ann".to_owned(), ..memorize(vec![user("hi")]) };
    let mut talk = Talk::start(&session).await;
    for _ in 0..3 {
        talk.send(to_ann.clone());
    }
    gate.holds(1).await;
    settle().await;
    assert_eq!(gate.held(), 1);
    gate.release(1);
    gate.holds(1).await;
    gate.open();
    let (mut started, mut conversations) = (Vec::new(), Vec::new());
    for _ in 0..3 {
        let Ok(response) = talk.next().await else { panic!("a message was refused") };
        started.push(response.started_conversation);
        conversations.push(response.conversation_id);
    }
    assert_eq!(started, [true, false, false]);
    assert!(conversations.iter().all(|id| *id == conversations[0]));
}

#[tokio::test]
async fn no_more_than_the_bound_waits() {
    let (session, gate) = gated().await;
    gate.shut();
    let mut talk = Talk::start(&session).await;
    talk.say(0..MOST * 2);
    gate.holds(1).await;
    settle_long().await;
    assert!(gate.held() == 1 && gate.changes() <= MOST, "the others are not read yet");
    gate.release(1);
    gate.holds(1).await;
    assert!(gate.held() == 1 && gate.changes() <= MOST);
    gate.open();
    assert_eq!(talk.sequences(MOST * 2).await, (2..=MOST as i64 * 2 + 1).collect::<Vec<_>>());
}

/// Long messages count by their length.
#[tokio::test]
async fn no_more_than_some_text_waits() {
    let (session, gate) = gated().await;
    gate.shut();
    let mut talk = Talk::start(&session).await;
    let extras_json = format!(r#"{{"thinking":"{}"}}"#, "x".repeat(900_000));
    for _ in 0..12 {
        talk.send(memorize(vec![NewUtterance { extras_json: extras_json.clone(), ..user("long") }]));
    }
    gate.holds(1).await;
    settle_long().await;
    assert!(gate.changes() <= 5, "the fifth fills the 4 MiB");
    gate.open();
    assert_eq!(talk.sequences(12).await, (2..=13).collect::<Vec<_>>());
}

/// What was handed over is published, although nobody waits for a response.
#[tokio::test]
async fn a_stream_that_ends_loses_no_publication() {
    let (session, gate) = gated().await;
    let mut events = session.trace().watch_events(WatchEventsRequest::default()).await.reply();
    assert!(matches!(events.message().await.unwrap().unwrap().message, Some(Message::Started(_))));
    gate.shut();
    let talk = Talk::start(&session).await;
    talk.say(0..10);
    gate.holds(1).await;
    settle().await;
    drop(talk);
    settle().await;
    gate.open();
    let mut revisions = Vec::new();
    while revisions.last() != Some(&11) {
        let Some(Message::Event(event)) = events.message().await.unwrap().unwrap().message else {
            panic!("no event")
        };
        revisions.extend(event.revision);
    }
    assert_eq!(revisions, (2..=11).collect::<Vec<_>>());
    assert_eq!(said(&session).await, messages(0..10));
}
