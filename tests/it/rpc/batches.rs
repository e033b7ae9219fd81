//! A batch is stored as a whole, or not at all.

use tonic::Code;
use utterd::proto::{GetCapacityInfoRequest, MemorizeRequest, NewUtterance, Policy};

use crate::support::session::{Reply, Session, assistant, calls, memorize, result, sequences, user};

#[tokio::test]
async fn a_batch_is_stored_in_order_by_one_change() {
    let session = Session::new().await;
    let response = session.say(vec![user("one"), assistant("two"), user("three")]).await;
    assert_eq!(sequences(&response.memorized), [1, 2, 3]);
    let positions: Vec<_> = response.memorized.iter().map(|utterance| utterance.position).collect();
    assert_eq!(positions, [Some(1), Some(2), Some(3)]);
    let turns: Vec<_> = response.memorized.iter().map(|utterance| utterance.turn_number).collect();
    assert_eq!(turns, [Some(1), Some(1), Some(2)]);
    assert_eq!(response.revision, 1);
    let stored: Vec<_> = session.window().await.into_iter().map(|utterance| utterance.content).collect();
    assert_eq!(stored, ["one", "two", "three"]);
}

/// Whichever of its utterances is bad, none is stored, even if the others would have evicted.
#[tokio::test]
async fn one_bad_utterance_refuses_its_batch() {
    let session = Session::new().await;
    session.say_many(20).await;
    let before = session.cursor();
    use Code::{FailedPrecondition, InvalidArgument};
    let bad: [(NewUtterance, Code, &str); 4] = [
        (user(""), InvalidArgument, "EMPTY_UTTERANCE"),
        (result("a", "no call"), FailedPrecondition, "NO_OPEN_CALL"),
        (NewUtterance { turn_number: Some(3), ..user("back") }, FailedPrecondition, "TURN_GOES_BACK"),
        (NewUtterance { role: 0, ..user("nobody") }, InvalidArgument, "UNKNOWN_ROLE"),
    ];
    for place in [0, 4, 9] {
        for (utterance, code, reason) in &bad {
            let mut utterances = vec![user("fine"); 10];
            utterances[place] = utterance.clone();
            let refused = session.memory().memorize(memorize(utterances)).await.refusal();
            let refused = refused.is(*code, reason);
            assert!(refused.message().starts_with(&format!("utterances[{place}].")), "{refused:?}");
        }
    }
    assert_eq!(session.cursor(), before);
    assert_eq!(session.capacity().await.revision, 20);
    assert_eq!(session.window().await.len(), 20);
}

#[tokio::test]
async fn the_largest_batch_is_stored() {
    let session = Session::new().await;
    let response = session.say(vec![user("again"); 1_000]).await;
    assert_eq!(response.memorized.len(), 1_000);
    assert_eq!(response.evicted.len(), 984);
    assert_eq!(response.memorized[0].position, None, "it has left the window already");
    assert_eq!(response.memorized[999].position, Some(16));
    assert_eq!(session.stored().await.len(), 1_000);
}

#[tokio::test]
async fn ids_are_unique_in_a_conversation() {
    let session = Session::new().await;
    let named = |id: &str| NewUtterance { utterance_id: id.to_owned(), ..user("hello") };
    session.say(vec![named("first")]).await;
    session.say_many(20).await;
    session.say(vec![named("last")]).await;
    let before = session.cursor();
    for (batch, taken) in [
        (vec![named("last")], "utterances[0].utterance_id"),
        (vec![named("new"), named("first")], "utterances[1].utterance_id"),
        (vec![named("new"), user("between"), named("new")], "utterances[2].utterance_id"),
    ] {
        let refused = session.memory().memorize(memorize(batch)).await.refusal();
        refused.is(Code::AlreadyExists, "UTTERANCE_EXISTS").blames(taken).says("already");
    }
    let assigned = session.say(vec![user("the server names it")]).await.memorized[0].utterance_id.clone();
    let (prefix, _) = assigned.rsplit_once('-').expect("an id with a sequence");
    let forged = named(&format!("{prefix}-999"));
    let refused = session.memory().memorize(memorize(vec![forged])).await.refusal();
    refused.is(Code::InvalidArgument, "INVALID_ID").blames("utterances[0].utterance_id");
    assert_ne!(session.cursor(), before, "only the good one was stored");
    let elsewhere = MemorizeRequest { recipient_id: "ann".to_owned(), ..memorize(vec![named("last")]) };
    session.memory().memorize(elsewhere).await.reply();
}

#[tokio::test]
async fn an_oversize_exchange_refuses_its_batch() {
    let session = Session::new().await;
    session.say(vec![user("hello")]).await;
    let reject = Policy { max_tokens: Some(40), oversize: 2, ..Default::default() };
    session.update_policy(reject).await;
    let before = session.cursor();
    let large = "one two three four five six seven eight nine ten ".repeat(2);
    let batch = vec![user("go"), calls(&["a", "b"]), result("a", &large), result("b", &large)];
    let refused = session.memory().memorize(memorize(batch)).await.refusal();
    refused
        .is(Code::FailedPrecondition, "OVERSIZE")
        .blames("utterances[3].content")
        .says("the policy rejects more than 40");
    assert_eq!(session.cursor(), before);
    assert_eq!(session.window().await.len(), 1);
    let fits = vec![user("go"), calls(&["a"]), result("a", "fine")];
    session.memory().memorize(memorize(fits)).await.reply();
    let kept = session.capacity().await;
    assert_eq!((kept.utterance_count, kept.over_limit), (Some(4), Some(false)));
    let unknown = GetCapacityInfoRequest { conversation_id: "else".to_owned(), ..Default::default() };
    session.memory().get_capacity_info(unknown).await.refusal().is(Code::NotFound, "CONVERSATION_NOT_FOUND");
}
