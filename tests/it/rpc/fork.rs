//! ForkConversation: a new conversation that starts with what was said in another.

use crate::support::prelude::*;

fn named(id: &str) -> ForkConversationRequest {
    ForkConversationRequest { new_conversation_id: id.to_owned(), ..Default::default() }
}

async fn forked(session: &Session, request: ForkConversationRequest) -> ForkConversationResponse {
    session.conversations().fork_conversation(request).await.reply()
}

fn contents(utterances: &[Utterance]) -> Vec<&str> {
    utterances.iter().map(|utterance| utterance.content.as_str()).collect()
}

on_each_store! {
    a_hard_forget_reaches_every_fork
    forks_and_writers_at_once
}

/// Wherever it is requested, a hard forget reaches all that share the utterance, including their later
/// versions of it.
#[tokio::test]
async fn a_hard_forget_reaches_every_fork() {
    let session = Session::new().await;
    let parent = session.say(vec![user("My PIN is 9876."), user("hello")]).await.conversation_id;
    session.say_many(30).await;
    forked(&session, named("fork")).await;
    let grandchild = ForkConversationRequest { conversation_id: "fork".to_owned(), ..named("grandchild") };
    forked(&session, grandchild).await;
    forked(&session, ForkConversationRequest { at_sequence: Some(1), ..named("early") }).await;
    let edit = UpdateUtteranceRequest {
        conversation_id: "fork".to_owned(),
        utterance_id: session.stored_in(&parent).await[0].utterance_id.clone(),
        content: "My PIN is 9876, I think.".to_owned(),
        update_mask: mask(&["content"]),
        ..Default::default()
    };
    session.conversations().update_utterance(edit).await.reply();
    session.forget_in("grandchild", "sequence:1-2", ForgetMode::Hard).await;
    for id in [&parent, "fork", "grandchild", "early"] {
        let left = session.stored_in(id).await;
        assert!(left.iter().all(|utterance| utterance.sequence > 2), "{id}: {:?}", contents(&left));
        let request = GetSummaryRequest { conversation_id: id.to_owned(), ..Default::default() };
        let summary = session.conversations().get_summary(request).await.reply();
        assert!(!summary.text.contains("9876"), "{id}: {}", summary.text);
        let covers: Vec<_> = summary.segments.iter().flat_map(|segment| ranges(&segment.covers)).collect();
        assert!(covers.iter().all(|(first, _)| *first > 2), "{id}: {covers:?}");
    }
    assert_eq!(session.get("early").await.utterance_count, Some(0));
    let own = session.say_in("fork", vec![user("only mine")]).await.memorized[0].sequence;
    let theirs = session.say_in(&parent, vec![user("only theirs")]).await.memorized[0].sequence;
    assert_eq!(own, theirs);
    session.forget_in("fork", &format!("sequence:{own}"), ForgetMode::Hard).await;
    assert_eq!(session.stored_in(&parent).await.last().unwrap().content, "only theirs");
}

/// Many concurrent forks, while everything else goes on: each is whole up to its point.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn forks_and_writers_at_once() {
    let session = Session::new().await;
    let parent = session.say(vec![user("first")]).await.conversation_id;
    let forks = (0..20).map(|n| {
        let (mut conversations, conversation_id) = (session.conversations(), parent.clone());
        async move {
            let request = ForkConversationRequest { conversation_id, ..named(&format!("fork {n}")) };
            conversations.fork_conversation(request).await.reply();
        }
    });
    let writers = (0..20).map(|n| {
        let (mut memory, conversation_id) = (session.memory(), parent.clone());
        async move {
            let request = MemorizeRequest { conversation_id, ..memorize(vec![user(&format!("more {n}"))]) };
            memory.memorize(request).await.reply();
        }
    });
    let forgets = async {
        session.forget_in(&parent, "sequence:1", ForgetMode::Hard).await;
    };
    let everything =
        futures::future::join(futures::future::join_all(forks), futures::future::join_all(writers));
    futures::future::join(everything, forgets).await;
    let said = session.stored_in(&parent).await;
    assert_eq!(sequences_of(&said), (2..=21).collect::<Vec<_>>());
    let points = session.get(&parent).await.forks;
    assert_eq!(points.len(), 20);
    for point in points {
        let fork = session.stored_in(&point.conversation_id).await;
        assert_eq!(contents(&fork), contents(&said[..fork.len()]));
        assert_eq!(fork.len() as i64, point.sequence() - 1, "all but what was forgotten");
    }
}
