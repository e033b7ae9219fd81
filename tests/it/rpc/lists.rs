//! Lists of the conversations of every recipient, by id prefix, in each order.

use std::time::Duration;

use tonic::Code;
use utterd::proto::{ConversationOrder, ListConversationsRequest, MemorizeRequest};

use crate::support::session::{Reply, Session, memorize, user};

on_each_store! {
    every_recipients_conversations_are_listed
    a_list_stays_right_while_conversations_change
}

/// Every recipient's conversations, in pages, in each order.
#[tokio::test]
async fn every_recipients_conversations_are_listed() {
    let session = Session::new().await;
    for number in [0, 1, 2, 3, 4, 1, 0] {
        say(&session, &format!("c{number}"), &format!("of {}", number % 3)).await;
        session.clock.advance(Duration::from_secs(90));
    }
    for (order, expected) in [
        (ConversationOrder::Unspecified, ["c4", "c3", "c2", "c1", "c0"]),
        (ConversationOrder::NewestStart, ["c4", "c3", "c2", "c1", "c0"]),
        (ConversationOrder::OldestStart, ["c0", "c1", "c2", "c3", "c4"]),
        (ConversationOrder::NewestUpdate, ["c0", "c1", "c4", "c3", "c2"]),
        (ConversationOrder::OldestUpdate, ["c2", "c3", "c4", "c1", "c0"]),
    ] {
        for page_size in [0, 1, 2, 5] {
            let request = ListConversationsRequest { page_size, order: order.into(), ..all() };
            assert_eq!(listed(&session, request).await, expected, "{order:?} in pages of {page_size}");
        }
    }
    let request = ListConversationsRequest { recipient_id: "of 0".to_owned(), ..Default::default() };
    let request = ListConversationsRequest { order: ConversationOrder::NewestUpdate.into(), ..request };
    assert_eq!(listed(&session, request).await, ["c0", "c3"]);
    let page = session.conversations().list_conversations(all()).await.reply();
    let active: Vec<_> = page.conversations.iter().map(|one| (&*one.conversation_id, one.active)).collect();
    assert_eq!(active, [("c4", false), ("c3", false), ("c2", true), ("c1", true), ("c0", true)]);
}

/// Only ids with the prefix; the token only continues with the same prefix.
#[tokio::test]
async fn ids_are_listed_by_how_they_begin() {
    let session = Session::new().await;
    for (id, recipient) in [("chat:1", "ann"), ("chat:2", "bob"), ("chat", "ann"), ("note:1", "ann")] {
        say(&session, id, recipient).await;
        session.clock.advance(Duration::from_secs(1));
    }
    let begins =
        |prefix: &str| ListConversationsRequest { conversation_id_prefix: prefix.to_owned(), ..all() };
    assert_eq!(listed(&session, begins("chat")).await, ["chat", "chat:2", "chat:1"]);
    assert_eq!(listed(&session, begins("chat:")).await, ["chat:2", "chat:1"]);
    assert!(listed(&session, begins("Chat")).await.is_empty());
    let anns =
        ListConversationsRequest { recipient_id: "ann".to_owned(), all_recipients: false, ..begins("chat:") };
    assert_eq!(listed(&session, anns).await, ["chat:1"]);
    let page = ListConversationsRequest { page_size: 1, ..begins("chat") };
    let token = session.conversations().list_conversations(page).await.reply().next_page_token;
    let other = ListConversationsRequest { page_token: token, ..begins("note") };
    let refused = session.conversations().list_conversations(other).await.refusal();
    refused.is(Code::InvalidArgument, "INVALID_PAGE_TOKEN");
}

/// What one page does not contain, the next one does, even while other conversations come and go.
#[tokio::test]
async fn a_list_stays_right_while_conversations_change() {
    let session = Session::new().await;
    for number in 0..30 {
        say(&session, &format!("c{number:02}"), "ann").await;
        session.clock.advance(Duration::from_secs(10));
    }
    let mut request =
        ListConversationsRequest { page_size: 4, order: ConversationOrder::OldestUpdate.into(), ..all() };
    let mut told = Vec::new();
    for round in 0.. {
        let page = session.conversations().list_conversations(request.clone()).await.reply();
        told.extend(page.conversations.into_iter().map(|one| one.conversation_id));
        if page.next_page_token.is_empty() {
            break;
        }
        request.page_token = page.next_page_token;
        if round < 5 {
            say(&session, &format!("c{:02}", 29 - round), "ann").await;
            session.clock.advance(Duration::from_secs(10));
        }
    }
    told.sort();
    told.dedup();
    assert_eq!(told.len(), 30);
}

#[tokio::test]
async fn what_cannot_be_listed_is_refused() {
    let session = Session::new().await;
    let both = ListConversationsRequest { recipient_id: "ann".to_owned(), ..all() };
    let order = ListConversationsRequest { order: 9, ..all() };
    let long = ListConversationsRequest { conversation_id_prefix: "x".repeat(257), ..all() };
    let control = ListConversationsRequest { conversation_id_prefix: "a\nb".to_owned(), ..all() };
    for (request, field) in [
        (both, "recipient_id"),
        (order, "order"),
        (long, "conversation_id_prefix"),
        (control, "conversation_id_prefix"),
    ] {
        let refused = session.conversations().list_conversations(request).await.refusal();
        refused.is(Code::InvalidArgument, "INVALID_FIELD").blames(field);
    }
}

fn all() -> ListConversationsRequest {
    ListConversationsRequest { all_recipients: true, ..Default::default() }
}

async fn say(session: &Session, conversation: &str, recipient: &str) {
    let request = MemorizeRequest {
        conversation_id: conversation.to_owned(),
        recipient_id: recipient.to_owned(),
        ..memorize(vec![user("hello")])
    };
    session.memory().memorize(request).await.reply();
}

async fn listed(session: &Session, mut request: ListConversationsRequest) -> Vec<String> {
    let mut listed = Vec::new();
    loop {
        let page = session.conversations().list_conversations(request.clone()).await.reply();
        listed.extend(page.conversations.into_iter().map(|conversation| conversation.conversation_id));
        if page.next_page_token.is_empty() {
            return listed;
        }
        request.page_token = page.next_page_token;
    }
}
