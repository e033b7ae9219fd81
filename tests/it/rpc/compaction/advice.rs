//! The advice to compact: where it is given, and who no longer gets it.

use std::sync::Arc;

use futures::{StreamExt, stream};
use utterd::{
    proto::{
        AnswerCompactionPromptRequest, AnswerCompactionPromptResponse, Capacity, CompactionAdvice,
        CompactionAnswer, CreateConversationRequest, GetCapacityInfoRequest, MemorizeRequest,
        MemorizeStreamRequest, WatchCapacityRequest, memorize_stream_response::Result as Outcome,
    },
    store::MemoryStore,
};

use super::{long, notes, unlimited};
use crate::support::session::{Reply, Session, calls, memorize, result, user};

fn at(threshold: i32, utterance_count: i32) -> Option<CompactionAdvice> {
    Some(CompactionAdvice {
        threshold: Some(threshold),
        utterance_count: Some(utterance_count),
        keep_recent: Some(15),
    })
}

async fn answer(
    session: &Session,
    answer: CompactionAnswer,
    session_id: &str,
) -> AnswerCompactionPromptResponse {
    let request = AnswerCompactionPromptRequest {
        answer: answer.into(),
        session_id: session_id.to_owned(),
        ..Default::default()
    };
    session.compactions().answer_compaction_prompt(request).await.reply()
}

/// The advice to a session from each call that returns a capacity. Says two utterances.
async fn told(session: &Session, session_id: &str) -> [Option<CompactionAdvice>; 4] {
    let session_id = session_id.to_owned();
    let say = MemorizeRequest { session_id: session_id.clone(), ..memorize(vec![user("And then?")]) };
    let said = session.memory().memorize(say.clone()).await.reply().capacity;
    let messages = stream::iter([MemorizeStreamRequest { memorize: Some(say), ..Default::default() }]);
    let streamed = session.memory().memorize_stream(messages).await.reply().next().await;
    let Some(Outcome::Memorized(streamed)) = streamed.unwrap().unwrap().result else { panic!("refused") };
    let get = GetCapacityInfoRequest { session_id: session_id.clone(), ..Default::default() };
    let got = session.memory().get_capacity_info(get).await.reply().capacity;
    let watch = WatchCapacityRequest { session_id, ..Default::default() };
    let mut watch = session.memory().watch_capacity(watch).await.reply();
    let watched = watch.message().await.unwrap().unwrap().capacity;
    [said, streamed.capacity, got, watched].map(|capacity| capacity.unwrap().compaction_advice)
}

#[tokio::test]
async fn every_call_that_tells_a_capacity_tells_the_advice() {
    let session = long(47).await;
    assert_eq!(told(&session, "").await, [None; 4]);
    assert_eq!(told(&session, "").await, [at(50, 50), at(50, 51), at(50, 51), at(50, 51)]);
    session.say(notes(52..=58)).await;
    assert_eq!(told(&session, "tui").await, [at(50, 59), at(60, 60), at(60, 60), at(60, 60)]);
}

#[tokio::test]
async fn a_session_that_wants_none_gets_none_and_others_do() {
    let session = long(60).await;
    let answered = answer(&session, CompactionAnswer::NeverThisSession, "tui").await;
    assert_eq!((answered.revision, answered.compaction), (2, None));
    assert_eq!(answered.capacity.unwrap().compaction_advice, None);
    assert_eq!(told(&session, "tui").await, [None; 4]);
    assert_eq!(told(&session, "web").await, [at(60, 63), at(60, 64), at(60, 64), at(60, 64)]);
    assert_eq!(told(&session, "").await, [at(60, 65), at(60, 66), at(60, 66), at(60, 66)]);
}

#[tokio::test]
async fn without_a_session_nobody_gets_any_of_that_conversation() {
    let session = long(60).await;
    answer(&session, CompactionAnswer::NeverThisSession, "").await;
    for session_id in ["", "tui", "web"] {
        assert_eq!(told(&session, session_id).await, [None; 4]);
    }
    let other = CreateConversationRequest {
        recipient_id: "ann".to_owned(),
        policy: Some(unlimited()),
        ..Default::default()
    };
    session.conversations().create_conversation(other).await.reply();
    let say = MemorizeRequest { recipient_id: "ann".to_owned(), ..memorize(notes(1..=50)) };
    let capacity = session.memory().memorize(say).await.reply().capacity.unwrap();
    assert_eq!(capacity.compaction_advice, at(50, 50));
}

/// A session without a name lasts as long as the server's run.
#[tokio::test]
async fn the_next_run_of_the_server_advises_again() {
    let store = Arc::new(MemoryStore::new(0));
    let first = Session::over(store.clone()).await;
    first.create_with(unlimited()).await;
    first.say(notes(1..=60)).await;
    answer(&first, CompactionAnswer::NeverThisSession, "").await;
    assert_eq!(first.capacity().await.compaction_advice, None);
    let second = Session::over(store).await;
    assert_eq!(second.capacity().await.compaction_advice, at(60, 60));
}

#[tokio::test]
async fn not_now_holds_until_the_next_ten() {
    let session = long(52).await;
    let before = session.capacity().await;
    assert_eq!(before.compaction_advice, at(50, 52));
    let answered = answer(&session, CompactionAnswer::NotNow, "").await;
    assert_eq!(answered.revision, before.revision + 1);
    assert_eq!(answered.capacity.unwrap().compaction_advice, None);
    let again = answer(&session, CompactionAnswer::NotNow, "").await;
    assert_eq!(again.revision, before.revision + 1, "none stood, and nothing changed");
    let nine = session.say(notes(53..=59)).await.capacity.unwrap();
    assert_eq!(nine.compaction_advice, None);
    assert_eq!(session.say(notes(60..=60)).await.capacity.unwrap().compaction_advice, at(60, 60));
}

#[tokio::test]
async fn a_watch_sees_the_advice_come_and_go() {
    let session = long(48).await;
    let mut watch = session.memory().watch_capacity(WatchCapacityRequest::default()).await.reply();
    let mut next = async || -> Capacity { watch.message().await.unwrap().unwrap().capacity.unwrap() };
    assert_eq!(next().await.compaction_advice, None);
    session.say(vec![user("Where is T-7?"), calls(&["a"])]).await;
    let amid = next().await;
    assert_eq!((amid.utterance_count, amid.compaction_advice), (Some(50), None), "an exchange is open");
    session.say(vec![result("a", "in the hall")]).await;
    assert_eq!(next().await.compaction_advice, at(50, 51));
    answer(&session, CompactionAnswer::CompactNow, "").await;
    let after = next().await;
    assert_eq!((after.utterance_count, after.compaction_advice), (Some(15), None));
}
