//! A recipient who comes back: what is addressed by recipient means all its conversations.

use crate::support::prelude::*;

const HOUR: Duration = Duration::from_secs(60 * 60);

async fn build(session: &Session, request: BuildContextRequest) -> BuildContextResponse {
    session.context().build_context(request).await.reply()
}

async fn found(session: &Session, request: RememberRequest) -> Vec<String> {
    let request = RememberRequest { prompt: "allergic to nuts".to_owned(), ..request };
    let found = session.memory().remember(request).await.reply().matches;
    found.into_iter().map(|one| one.utterance.unwrap().content).collect()
}

fn within(budget: i32) -> BuildContextRequest {
    BuildContextRequest { token_budget: Some(budget), ..Default::default() }
}

/// Tells of nuts and a flight, goes, and asks something new an hour later. Returns the ids of both conversations.
async fn away_for_an_hour(session: &Session) -> [String; 2] {
    let first = session
        .say(vec![
            user("I am allergic to nuts. My flight is HAT136 on May 23."),
            assistant("Noted: no nuts, and HAT136 on May 23."),
        ])
        .await;
    session.clock.advance(HOUR);
    let next = session.say(vec![user("Which flight was it?")]).await;
    [first.conversation_id, next.conversation_id]
}

#[tokio::test]
async fn what_was_said_before_the_break_is_remembered() {
    let session = Session::new().await;
    let [first, next] = away_for_an_hour(&session).await;
    let said = "I am allergic to nuts. My flight is HAT136 on May 23.";
    assert_eq!(found(&session, RememberRequest::default()).await[0], said);
    let there = RememberRequest { conversation_id: first, ..Default::default() };
    assert_eq!(found(&session, there).await[0], said);
    // a conversation that is named is searched alone
    let here = RememberRequest { conversation_id: next.clone(), ..Default::default() };
    assert!(found(&session, here).await.is_empty());
    let recall = || ContextRecall { prompt: "allergic to nuts".to_owned(), ..Default::default() };
    let none = Earlier::None.into();
    let recalling = BuildContextRequest { recall: Some(recall()), earlier: none, ..Default::default() };
    assert!(build(&session, recalling.clone()).await.messages_json.contains("HAT136"));
    let here = BuildContextRequest { conversation_id: next, ..recalling };
    assert!(!build(&session, here).await.messages_json.contains("HAT136"));
}

#[tokio::test]
async fn a_context_says_how_earlier_conversations_ended() {
    let session = Session::new().await;
    let [first, next] = away_for_an_hour(&session).await;
    let context = build(&session, within(2_000)).await;
    let messages: Vec<serde_json::Value> = serde_json::from_str(&context.messages_json).unwrap();
    let told = messages[0]["content"].as_str().unwrap();
    assert!(told.starts_with("Earlier conversations with the user, the newest first:\n- \""), "{told}");
    assert!(told.contains("\" of 2026-03-01: ") && told.contains("HAT136"), "{told}");
    assert_eq!(
        (&messages[0]["role"], &messages[1]["content"]),
        (&"system".into(), &"Which flight was it?".into())
    );
    assert_eq!(context.earlier_conversation_ids, [first.as_str()]);
    assert_eq!(build(&session, within(2_000)).await, context);

    let text = BuildContextRequest { format: ContextFormat::Text.into(), ..within(2_000) };
    let text = build(&session, text).await.text;
    assert!(text.starts_with("## Earlier conversations, the newest first\n- \""), "{text}");
    let anthropic = BuildContextRequest { format: ContextFormat::AnthropicMessages.into(), ..within(2_000) };
    assert!(build(&session, anthropic).await.system_json.contains("HAT136"));
    let none = BuildContextRequest { earlier: Earlier::None.into(), ..within(2_000) };
    let by_id = BuildContextRequest { conversation_id: next.clone(), ..within(2_000) };
    for without in [none, by_id.clone()] {
        let context = build(&session, without).await;
        assert!(!context.messages_json.contains("HAT136") && context.earlier_conversation_ids.is_empty());
    }
    let wanted = BuildContextRequest { earlier: Earlier::Ended.into(), ..by_id };
    assert_eq!(build(&session, wanted).await.earlier_conversation_ids, [first]);
}

