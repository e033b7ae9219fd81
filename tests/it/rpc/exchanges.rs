//! Exchanges: calls and their results stay together, paired in order.

use tonic::Code;
use utterd::proto::Policy;

use crate::support::session::{
    Reply, Session, assistant, calls, memorize, result, sequences, sequences_of, user,
};

#[tokio::test]
async fn parallel_calls_are_answered_in_any_order() {
    let session = Session::new().await;
    session.say(vec![user("go"), calls(&["a", "b", "c"]), result("c", "3"), result("a", "1")]).await;
    let refused = session.memory().memorize(memorize(vec![result("a", "again")])).await.refusal();
    refused.is(Code::FailedPrecondition, "NO_OPEN_CALL").says("open calls are [\"b\"]");
    session.say(vec![result("b", "2")]).await;
    let refused = session.memory().memorize(memorize(vec![result("b", "again")])).await.refusal();
    refused.is(Code::FailedPrecondition, "NO_OPEN_CALL").says("no call is open");
}

/// Real transcripts reuse ids: a result answers the open call.
#[tokio::test]
async fn ids_may_recur() {
    let session = Session::new().await;
    for _ in 0..3 {
        session.say(vec![user("go"), calls(&["a"]), result("a", "1"), assistant("done")]).await;
    }
    assert_eq!(session.forget("sequence:7", utterd::proto::ForgetMode::Soft).await.forgotten.len(), 2);
    assert_eq!(sequences_of(&session.window().await), [1, 2, 3, 4, 5, 8, 9, 10, 11, 12]);
}

/// An exchange leaves the window as a whole, later than its size would require.
#[tokio::test]
async fn an_exchange_leaves_whole() {
    let session = Session::new().await;
    let many: Vec<_> = (0..7).map(|number| number.to_string()).collect();
    let ids: Vec<&str> = many.iter().map(String::as_str).collect();
    session.say(vec![user("go"), calls(&ids)]).await;
    session.say(ids.iter().map(|id| result(id, "fine")).collect()).await;
    session.say_many(11).await;
    let response = session.say(vec![user("the 21st")]).await;
    assert_eq!(sequences(&response.evicted), (1..=9).collect::<Vec<_>>());
    assert_eq!(session.window().await.len(), 12);
}

/// What is said within an open exchange belongs to it, until a user utterance abandons it.
#[tokio::test]
async fn an_open_exchange_holds_what_comes_between() {
    let session = Session::new().await;
    session
        .say(vec![user("go"), calls(&["a"]), assistant("one moment"), calls(&["b"]), result("b", "2")])
        .await;
    session.say(vec![result("a", "1")]).await;
    let forgotten = session.forget("sequence:4", utterd::proto::ForgetMode::Hard).await;
    assert_eq!(sequences(&forgotten.forgotten), [2, 3, 4, 5, 6]);
    let session = Session::new().await;
    session.say(vec![user("go"), calls(&["a"]), user("never mind"), result("a", "late")]).await;
    let forgotten = session.forget("sequence:4", utterd::proto::ForgetMode::Hard).await;
    assert_eq!(sequences(&forgotten.forgotten), [4]);
}

/// A result is never in the window without its call, however narrow the window is.
#[tokio::test]
async fn no_result_stands_without_its_call() {
    let session = Session::new().await;
    session
        .create_with(Policy { max_utterances: Some(4), keep_utterances: Some(1), ..Default::default() })
        .await;
    for round in 0..30 {
        let mut said = vec![user("go")];
        let ids: Vec<_> = (0..round % 4).map(|number| format!("{round}-{number}")).collect();
        let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
        if !ids.is_empty() {
            said.push(calls(&ids));
            said.extend(ids.iter().rev().map(|id| result(id, "fine")));
        }
        for utterance in said {
            session.say(vec![utterance]).await;
            let window = session.window().await;
            let called: Vec<_> = window.iter().flat_map(|one| &one.tool_calls).map(|call| &call.id).collect();
            let answered = window.iter().filter(|one| !one.tool_call_id.is_empty());
            assert!(answered.into_iter().all(|one| called.contains(&&one.tool_call_id)), "round {round}");
        }
    }
}
