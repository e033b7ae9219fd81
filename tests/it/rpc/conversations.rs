//! Creating, reading, listing and deleting conversations.

use std::time::Duration;

use tonic::Code;
use utterd::proto::{
    Conversation, ConversationStatus, ConversationView, CreateConversationRequest, DeleteConversationRequest,
    GetConversationRequest, ListConversationsRequest, MemorizeRequest,
};

use crate::support::session::{Reply, Session, memorize, user};

fn create(conversation: &str, recipient: &str) -> CreateConversationRequest {
    CreateConversationRequest {
        conversation_id: conversation.to_owned(),
        recipient_id: recipient.to_owned(),
        ..Default::default()
    }
}

async fn created(session: &Session, request: CreateConversationRequest) -> Conversation {
    session.conversations().create_conversation(request).await.reply().conversation.expect("it was created")
}

on_each_store! {
    a_deleted_conversation_is_gone
    pages_cover_a_recipients_conversations
}

#[tokio::test]
async fn a_conversation_is_created_as_asked() {
    let session = Session::new().await;
    let request = CreateConversationRequest {
        title: "A trip".to_owned(),
        labels: [("topic".to_owned(), "travel".to_owned())].into(),
        encoding: "gpt-4".to_owned(),
        ..create("trip", "ann")
    };
    let conversation = created(&session, request.clone()).await;
    assert_eq!((conversation.conversation_id.as_str(), conversation.recipient_id.as_str()), ("trip", "ann"));
    assert_eq!((&conversation.title, &conversation.labels), (&request.title, &request.labels));
    assert_eq!((conversation.encoding.as_str(), conversation.revision), ("cl100k_base", 1));
    assert_eq!((conversation.utterance_count, conversation.active), (Some(0), true));
    assert_eq!(conversation.status, i32::from(ConversationStatus::Active));
    assert_eq!(conversation.start_time, conversation.update_time);
    let said = MemorizeRequest { recipient_id: "ann".to_owned(), ..memorize(vec![user("hello")]) };
    assert_eq!(session.memory().memorize(said).await.reply().conversation_id, "trip");
    let refused = session.conversations().create_conversation(request).await.refusal();
    refused.is(Code::AlreadyExists, "CONVERSATION_EXISTS").names("utterd.v1/conversation", "trip");
    let other = session.conversations().create_conversation(create("trip", "bob")).await.refusal();
    other.is(Code::AlreadyExists, "CONVERSATION_EXISTS");
}

/// The first one is its recipient's active conversation, until it is deleted.
#[tokio::test]
async fn the_first_one_is_active() {
    let session = Session::new().await;
    assert!(created(&session, create("a", "ann")).await.active);
    assert!(!created(&session, create("b", "ann")).await.active);
    assert!(created(&session, create("c", "bob")).await.active);
    let apart = CreateConversationRequest { inactive: true, ..create("d", "eve") };
    assert!(!created(&session, apart).await.active);
    assert!(created(&session, create("e", "eve")).await.active);
    let delete = DeleteConversationRequest { conversation_id: "a".to_owned(), ..Default::default() };
    session.conversations().delete_conversation(delete).await.reply();
    let said = MemorizeRequest { recipient_id: "ann".to_owned(), ..memorize(vec![user("hello")]) };
    let response = session.memory().memorize(said).await.reply();
    assert!(response.started_conversation, "a deleted conversation is not followed by another's");
    assert_ne!(response.conversation_id, "b");
}

/// The active one is found by its recipient alone; for a recipient without one, an error says so.
#[tokio::test]
async fn the_active_one_is_read_by_its_recipient() {
    let session = Session::new().await;
    created(&session, create("a", "ann")).await;
    created(&session, create("b", "ann")).await;
    let of =
        |recipient: &str| GetConversationRequest { recipient_id: recipient.to_owned(), ..Default::default() };
    let active = session.conversations().get_conversation(of("ann")).await.reply().conversation.unwrap();
    assert_eq!((active.conversation_id.as_str(), active.active, active.end_time), ("a", true, None));
    let refused = session.conversations().get_conversation(of("bob")).await.refusal();
    refused.is(Code::NotFound, "CONVERSATION_NOT_FOUND").names("utterd.v1/recipient", "bob");
}

#[tokio::test]
async fn views_show_more_or_less() {
    let session = Session::new().await;
    session.say_many(21).await;
    let get = |view: ConversationView| GetConversationRequest { view: view.into(), ..Default::default() };
    let mut views = Vec::new();
    for view in [ConversationView::Unspecified, ConversationView::Basic, ConversationView::Full] {
        let response = session.conversations().get_conversation(get(view)).await.reply();
        views.push(response.conversation.unwrap());
    }
    assert_eq!(views[0], views[1]);
    assert!(views[0].summary.is_empty());
    assert_eq!((views[0].utterance_count, views[0].revision), (Some(21), 21));
    assert_eq!(views[2].summary, session.summary().await.text);
    let basic = Conversation { summary: String::new(), ..views[2].clone() };
    assert_eq!(basic, views[0]);
}