/// The newest come first, as many as a share of the budget holds; it shrinks in two steps as the conversation goes on,
/// and nothing before them changes in between.
#[tokio::test]
async fn earlier_conversations_give_way_in_steps() {
    let session = Session::new().await;
    let mut ids = Vec::new();
    for number in 0..12 {
        let asked = format!("Please send {number} blue lamps from the warehouse in Oslo to Bergen by train.");
        let said = vec![user(&asked), assistant(&format!("I have sent {number} lamps to Bergen."))];
        ids.push(session.say(said).await.conversation_id);
        session.clock.advance(HOUR);
    }
    let mut told = Vec::new();
    for turn in 1..=40 {
        session.say(vec![user(&format!("And lamp {turn}?")), assistant("It left.")]).await;
        let context = build(&session, within(1_600)).await;
        let mut listed = context.earlier_conversation_ids;
        listed.reverse();
        assert!(ids.ends_with(&listed), "{listed:?} of {ids:?}");
        let messages: Vec<serde_json::Value> = serde_json::from_str(&context.messages_json).unwrap();
        let text = messages.iter().filter_map(|message| message["content"].as_str());
        told.extend(text.filter(|text| text.starts_with("Earlier")).map(str::to_owned));
    }
    assert_eq!(told.len(), 40);
    assert!(told[0].lines().count() > 4, "{}", told[0]);
    let lengths: Vec<usize> = told.iter().map(String::len).collect();
    let changes: Vec<usize> = (1..40).filter(|turn| told[turn - 1] != told[*turn]).collect();
    assert_eq!(changes, [8, 32], "{lengths:?}");
    assert!(lengths.is_sorted_by(|before, after| before >= after), "{lengths:?}");
}

#[tokio::test]
async fn what_is_forgotten_or_deleted_is_not_told() {
    let session = Session::new().await;
    let [first, _] = away_for_an_hour(&session).await;
    let forget = ForgetRequest {
        conversation_id: first.clone(),
        instructions: "about:HAT136".to_owned(),
        mode: ForgetMode::Hard.into(),
        ..Default::default()
    };
    session.memory().forget(forget).await.reply();
    let context = build(&session, within(2_000)).await;
    assert!(!context.messages_json.contains("HAT136"), "{}", context.messages_json);

    let session = Session::new().await;
    let [first, _] = away_for_an_hour(&session).await;
    session.delete(&first).await;
    let context = build(&session, within(2_000)).await;
    assert!(!context.messages_json.contains("HAT136") && context.earlier_conversation_ids.is_empty());
    assert!(found(&session, RememberRequest::default()).await.is_empty());
}

/// Nothing is known of a recipient who never said anything, and that is no error.
#[tokio::test]
async fn a_recipient_without_a_conversation_is_empty() {
    let session = Session::new().await;
    let recall = ContextRecall { prompt: "nuts".to_owned(), ..Default::default() };
    let request = BuildContextRequest { recall: Some(recall), include_archive: true, ..Default::default() };
    let context = build(&session, request).await;
    assert_eq!((context.messages_json.as_str(), context.conversation_id.as_str()), ("[]", ""));
    for scope in [RememberScope::Unspecified, RememberScope::Conversation, RememberScope::Recipient] {
        let request = RememberRequest { scope: scope.into(), ..Default::default() };
        assert!(found(&session, request).await.is_empty());
    }
    assert_eq!(session.memory().summarize(SummarizeRequest::default()).await.reply().text, "");
    assert!(session.stored().await.is_empty() && session.summary().await.text.is_empty());
    assert_eq!(session.capacity().await.utterance_count, Some(0));
}

/// A recipient whose conversation was ended, and who has not said anything since, is told apart from a stranger too.
#[tokio::test]
async fn the_first_context_of_the_next_conversation_is_not_empty() {
    let session = Session::new().await;
    let said = vec![user("My flight is HAT136 on May 23."), assistant("Noted.")];
    let id = session.say(said).await.conversation_id;
    session.conversations().end_conversation(EndConversationRequest::default()).await.reply();
    let context = build(&session, within(2_000)).await;
    assert_eq!((context.conversation_id.as_str(), context.earlier_conversation_ids), ("", vec![id]));
    assert!(context.messages_json.contains("HAT136"), "{}", context.messages_json);
}
