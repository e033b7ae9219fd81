//! Ends, forks, deletions and compactions on one engine, while the other works.

use std::collections::BTreeSet;

use futures::{FutureExt, channel::oneshot, future::join_all};
use tokio::time::sleep;
use utterd::{proto::conversation_service_server::ConversationService, rpc::Services};

use super::{
    calls::{
        compact, contents, end, forget, fork, found, get, listed, memorize, not_got, reason, say, says_in,
        says_to, sequences, stored, summary, undo, up_to,
    },
    pair::Pair,
};
use crate::support::prelude::*;

/// How often races are tried.
const ROUNDS: usize = 20;
/// How long until a conversation is idle.
const IDLE: Duration = Duration::from_secs(30 * 60);

pub async fn a_conversation_that_was_left_ends_once(pair: &Pair) {
    for round in 0..ROUNDS {
        let recipient = format!("recipient {round}");
        let before = say(pair.at(round), says_to(&recipient, "hello")).await.conversation_id;
        pair.clock.advance(IDLE);
        let calls = (0..8).map(|writer| {
            let (services, request) = (pair.at(writer).clone(), says_to(&recipient, &writer.to_string()));
            tokio::spawn(async move { say(&services, request).await })
        });
        let (mut ids, mut started, mut ended) = (BTreeSet::new(), 0, 0);
        for call in join_all(calls).await {
            let reply = call.expect("the call ends");
            started += usize::from(reply.started_conversation);
            ended += usize::from(reply.ended_conversation_id == before);
            ids.insert(reply.conversation_id);
        }
        assert_eq!((ids.len(), started, ended), (1, 1, 1), "round {round}");
        let next = ids.pop_first().expect("an id");
        for services in [&pair.one, &pair.other] {
            assert_eq!(sequences(services, &before).await, [1]);
            assert_eq!(sequences(services, &next).await, up_to(8));
            assert_eq!(get(services, &before).await.status(), ConversationStatus::Closed);
        }
    }
}

pub async fn a_write_beside_a_rollover_is_before_or_after_it(pair: &Pair) {
    for round in 0..ROUNDS {
        let recipient = format!("recipient {round}");
        let before = say(pair.at(round), says_to(&recipient, "hello")).await.conversation_id;
        say(pair.at(round + 1), says_in(&before, "hello")).await;
        pair.clock.advance(IDLE);
        let (rolls, names) = (pair.at(round).clone(), pair.at(round + 1).clone());
        let (by_recipient, by_id) = (says_to(&recipient, "what now?"), says_in(&before, "wait"));
        let rolled = tokio::spawn(async move { say(&rolls, by_recipient).await });
        let named = tokio::spawn(async move { memorize(&names, by_id).await });
        let rolled = rolled.await.expect("the call ends");
        match named.await.expect("the call ends") {
            Ok(reply) => {
                let reply = reply.into_inner();
                assert_eq!((reply.conversation_id.as_str(), reply.revision), (before.as_str(), 3));
                assert_eq!((rolled.conversation_id.as_str(), rolled.revision), (before.as_str(), 4));
                assert_eq!(rolled.ended_conversation_id, "");
            }
            Err(status) => {
                assert_eq!(reason(&status), "CONVERSATION_CLOSED");
                assert_eq!((rolled.ended_conversation_id.as_str(), rolled.revision), (before.as_str(), 1));
            }
        }
        let both: BTreeSet<_> = [before.as_str(), &rolled.conversation_id].into();
        for services in [&pair.one, &pair.other] {
            assert_eq!(listed(services, &recipient).await.len(), both.len());
        }
    }
}

/// Checks that what is erased is on neither engine.
async fn expect_erased(pair: &Pair, ids: &[&str], word: &str) {
    for (services, id) in
        [&pair.one, &pair.other].into_iter().flat_map(|at| ids.iter().map(move |id| (at, id)))
    {
        assert_eq!(found(services, id, word).await, [0; 0], "{id}");
        let told = format!("{:?} {}", stored(services, id).await, summary(services, id).await);
        assert!(!told.contains(word), "{id}: {told}");
    }
}

pub async fn a_hard_forget_reaches_a_fork_of_the_other(pair: &Pair) {
    for content in ["to Oslo", "to Lisbon", "by train"] {
        say(&pair.one, says_in("parent", content)).await;
    }
    fork(&pair.one, "parent", "fork").await;
    say(&pair.one, says_in("fork", "or by ship")).await;
    for id in ["parent", "fork"] {
        assert_eq!(found(&pair.one, id, "Lisbon").await, [2]);
        assert_eq!(found(&pair.other, id, "Lisbon").await, [2]);
    }
    forget(&pair.other, "parent", "sequence:2", ForgetMode::Hard).await;
    expect_erased(pair, &["parent", "fork"], "Lisbon").await;
    assert_eq!(sequences(&pair.one, "fork").await, [1, 3, 4]);

    fork(&pair.other, "fork", "grandchild").await;
    forget(&pair.one, "grandchild", "sequence:1", ForgetMode::Hard).await;
    expect_erased(pair, &["parent", "fork", "grandchild"], "Oslo").await;
    assert_eq!(contents(&pair.other, "parent").await, ["by train"]);
}

