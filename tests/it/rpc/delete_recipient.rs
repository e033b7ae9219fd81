//! DeleteRecipient: everything of a recipient, everywhere.

use crate::support::prelude::*;

async fn say(session: &Session, conversation: &str, recipient: &str, text: &str) -> MemorizeResponse {
    let request = MemorizeRequest {
        conversation_id: conversation.to_owned(),
        recipient_id: recipient.to_owned(),
        ..memorize(vec![user(text)])
    };
    session.memory().memorize(request).await.reply()
}

async fn listed(session: &Session, recipient: &str) -> Vec<String> {
    let request = ListConversationsRequest { recipient_id: recipient.to_owned(), ..Default::default() };
    let listed = session.conversations().list_conversations(request).await.reply();
    listed.conversations.into_iter().map(|conversation| conversation.conversation_id).collect()
}

fn all_of(recipient: &str) -> DeleteRecipientRequest {
    DeleteRecipientRequest { recipient_id: recipient.to_owned() }
}

on_each_store! {
    nothing_of_a_recipient_is_left
    writers_meanwhile_start_anew_or_go
}

#[tokio::test]
async fn nothing_of_a_recipient_is_left() {
    let session = Session::new().await;
    let active = say(&session, "", "ann", "the whale is blue").await.conversation_id;
    for number in 0..300 {
        say(&session, &format!("c{number}"), "ann", "another whale").await;
    }
    for number in 0..30 {
        say(&session, "long", "ann", &format!("whale number {number}")).await;
    }
    say(&session, "bobs", "bob", "the whale is white").await;

    let removed = session.conversations().delete_recipient(all_of("ann")).await.reply();
    assert_eq!((removed.conversation_count(), removed.utterance_count()), (302, 331));
    assert!(listed(&session, "ann").await.is_empty());
    for id in [active.as_str(), "c0", "c299", "long"] {
        let request = GetConversationRequest { conversation_id: id.to_owned(), ..Default::default() };
        let gone = session.conversations().get_conversation(request).await.refusal();
        gone.is(Code::NotFound, "CONVERSATION_NOT_FOUND");
    }
    let search = |recipient: &str| RememberRequest {
        recipient_id: recipient.to_owned(),
        prompt: "whale".to_owned(),
        scope: RememberScope::Recipient.into(),
        ..Default::default()
    };
    assert!(session.memory().remember(search("ann")).await.reply().matches.is_empty());

    assert_eq!(listed(&session, "bob").await, ["bobs"]);
    assert_eq!(session.memory().remember(search("bob")).await.reply().matches.len(), 1);

    let again = session.conversations().delete_recipient(all_of("ann")).await.reply();
    assert_eq!((again.conversation_count(), again.utterance_count()), (0, 0));
    let fresh = say(&session, "", "ann", "hello").await;
    assert!(fresh.started_conversation && fresh.conversation_id != active);
    assert_eq!(fresh.capacity.expect("a capacity").utterance_count(), 1);
}

/// Whoever writes meanwhile: everything acknowledged before the call finds nothing more to remove is removed,
/// and no conversation is left in part.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn writers_meanwhile_start_anew_or_go() {
    let session = Session::new().await;
    say(&session, "", "ann", "first").await;
    let writers = (0..8).map(|writer| {
        let mut memory = session.memory();
        tokio::spawn(async move {
            for number in 0..20 {
                let text = format!("{writer} says {number}");
                let request =
                    MemorizeRequest { recipient_id: "ann".to_owned(), ..memorize(vec![user(&text)]) };
                memory.memorize(request).await.reply();
            }
        })
    });
    let writers: Vec<_> = writers.collect();
    let mut removed = 0;
    for _ in 0..5 {
        removed += session.conversations().delete_recipient(all_of("ann")).await.reply().utterance_count();
    }
    for writer in writers {
        writer.await.unwrap();
    }
    removed += session.conversations().delete_recipient(all_of("ann")).await.reply().utterance_count();
    assert_eq!(removed, 1 + 8 * 20, "each utterance was removed once");
    assert!(listed(&session, "ann").await.is_empty());
}
