//! Writes on both engines.

use std::{collections::BTreeSet, time::Duration};

use futures::future::join_all;
use utterd::{proto::MemorizeRequest, rpc::Services};

use super::{
    calls::{
        Reply, capacity, contents, listed, memorize, reason, say, says, says_in, says_to, sequences, up_to,
    },
    pair::Pair,
};

/// Writers per case, half of them on each engine.
const WRITERS: usize = 8;
/// Appends per writer.
const APPENDS: usize = 20;
/// How often races are tried.
const ROUNDS: usize = 20;
/// How long until a conversation is idle.
const IDLE: Duration = Duration::from_secs(30 * 60);

pub async fn what_both_say_at_once_is_stored_once(pair: &Pair) {
    let writers = (0..WRITERS).map(|writer| {
        let services = pair.at(writer).clone();
        tokio::spawn(async move {
            let mut told = Vec::new();
            for number in 0..APPENDS {
                let request = says_in("c", &format!("{writer}:{number}"));
                told.push(say(&services, request).await.memorized[0].sequence);
            }
            told
        })
    });
    let mut told = BTreeSet::new();
    for writer in join_all(writers).await {
        let sequences = writer.expect("the writer ends");
        assert!(sequences.is_sorted(), "{sequences:?}");
        told.extend(sequences);
    }
    assert_eq!(Vec::from_iter(told), up_to(WRITERS * APPENDS), "each was told its own sequence");
    for services in [&pair.one, &pair.other] {
        assert_eq!(sequences(services, "c").await, up_to(WRITERS * APPENDS));
        assert_eq!(capacity(services, "c").await.revision, (WRITERS * APPENDS) as i64);
        let mut next = [0; WRITERS];
        for content in contents(services, "c").await {
            let (writer, number) = content.split_once(':').expect("a writer's words");
            let (writer, number): (usize, usize) =
                (writer.parse().expect("a number"), number.parse().expect("a number"));
            assert_eq!(number, next[writer], "writer {writer}");
            next[writer] += 1;
        }
        assert_eq!(next, [APPENDS; WRITERS]);
    }
}

pub async fn a_request_that_is_repeated_on_the_other_replays(pair: &Pair) {
    for round in 0..4 {
        let request = MemorizeRequest { request_id: format!("round {round}"), ..says("once") };
        let first = say(pair.at(round), request.clone()).await;
        let again = say(pair.at(round + 1), request).await;
        assert!(!first.replayed && again.replayed);
        assert_eq!((&again.conversation_id, again.revision), (&first.conversation_id, first.revision));
        assert_eq!(again.memorized, first.memorized);
        assert_eq!(again.started_conversation, first.started_conversation);

        let other = MemorizeRequest { request_id: format!("round {round}"), ..says("twice") };
        assert_eq!(memorize(pair.at(round + 1), other).await.reason(), "REQUEST_ID_REUSED");
    }
    assert_eq!(sequences(&pair.other, "").await, up_to(4));
}

pub async fn a_request_that_is_sent_to_both_at_once_takes_effect_once(pair: &Pair) {
    for round in 0..ROUNDS {
        let request = MemorizeRequest { request_id: format!("round {round}"), ..says_to("ann", "once") };
        let calls = (0..4).map(|number| {
            let (services, request) = (pair.at(number).clone(), request.clone());
            tokio::spawn(async move { say(&services, request).await })
        });
        let replies: Vec<_> =
            join_all(calls).await.into_iter().map(|call| call.expect("the call ends")).collect();
        assert_eq!(replies.iter().filter(|reply| !reply.replayed).count(), 1, "round {round}: {replies:?}");
        let told: BTreeSet<_> = replies
            .iter()
            .map(|reply| (&reply.conversation_id, reply.revision, reply.memorized[0].sequence))
            .collect();
        assert_eq!(told.len(), 1, "all were told the same: {told:?}");
        assert_eq!(told.first().map(|told| told.1), Some(round as i64 + 1));
    }
}