/// What the one remembers of the parent is older than what the fork shares with it.
pub async fn a_hard_forget_reaches_what_the_other_said_before_a_fork(pair: &Pair) {
    say(&pair.one, says_in("parent", "to Oslo")).await;
    for content in ["by train", "to Lisbon"] {
        say(&pair.other, says_in("parent", content)).await;
    }
    fork(&pair.other, "parent", "fork").await;
    forget(&pair.one, "fork", "sequence:3", ForgetMode::Hard).await;
    expect_erased(pair, &["parent", "fork"], "Lisbon").await;
    assert_eq!(contents(&pair.one, "parent").await, ["to Oslo", "by train"]);
}

/// The other forks the parent when the one knows which conversations the forget reaches, and has asked once more.
pub async fn a_hard_forget_reaches_what_the_other_forks_meanwhile(pair: &Pair) {
    say(&pair.one, says_in("parent", "to Lisbon")).await;
    fork(&pair.one, "parent", "fork").await;
    let other = pair.other.clone();
    pair.store.beside_sharing(std::future::ready(()));
    pair.store.beside_sharing(async move {
        fork(&other, "parent", "another").await;
    });
    forget(&pair.one, "fork", "sequence:1", ForgetMode::Hard).await;
    expect_erased(pair, &["parent", "fork", "another"], "Lisbon").await;
}

pub async fn a_hard_forget_beside_a_fork_reaches_both(pair: &Pair) {
    for round in 0..ROUNDS {
        let (parent, child) = (format!("parent {round}"), format!("fork {round}"));
        for content in ["to Oslo", "to Lisbon", "by train"] {
            say(pair.at(round), says_in(&parent, content)).await;
        }
        let (forks, forgets) = (pair.at(round).clone(), pair.at(round + 1).clone());
        let ((of, to), from) = ((parent.clone(), child.clone()), parent.clone());
        let forked = tokio::spawn(async move { fork(&forks, &of, &to).await });
        let forgotten =
            tokio::spawn(async move { forget(&forgets, &from, "sequence:2", ForgetMode::Hard).await });
        forked.await.expect("the call ends");
        assert_eq!(forgotten.await.expect("the call ends").forgotten.len(), 1);
        expect_erased(pair, &[&parent, &child], "Lisbon").await;
        for services in [&pair.one, &pair.other] {
            assert_eq!(contents(services, &parent).await, ["to Oslo", "by train"]);
            assert_eq!(contents(services, &child).await, ["to Oslo", "by train"]);
        }
    }
}

/// The number of utterances removed with a conversation; `None` if it did not exist.
async fn delete(at: &Services, id: &str) -> Option<i32> {
    let request = DeleteConversationRequest { conversation_id: id.to_owned(), ..Default::default() };
    match at.delete_conversation(Request::new(request)).await {
        Ok(reply) => reply.into_inner().utterance_count,
        Err(status) => {
            assert_eq!(reason(&status), "CONVERSATION_NOT_FOUND");
            None
        }
    }
}

pub async fn a_deleted_conversation_starts_anew_on_the_other(pair: &Pair) {
    for round in 0..4 {
        let content = format!("the ship {round} sails to Lisbon");
        let first = say(pair.at(round), says_in("c", &content)).await;
        assert_eq!((first.revision, first.memorized[0].sequence), (1, 1));
        say(pair.at(round + 1), says_in("c", "and back")).await;
        assert_eq!(found(pair.at(round), "c", "Lisbon").await, [1]);
        assert_eq!(delete(pair.at(round), "c").await, Some(2));
        assert_eq!(not_got(pair.at(round + 1), "c").await, "CONVERSATION_NOT_FOUND");
        assert_eq!(delete(pair.at(round + 1), "c").await, None);
        let anew = say(pair.at(round + 1), says_in("c", "hello")).await;
        assert_eq!((anew.revision, anew.memorized[0].sequence), (1, 1));
        for services in [&pair.one, &pair.other] {
            assert_eq!(contents(services, "c").await, ["hello"]);
            assert_eq!(found(services, "c", "Lisbon").await, [0; 0]);
        }
        assert_eq!(delete(pair.at(round), "c").await, Some(1));
    }
}

/// A deletion that took effect, although its answer was lost, is not repeated on what came after it.
pub async fn what_the_other_says_behind_a_deletion_stays(pair: &Pair) {
    say(&pair.one, says_in("c", "before")).await;
    let other = pair.other.clone();
    pair.store.lose_an_answer(async move {
        say(&other, says_in("c", "after")).await;
    });
    assert_eq!(delete(&pair.one, "c").await, Some(1));
    for services in [&pair.one, &pair.other] {
        assert_eq!(get(services, "c").await.revision, 1);
        assert_eq!(contents(services, "c").await, ["after"]);
    }
}