/// Ten are returned unless more are requested; each with the token count of its window.
#[tokio::test]
async fn a_list_has_ten_and_their_counts() {
    let session = Session::new().await;
    for number in 0..11 {
        created(&session, create(&format!("c{number}"), "ann")).await;
        session.clock.advance(Duration::from_secs(1));
    }
    let said = (0..24).map(|_| user("hello world")).collect();
    session
        .memory()
        .memorize(MemorizeRequest { conversation_id: "c5".into(), ..memorize(said) })
        .await
        .reply();
    let request = ListConversationsRequest { recipient_id: "ann".to_owned(), ..Default::default() };
    let page = session.conversations().list_conversations(request).await.reply();
    let listed: Vec<_> = page.conversations.iter().map(|one| one.conversation_id.as_str()).collect();
    assert_eq!(listed, ["c10", "c9", "c8", "c7", "c6", "c5", "c4", "c3", "c2", "c1"]);
    assert!(!page.next_page_token.is_empty());
    let counts = |one: &Conversation| (one.utterance_count, one.window_token_count);
    assert_eq!(counts(&page.conversations[4]), (Some(0), Some(0)));
    assert_eq!(counts(&page.conversations[5]), (Some(24), Some(16 * 6)));
}

#[tokio::test]
async fn a_deleted_conversation_is_gone() {
    let session = Session::new().await;
    let conversation_id = session.say(vec![user("hello")]).await.conversation_id;
    session.say_many(20).await;
    let delete = DeleteConversationRequest { conversation_id: conversation_id.clone(), ..Default::default() };
    let response = session.conversations().delete_conversation(delete.clone()).await.reply();
    assert_eq!(response.utterance_count, Some(21));
    session
        .conversations()
        .delete_conversation(delete)
        .await
        .refusal()
        .is(Code::NotFound, "CONVERSATION_NOT_FOUND");
    let get = GetConversationRequest { conversation_id: conversation_id.clone(), ..Default::default() };
    session
        .conversations()
        .get_conversation(get)
        .await
        .refusal()
        .is(Code::NotFound, "CONVERSATION_NOT_FOUND");
    let listed =
        session.conversations().list_conversations(ListConversationsRequest::default()).await.reply();
    assert!(listed.conversations.is_empty());
    let anew = session.say(vec![user("hello")]).await;
    assert!(anew.started_conversation && anew.conversation_id != conversation_id);
    assert_eq!((anew.revision, anew.memorized[0].sequence), (1, 1));
}

async fn list(session: &Session, mut request: ListConversationsRequest) -> Vec<String> {
    let mut listed = Vec::new();
    loop {
        let page = session.conversations().list_conversations(request.clone()).await.reply();
        assert!(request.page_size == 0 || page.conversations.len() <= request.page_size as usize);
        listed.extend(page.conversations.into_iter().map(|conversation| conversation.conversation_id));
        if page.next_page_token.is_empty() {
            return listed;
        }
        request.page_token = page.next_page_token;
    }
}

/// By start, the newest first; only the recipient's own.
#[tokio::test]
async fn pages_cover_a_recipients_conversations() {
    let session = Session::new().await;
    for number in 0..7 {
        created(&session, create(&format!("c{number}"), "ann")).await;
        created(&session, create(&format!("other {number}"), "bob")).await;
        session.clock.advance(Duration::from_secs(u64::from(number != 3)));
    }
    for page_size in [0, 1, 3, 7] {
        let request =
            ListConversationsRequest { recipient_id: "ann".to_owned(), page_size, ..Default::default() };
        assert_eq!(list(&session, request).await, ["c6", "c5", "c4", "c3", "c2", "c1", "c0"]);
    }
    let nobody = ListConversationsRequest { recipient_id: "cid".to_owned(), ..Default::default() };
    assert!(list(&session, nobody).await.is_empty());
    let request = ListConversationsRequest { recipient_id: "ann".to_owned(), ..Default::default() };
    let page = session.conversations().list_conversations(request).await.reply();
    let active: Vec<_> = page.conversations.iter().filter(|one| one.active).collect();
    assert_eq!((active.len(), active[0].conversation_id.as_str()), (1, "c0"));
}

/// Filtering by status comes before paging.
#[tokio::test]
async fn lists_can_be_of_one_status() {
    let session = Session::new().await;
    for number in 0..4 {
        created(&session, create(&format!("old {number}"), "ann")).await;
    }
    session.clock.advance(Duration::from_secs(31 * 60));
    for number in 0..3 {
        created(&session, create(&format!("new {number}"), "ann")).await;
        let waiting = utterd::proto::NewUtterance {
            role: 3,
            content: "Which one?".to_owned(),
            awaits_answer: true,
            ..Default::default()
        };
        let asked = MemorizeRequest { conversation_id: format!("old {number}"), ..memorize(vec![waiting]) };
        session.memory().memorize(asked).await.reply();
    }
    for page_size in [0, 1, 2] {
        for (status, listed) in [
            (ConversationStatus::Active, vec!["new 2", "new 1", "new 0"]),
            (ConversationStatus::AwaitingAnswer, vec!["old 2", "old 1", "old 0"]),
            (ConversationStatus::Idle, vec!["old 3"]),
        ] {
            let request = ListConversationsRequest {
                recipient_id: "ann".to_owned(),
                status: status.into(),
                page_size,
                ..Default::default()
            };
            assert_eq!(list(&session, request).await, listed, "{status:?}, {page_size}");
        }
    }
}
