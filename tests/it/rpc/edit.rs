//! Edits: replacing the content of an utterance.

use std::time::Duration;

use tonic::Code;
use utterd::{
    config::Settings,
    proto::{
        ForgetMode, ForkConversationRequest, GetConversationRequest, NewUtterance, Oversize, Policy,
        ReadSharedRequest, RememberRequest, RememberScope, ShareConversationRequest, UpdateUtteranceRequest,
        UpdateUtteranceResponse,
    },
};

use crate::support::{
    refusal::Refused,
    session::{Reply, Session, assistant, calls, mask, result, sequences, user},
};

fn edit(utterance_id: String, content: &str) -> UpdateUtteranceRequest {
    let content = content.to_owned();
    UpdateUtteranceRequest { utterance_id, content, update_mask: mask(&["content"]), ..Default::default() }
}

async fn say_anew(session: &Session, sequence: i64, content: &str) -> UpdateUtteranceResponse {
    let request = edit(session.id_of(sequence).await, content);
    session.conversations().update_utterance(request).await.reply()
}

async fn refused(session: &Session, sequence: i64, content: &str) -> Refused {
    let request = edit(session.id_of(sequence).await, content);
    session.conversations().update_utterance(request).await.refusal()
}

#[tokio::test]
async fn the_first_content_is_kept() {
    let session = Session::new().await;
    session.say(vec![user("To Oslo"), assistant("On Monday")]).await;
    let before = session.window().await;
    session.clock.advance(Duration::from_secs(5));
    let response = say_anew(&session, 1, "To Bergen, and with a bicycle").await;
    assert_eq!((response.revision, response.forked_conversation_id.as_str()), (2, ""));
    let once = response.utterance.unwrap();
    assert_eq!(once.content, "To Bergen, and with a bicycle");
    assert_eq!(once.original_content.as_deref(), Some("To Oslo"));
    assert_eq!((once.sequence, once.create_time), (1, before[0].create_time));
    session.clock.advance(Duration::from_secs(5));
    let twice = say_anew(&session, 1, "To Bodø").await.utterance.unwrap();
    assert_eq!(twice.original_content.as_deref(), Some("To Oslo"));
    assert_eq!(twice.edit_time.unwrap().seconds, once.edit_time.unwrap().seconds + 5);
    assert_eq!(session.window().await, [twice, before[1].clone()]);
    assert_eq!(say_anew(&session, 1, "To Bodø").await.revision, 3, "it says so already");
    assert_eq!(before[0].original_content, None);
}

/// The token count is that of the new content, and can cause an eviction.
#[tokio::test]
async fn tokens_are_counted_anew() {
    let session = Session::new().await;
    session.create_with(Policy { max_tokens: Some(60), ..Default::default() }).await;
    session.say(vec![user("one"), user("two"), user("three")]).await;
    let tokens = session.capacity().await.token_count.unwrap();
    let long = "word ".repeat(50);
    let response = say_anew(&session, 3, &long).await;
    assert_eq!(sequences(&response.evicted), [1, 2]);
    let grown = response.utterance.unwrap();
    assert_eq!(session.capacity().await.token_count, grown.token_count);
    assert!(grown.token_count() > 50 && tokens < 20, "{} after {tokens}", grown.token_count());
    let counted = session.say(vec![user(&long)]).await.memorized;
    assert_eq!(counted[0].token_count, grown.token_count);
}

/// What left the window can be edited too: the summary contains the new content and not the old.
#[tokio::test]
async fn the_summary_follows() {
    let session = Session::new().await;
    session.say(vec![user("The invoice number is INV-4711 and it is due on Friday.")]).await;
    session.say_many(20).await;
    assert!(session.summary().await.text.contains("INV-4711"));
    let response = say_anew(&session, 1, "The invoice number is INV-0815 and it is due on Friday.").await;
    assert_eq!(response.utterance.unwrap().position, None);
    let summary = session.summary().await;
    assert!(summary.text.contains("INV-0815") && !summary.text.contains("INV-4711"), "{}", summary.text);
    assert!(session.stored().await[0].content.contains("INV-0815"));
}