pub async fn first_writers_start_one_conversation(pair: &Pair) {
    for round in 0..ROUNDS {
        let recipient = format!("recipient {round}");
        let calls = (0..WRITERS).map(|writer| {
            let (services, request) = (pair.at(writer).clone(), says_to(&recipient, &format!("{writer}")));
            tokio::spawn(async move { say(&services, request).await })
        });
        let (mut ids, mut started) = (BTreeSet::new(), 0);
        for call in join_all(calls).await {
            let reply = call.expect("the call ends");
            started += usize::from(reply.started_conversation);
            ids.insert(reply.conversation_id);
        }
        assert_eq!((ids.len(), started), (1, 1), "round {round}");
        let id = ids.pop_first().expect("an id");
        for services in [&pair.one, &pair.other] {
            assert_eq!(listed(services, &recipient).await, [id.as_str()]);
            assert_eq!(sequences(services, &id).await, up_to(WRITERS));
        }
    }
}

pub async fn one_of_those_who_expect_a_revision_gets_it(pair: &Pair) {
    say(&pair.one, says_in("c", "0")).await;
    for round in 1..=ROUNDS {
        let request =
            MemorizeRequest { expected_revision: Some(round as i64), ..says_in("c", &round.to_string()) };
        let calls = (0..4).map(|number| {
            let (services, request) = (pair.at(number).clone(), request.clone());
            tokio::spawn(async move { memorize(&services, request).await })
        });
        let mut written = 0;
        for call in join_all(calls).await {
            match call.expect("the call ends") {
                Ok(_) => written += 1,
                Err(status) => assert_eq!(reason(&status), "STALE_REVISION"),
            }
        }
        assert_eq!(written, 1, "round {round}");
    }
    assert_eq!(sequences(&pair.one, "c").await, up_to(ROUNDS + 1));
}

/// It reads what it needs in one call: the recipient's conversation, whether the attempt was made, and the
/// newest state. If the state is known, it asks nothing: the commit is refused if there is a newer one. One that
/// starts a recipient's conversation also asks for the policy of the one before.
pub async fn a_write_asks_the_store_at_most_once(pair: &Pair) {
    let questions = async |at: &Services, request: MemorizeRequest| {
        pair.store.questions();
        pair.others.questions();
        say(at, request).await;
        pair.store.questions() + pair.others.questions()
    };
    assert_eq!(questions(&pair.one, says_to("bob", "it starts")).await, 2);
    assert_eq!(questions(&pair.other, says_in("b", "it starts there")).await, 1);
    for _ in 0..4 {
        assert_eq!(questions(&pair.one, says_to("bob", "only here")).await, 0, "it is known");
        assert_eq!(questions(&pair.other, says_in("b", "only there")).await, 0, "it is known");
    }
    let asks_once = async |at: &Services, request: MemorizeRequest| {
        let asked = questions(at, request.clone()).await;
        assert!(asked <= 1, "a newer state is one question, not {asked}: {request:?}");
    };
    assert_eq!(questions(&pair.one, says_to("ann", "it starts")).await, 2);
    for round in 0..4 {
        asks_once(pair.at(round), says_to("ann", "it goes on")).await;
        asks_once(pair.at(round + 1), says_to("ann", "on the other")).await;
        asks_once(pair.at(round + 1), says_to("ann", "and there again")).await;
        let named = MemorizeRequest { request_id: format!("round {round}"), ..says_in("c", "by its name") };
        asks_once(pair.at(round), named).await;
    }
    pair.clock.advance(IDLE);
    asks_once(&pair.other, says_to("ann", "the next one starts")).await;
    asks_once(&pair.one, says_to("ann", "and goes on")).await;
    assert_eq!(listed(&pair.one, "ann").await.len(), 2);
    assert_eq!(sequences(&pair.one, "c").await, up_to(4));
}
