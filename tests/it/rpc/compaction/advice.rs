//! The advice to compact: where it is given, and who no longer gets it.

use futures::{StreamExt, stream};
use utterd::proto::memorize_stream_response::Result as Outcome;

use super::{long, notes, unlimited};
use crate::support::prelude::*;

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
