//! MemorizeStream: one response per message, in order; an error does not end the stream.

use futures::{StreamExt, stream};
use utterd::proto::memorize_stream_response::Result as Outcome;

use crate::support::prelude::*;

fn message(request: MemorizeRequest) -> MemorizeStreamRequest {
    MemorizeStreamRequest { memorize: Some(request), combine_responses: false }
}

async fn answers(session: &Session, messages: Vec<MemorizeStreamRequest>) -> Vec<Outcome> {
    let responses = session.memory().memorize_stream(stream::iter(messages)).await.reply();
    let outcome = |response: Result<MemorizeStreamResponse, Status>| response.unwrap().result.unwrap();
    responses.map(outcome).collect().await
}

/// How many messages each response answers, and its outcome.
async fn combined(session: &Session, requests: Vec<(MemorizeRequest, bool)>) -> Vec<(usize, Outcome)> {
    let message =
        |(memorize, combine_responses)| MemorizeStreamRequest { memorize: Some(memorize), combine_responses };
    let messages = stream::iter(requests.into_iter().map(message));
    let responses = session.memory().memorize_stream(messages).await.reply();
    let counted = |response: Result<MemorizeStreamResponse, Status>| {
        let response = response.unwrap();
        (response.answered_count as usize, response.result.unwrap())
    };
    responses.map(counted).collect().await
}

/// The status in a message, in the form that tests use.
fn refused(outcome: &Outcome) -> Refused {
    let Outcome::Error(status) = outcome else { panic!("not refused: {outcome:?}") };
    let details = prost::Message::encode_to_vec(status);
    Refused::new(Status::with_details(Code::from_i32(status.code), status.message.clone(), details.into()))
}

#[tokio::test]
async fn answers_come_in_order() {
    let session = Session::new().await;
    let messages = (1..=100).map(|number| message(memorize(vec![user(&format!("message {number}"))])));
    let outcomes = answers(&session, messages.collect()).await;
    assert_eq!(outcomes.len(), 100);
    for (outcome, sequence) in outcomes.iter().zip(1..) {
        let Outcome::Memorized(response) = outcome else { panic!("refused: {outcome:?}") };
        assert_eq!((response.memorized[0].sequence, response.revision), (sequence, sequence));
    }
    assert_eq!(session.stored().await.len(), 100);
}

#[tokio::test]
async fn an_error_answers_its_own_message() {
    let session = Session::new().await;
    let to = |recipient: &str| MemorizeRequest {
        recipient_id: recipient.to_owned(),
        ..memorize(vec![user("hi")])
    };
    let outcomes = answers(
        &session,
        vec![
            message(to("ann")),
            message(memorize(vec![user("")])),
            MemorizeStreamRequest::default(),
            message(MemorizeRequest { expected_revision: Some(7), ..to("ann") }),
            message(to("bob")),
            message(to("ann")),
        ],
    )
    .await;
    assert_eq!(outcomes.len(), 6);
    refused(&outcomes[1]).is(Code::InvalidArgument, "EMPTY_UTTERANCE").blames("utterances[0].content");
    refused(&outcomes[2]).is(Code::InvalidArgument, "INVALID_FIELD").blames("memorize").says("is missing");
    refused(&outcomes[3]).is(Code::Aborted, "STALE_REVISION");
    for (place, revision) in [(0, 1), (4, 1), (5, 2)] {
        let Outcome::Memorized(response) = &outcomes[place] else { panic!("refused") };
        assert_eq!(response.revision, revision);
    }
}

#[tokio::test]
async fn request_ids_hold_within_a_stream_and_outside() {
    let session = Session::new().await;
    let request = MemorizeRequest { request_id: "r".to_owned(), ..memorize(vec![user("hello")]) };
    session.memory().memorize(request.clone()).await.reply();
    let outcomes = answers(&session, vec![message(request.clone()), message(request)]).await;
    for outcome in outcomes {
        let Outcome::Memorized(response) = outcome else { panic!("refused: {outcome:?}") };
        assert!(response.replayed && response.revision == 1);
    }
    assert!(answers(&session, Vec::new()).await.is_empty(), "an empty stream is a stream");
}

#[tokio::test]
async fn a_response_answers_all_messages_since_the_last_one() {
    let session = Session::new().await;
    let requests =
        (1..=100).map(|number| (memorize(vec![user(&format!("message {number}"))]), true)).collect();
    let responses = combined(&session, requests).await;
    assert!(responses.len() < 100, "{} responses", responses.len());
    let mut answered = 0;
    for (count, outcome) in responses {
        answered += count;
        let Outcome::Memorized(last) = outcome else { panic!("refused: {outcome:?}") };
        assert_eq!(last.memorized[0].sequence as usize, answered);
    }
    assert_eq!(answered, 100);
    assert_eq!(session.stored().await.len(), 100);
}

#[tokio::test]
async fn an_error_and_what_asks_for_its_own_response_are_not_combined() {
    let session = Session::new().await;
    let say = |text: &str, combines| (memorize(vec![user(text)]), combines);
    let requests =
        vec![say("a", true), say("b", true), say("", true), say("c", true), say("d", false), say("e", true)];
    let responses = combined(&session, requests).await;
    let mut places = Vec::new();
    let mut answered = 0;
    for (count, outcome) in &responses {
        answered += count;
        match outcome {
            Outcome::Error(_) => places.push((answered, *count)),
            Outcome::Memorized(last) if answered == 5 => {
                assert_eq!((last.memorized[0].sequence, *count), (4, 1));
            }
            Outcome::Memorized(_) => {}
        }
    }
    assert_eq!((answered, places), (6, vec![(3, 1)]));
}
