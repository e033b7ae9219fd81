//! What a deleted recipient leaves in the files: nothing.

use tempfile::TempDir;
use utterd::{
    proto::{
        conversation_service_server::ConversationService, memory_service_server::MemoryService,
        state_value::Value,
    },
    store::durable::{EngineKind, Flush},
};

use crate::{
    durable::{files::Files, home::Home},
    support::prelude::*,
};

const WORDS: [&str; 3] = ["zyzzyva-recipient", "quokka-text", "wombat-bystander"];

/// Whether any file contains the text.
fn holds(directory: &TempDir, text: &str) -> bool {
    let is_in = |bytes: &[u8]| memchr::memmem::find(bytes, text.as_bytes()).is_some();
    Files::read(directory.path()).0.values().any(|content| is_in(&content.bytes))
}

async fn say(home: &Home, conversation: &str, recipient: &str, text: &str) {
    let said =
        |role: Role, content: String| NewUtterance { role: role.into(), content, ..Default::default() };
    let request = MemorizeRequest {
        conversation_id: conversation.to_owned(),
        recipient_id: recipient.to_owned(),
        utterances: (0..30).map(|number| said(Role::User, format!("{text} number {number}"))).collect(),
        ..Default::default()
    };
    home.server.services().memorize(Request::new(request)).await.unwrap();
}

async fn deleted_recipients_are_in_no_file(engine: EngineKind) {
    let directory = tempfile::tempdir().unwrap();
    let home = Home::open(engine, directory.path(), &ManualClock::new(), Flush::Each).unwrap();
    let [recipient, text, bystander] = WORDS;
    say(&home, "ended", recipient, text).await;
    let end = EndConversationRequest { conversation_id: "ended".to_owned(), ..Default::default() };
    home.server.services().end_conversation(Request::new(end)).await.unwrap();
    say(&home, "", recipient, text).await;
    say(&home, "other", "bob", bystander).await;
    for (recipient_id, text) in [(recipient, text), ("bob", bystander)] {
        let value = Some(Value::Data(format!("{text} as a value").into_bytes()));
        let request = UpdateStateRequest {
            recipient_id: recipient_id.to_owned(),
            scope: StateScope::Recipient.into(),
            change: Some(StateChange {
                set: vec![StateValue { name: format!("{text} as a name"), value, version: 0 }],
                ..Default::default()
            }),
            request_id: "once".to_owned() + recipient_id.get(..1).unwrap_or_default(),
            ..Default::default()
        };
        home.server.services().update_state(Request::new(request)).await.unwrap();
    }
    let share = ShareConversationRequest { conversation_id: "ended".to_owned(), ..Default::default() };
    home.server.services().share_conversation(Request::new(share)).await.unwrap();

    let delete = DeleteRecipientRequest { recipient_id: recipient.to_owned() };
    let deleted = home.server.services().delete_recipient(Request::new(delete)).await.unwrap().into_inner();
    assert_eq!((deleted.conversation_count(), deleted.utterance_count()), (2, 60));
    home.store.scrub().await.unwrap();
    drop(home);
    assert!(!holds(&directory, recipient) && !holds(&directory, text));
    assert!(holds(&directory, bystander), "what is looked for can be found");
    assert!(holds(&directory, "wombat-bystander as a value"), "the state of another recipient stays");
}

#[tokio::test]
async fn nothing_is_left_in_the_files_of_fjall() {
    deleted_recipients_are_in_no_file(EngineKind::Fjall).await;
}

#[tokio::test]
async fn nothing_is_left_in_the_files_of_sled() {
    deleted_recipients_are_in_no_file(EngineKind::Sled).await;
}

/// A token remains valid after a restart, and is in no file.
#[tokio::test]
async fn a_share_outlives_the_server() {
    let directory = tempfile::tempdir().unwrap();
    let clock = ManualClock::new();
    let open = || Home::open(EngineKind::Fjall, directory.path(), &clock, Flush::Each).unwrap();
    let home = open();
    say(&home, "talk", "ann", "hello").await;
    let share = ShareConversationRequest { conversation_id: "talk".to_owned(), ..Default::default() };
    let token =
        home.server.services().share_conversation(Request::new(share)).await.unwrap().into_inner().token;
    drop(home);
    assert!(!holds(&directory, &token));
    let request = ReadSharedRequest { token, ..Default::default() };
    let read = open().server.services().read_shared(Request::new(request)).await.unwrap();
    assert!(!read.get_ref().utterances.is_empty());
}