/// Four ended conversations of the default recipient, ended one after another.
async fn four_ended(pair: &Pair) {
    for id in ["a", "b", "c", "d"] {
        say(&pair.one, says_in(id, "before")).await;
        pair.clock.advance(Duration::from_secs(1));
        end(&pair.one, id).await;
    }
}

/// One that was listed as ended, and is a new one when its turn comes.
pub async fn what_the_other_starts_anew_is_not_retired(pair: &Pair) {
    four_ended(pair).await;
    let other = pair.other.clone();
    pair.store.lose_an_answer(async move {
        assert_eq!(delete(&other, "b").await, Some(1));
        say(&other, says_in("b", "after")).await;
    });
    pair.engine.sweep().await.expect("the sweep is done");
    for services in [&pair.one, &pair.other] {
        assert_eq!(contents(services, "b").await, ["after"]);
        assert_eq!(not_got(services, "a").await, "CONVERSATION_NOT_FOUND");
        assert_eq!(get(services, "d").await.status(), ConversationStatus::Closed);
    }
}

/// What the other has already removed is skipped.
pub async fn what_is_beyond_retention_is_removed_once(pair: &Pair) {
    four_ended(pair).await;
    let other = pair.other.clone();
    pair.store.lose_an_answer(async move {
        assert_eq!(delete(&other, "b").await, Some(1));
    });
    pair.engine.sweep().await.expect("the sweep is done");
    for services in [&pair.one, &pair.other] {
        assert_eq!(listed(services, "").await, ["d"]);
    }
}

/// A conversation long enough to be compacted, written by both.
async fn long(pair: &Pair, id: &str) {
    for number in 1..=40 {
        let note = format!(
            "Note {number}: the pump of tank T-{number} failed in the night and was replaced on Monday. \
             Nobody saw why it stopped, and so the next one may stop as well."
        );
        say(pair.at(number), says_in(id, &note)).await;
    }
}

pub async fn a_compaction_is_undone_once(pair: &Pair) {
    long(pair, "c").await;
    let before = stored(&pair.one, "c").await;
    for round in 0..ROUNDS {
        compact(pair.at(round), "c", 15).await;
        let calls = (0..4).map(|number| {
            let services = pair.at(number).clone();
            tokio::spawn(async move { undo(&services, "c").await })
        });
        let mut undone = 0;
        for call in join_all(calls).await {
            match call.expect("the call ends") {
                Ok(_) => undone += 1,
                Err(status) => assert_eq!(reason(&status), "NOTHING_TO_UNDO"),
            }
        }
        assert_eq!(undone, 1, "round {round}");
        assert_eq!(stored(pair.at(round), "c").await, before);
    }
}

/// The other returns to the window what the one then looks for in the archive.
pub async fn a_hard_forget_reaches_what_the_other_returns_meanwhile(pair: &Pair) {
    long(pair, "c").await;
    compact(&pair.one, "c", 15).await;
    let other = pair.other.clone();
    pair.store.before_archive(async move {
        undo(&other, "c").await.expect("it is undone");
    });
    assert_eq!(forget(&pair.one, "c", "turn:1", ForgetMode::Hard).await.forgotten.len(), 1);
    expect_erased(pair, &["c"], "tank T-1 ").await;
}

/// The recipient moves on before what is said in the conversation that it leaves takes effect: that is no reason to
/// refuse what the recipient is told at the same time.
pub async fn what_a_recipient_left_refuses_nothing(pair: &Pair) {
    let to_ann_in = |id: &str| MemorizeRequest { conversation_id: id.to_owned(), ..says_to("ann", "hello") };
    say(&pair.one, to_ann_in("left")).await;
    say(&pair.one, to_ann_in("other")).await;
    let (queued, are_queued) = oneshot::channel::<()>();
    pair.store.before_commit(are_queued.map(drop));
    let other = pair.other.clone();
    pair.store.before_commit(async move {
        let (conversation_id, new_conversation_id) = ("other".to_owned(), "next".to_owned());
        let activates = ForkConversationRequest {
            conversation_id,
            new_conversation_id,
            activate: true,
            ..Default::default()
        };
        other.fork_conversation(Request::new(activates)).await.expect("it is forked");
    });
    let at_turn = |mut request: MemorizeRequest, turn| {
        request.utterances[0].turn_number = Some(turn);
        request
    };
    let requests = [
        says_in("left", "this commit waits"),
        at_turn(says_in("left", "much later"), 9),
        at_turn(says_to("ann", "soon"), 2),
    ];
    let mut calls = Vec::new();
    for request in requests {
        let services = pair.one.clone();
        calls.push(tokio::spawn(async move { say(&services, request).await.conversation_id }));
        sleep(Duration::from_millis(50)).await;
    }
    queued.send(()).expect("the commit waits");
    let ids = join_all(calls).await.into_iter().map(|id| id.expect("the call ends"));
    assert_eq!(ids.collect::<Vec<_>>(), ["left", "left", "next"]);
}