/// A search finds the current content, whether or not it was searched before.
#[tokio::test]
async fn searches_find_what_is_said_now() {
    let session = Session::new().await;
    session.say(vec![user("the green bicycle"), user("a red kite")]).await;
    let found = async |prompt: &str| {
        let scope = RememberScope::Conversation.into();
        let request = RememberRequest { prompt: prompt.to_owned(), scope, ..Default::default() };
        let response = session.memory().remember(request).await.reply();
        response.matches.iter().map(|found| found.utterance.as_ref().unwrap().sequence).collect::<Vec<_>>()
    };
    assert_eq!(found("bicycle").await, [1]);
    say_anew(&session, 1, "the green umbrella").await;
    assert_eq!((found("bicycle").await, found("umbrella").await), (vec![], vec![1]));
}

/// A tool result can be edited, even to nothing; its exchange stays whole.
#[tokio::test]
async fn results_can_be_edited() {
    let session = Session::new().await;
    session.say(vec![user("go"), calls(&["a"]), result("a", "a secret")]).await;
    let edited = say_anew(&session, 3, "").await.utterance.unwrap();
    assert_eq!((edited.content.as_str(), edited.original_content.as_deref()), ("", Some("a secret")));
    assert_eq!(edited.tool_call_id, "a");
    assert!(say_anew(&session, 2, "Let me see").await.utterance.unwrap().tool_calls.len() == 1);
    say_anew(&session, 2, "").await;
}

/// A hard forget also removes the original.
#[tokio::test]
async fn a_hard_forget_takes_the_original() {
    let session = Session::new().await;
    session.say(vec![user("my PIN is 9876"), user("hello")]).await;
    say_anew(&session, 1, "my PIN is not your business").await;
    session.forget("sequence:1", ForgetMode::Hard).await;
    let stored = session.stored().await;
    assert!(stored.len() == 1 && stored[0].original_content.is_none());
}

#[tokio::test]
async fn a_retry_is_answered_with_the_first_outcome() {
    let session = Session::new().await;
    session.say(vec![user("To Oslo")]).await;
    let request_id = "edit-1".to_owned();
    let request = UpdateUtteranceRequest { request_id, ..edit(session.id_of(1).await, "To Bergen") };
    let first = session.conversations().update_utterance(request.clone()).await.reply();
    let again = session.conversations().update_utterance(request).await.reply();
    assert!(again.replayed && !first.replayed);
    assert_eq!((again.utterance, again.revision), (first.utterance, first.revision));
}

#[tokio::test]
async fn bad_content_is_refused() {
    let settings = Settings { max_content_bytes: 40, ..Settings::default() };
    let session = Session::with(&settings).await;
    let policy = Policy { max_tokens: Some(12), oversize: Oversize::Reject.into(), ..Default::default() };
    session.create_with(policy).await;
    let noted = NewUtterance { extras_json: r#"{"a":"0123456789"}"#.to_owned(), ..user("hello") };
    session.say(vec![noted]).await;
    refused(&session, 1, "").await.is(Code::InvalidArgument, "EMPTY_UTTERANCE").blames("content");
    let long = "x".repeat(23);
    refused(&session, 1, &long)
        .await
        .is(Code::InvalidArgument, "CONTENT_TOO_LARGE")
        .says("would have 41 bytes");
    let many = "a b c d e f g h i j k";
    refused(&session, 1, many).await.is(Code::FailedPrecondition, "OVERSIZE").says("rejects more than 12");
    let request = UpdateUtteranceRequest { edit_mode: 9, ..edit(session.id_of(1).await, "hi") };
    let refusal = session.conversations().update_utterance(request).await.refusal();
    refusal.is(Code::InvalidArgument, "INVALID_FIELD").blames("edit_mode");
    assert_eq!(session.window().await[0].content, "hello");
}

/// Those whom a conversation is shared with see its current content, and not what was edited away; a fork is
/// shared with nobody.
#[tokio::test]
async fn a_shared_reader_does_not_see_the_original() {
    let session = Session::new().await;
    session.say(vec![user("my PIN is 9876")]).await;
    say_anew(&session, 1, "my PIN is not your business").await;
    let share = session.conversations().share_conversation(ShareConversationRequest::default()).await.reply();
    let request = ReadSharedRequest { token: share.token, ..Default::default() };
    let read = session.conversations().read_shared(request).await.reply();
    assert!(!format!("{read:?}").contains("9876"));
    assert_eq!(read.utterances[0].content, "my PIN is not your business");
    let fork = session.conversations().fork_conversation(ForkConversationRequest::default()).await.reply();
    let conversation_id = fork.conversation.unwrap().conversation_id;
    let request = GetConversationRequest { conversation_id, ..Default::default() };
    let fork = session.conversations().get_conversation(request).await.reply();
    assert!(fork.shares.is_empty() && fork.conversation.unwrap().forked_from.is_some());
}
