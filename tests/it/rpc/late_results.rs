//! Late results: they arrive after a user utterance has abandoned their call.

use serde_json::{Value, json};
use tonic::Code;
use utterd::proto::{
    BuildContextRequest, ContextFormat, ForgetMode, MemorizeRequest, Policy, RestoreRequest, UnansweredCalls,
};

use crate::support::session::{
    Reply, Session, assistant, calls, memorize, result, sequences, sequences_of, user,
};

/// A call at 2, abandoned at 3, and its result at 5.
async fn late() -> Session {
    let session = Session::new().await;
    session.say(vec![user("go"), calls(&["a"]), user("meanwhile"), assistant("yes?")]).await;
    session.say(vec![result("a", "found it")]).await;
    session
}

fn note(text: &str) -> Value {
    json!({"role": "user", "content": text})
}

async fn context(session: &Session, request: BuildContextRequest) -> (Vec<Value>, i32) {
    let response = session.context().build_context(request).await.reply();
    let messages = match response.messages_json.is_empty() {
        true => vec![response.text.clone().into()],
        false => serde_json::from_str(&response.messages_json).expect("an array"),
    };
    (messages, response.token_count())
}

#[tokio::test]
async fn a_late_result_is_accepted_once_and_says_so() {
    let session = Session::new().await;
    session.say(vec![user("go"), calls(&["a"]), user("meanwhile"), assistant("yes?")]).await;
    let request = MemorizeRequest { request_id: "once".into(), ..memorize(vec![result("a", "found it")]) };
    let response = session.memory().memorize(request.clone()).await.reply();
    assert!(response.memorized[0].late && response.irregularities.is_empty());
    let again = session.memory().memorize(request).await.reply();
    assert!(again.replayed && again.memorized[0].late);
    let refused = session.memory().memorize(memorize(vec![result("a", "again")])).await.refusal();
    refused.is(Code::FailedPrecondition, "NO_OPEN_CALL").says("was answered late, by utterance 5");
    let window = session.window().await;
    let told = |at: usize| (window[at].late, window[at].late_tool.as_str(), window[at].aside);
    assert_eq!((told(4), told(1)), ((true, "find", false), (false, "", false)));
    let tokens: i32 = window.iter().map(|one| one.token_count()).sum();
    assert_eq!(session.capacity().await.token_count, Some(tokens), "it counts like any other");
}

/// As a note, in its own place; earlier parts of the context are unchanged, and each word is counted.
#[tokio::test]
async fn a_context_tells_it_on_the_users_side() {
    let session = late().await;
    session.say(vec![user("so?")]).await;
    let words = "result of `find`, call `a`: found it";
    let (messages, tokens) = context(&session, BuildContextRequest::default()).await;
    assert_eq!(messages[messages.len() - 2..], [note(words), note("so?")]);
    let texts: Vec<String> =
        messages.iter().map(|one| one["content"].as_str().unwrap_or_default().into()).collect();
    let count = utterd::proto::CountTokensRequest { texts, ..Default::default() };
    let counted = session.context().count_tokens(count).await.reply().token_counts;
    assert_eq!(tokens, counted.iter().map(|count| count + 4).sum::<i32>());
    let closed =
        BuildContextRequest { unanswered_calls: UnansweredCalls::Placeholder.into(), ..Default::default() };
    let (messages, _) = context(&session, closed).await;
    let roles: Vec<_> = messages.iter().map(|one| one["role"].as_str().unwrap_or_default()).collect();
    assert_eq!(roles, ["user", "assistant", "tool", "user", "assistant", "user", "user"]);
    let anthropic =
        BuildContextRequest { format: ContextFormat::AnthropicMessages.into(), ..Default::default() };
    let (messages, _) = context(&session, anthropic).await;
    assert_eq!(messages.last().map(|last| last["content"][0]["text"].clone()), Some(words.into()));
    let text = BuildContextRequest { format: ContextFormat::Text.into(), ..Default::default() };
    let (text, _) = context(&session, text).await;
    assert!(text[0].as_str().is_some_and(|text| text.contains(&format!("Tool: {words}\n"))), "{text:?}");
}

/// A long one keeps its call's name when shortened, and its tool's when masked.
#[tokio::test]
async fn a_long_one_is_shortened_to_the_budget() {
    let session = Session::new().await;
    session.say(vec![user("go"), calls(&["a"]), user("meanwhile")]).await;
    session.say(vec![result("a", &"one two three four ".repeat(500))]).await;
    let request = BuildContextRequest { token_budget: Some(120), ..Default::default() };
    let (messages, tokens) = context(&session, request).await;
    assert!(tokens <= 120, "{tokens}");
    let told = messages.last().and_then(|last| last["content"].as_str()).unwrap_or_default().to_owned();
    assert!(told.starts_with("result of `find`, call `a`: one two") && told.contains("left out"), "{told}");
    for _ in 0..4 {
        session.say(vec![user("on")]).await;
    }
    let masked = BuildContextRequest { mask_tool_results_after_turns: Some(1), ..Default::default() };
    let (messages, _) = context(&session, masked).await;
    let is_masked = |one: &&Value| {
        one["role"] == "user" && one["content"].to_string().starts_with("\"[result of find, 2,0")
    };
    assert_eq!(messages.iter().filter(is_masked).count(), 1, "{messages:?}");
}

/// Also from the archive, if a call waits long for its result.
#[tokio::test]
async fn a_call_in_the_archive_is_answered() {
    let session = Session::new().await;
    session.create_with(Policy { max_utterances: Some(4), ..Default::default() }).await;
    let mut booking = calls(&["a"]);
    booking.tool_calls[0].name = "book_room".to_owned();
    session.say(vec![user("go"), booking, user("meanwhile")]).await;
    session.say_many(10).await;
    assert!(!sequences_of(&session.window().await).contains(&2));
    let response = session.say(vec![result("a", "found"), assistant("there it is")]).await;
    assert_eq!((response.memorized[0].late, response.memorized[1].late), (true, false));
    session.say_many(10).await;
    let summary = session.summary().await.text;
    assert!(summary.contains("book_room") && summary.contains("→ ok"), "{summary}");
}

/// It is forgotten and restored by itself; while its call is forgotten, no result is accepted.
#[tokio::test]
async fn it_is_forgotten_and_restored_by_itself() {
    let session = late().await;
    let forgotten = session.forget("sequence:5", ForgetMode::Soft).await;
    assert_eq!(sequences(&forgotten.forgotten), [5]);
    let refused = session.memory().memorize(memorize(vec![result("a", "again")])).await.refusal();
    refused.is(Code::FailedPrecondition, "NO_OPEN_CALL").says("by utterance 5");
    let ids = vec![session.id_of(5).await];
    let restore = RestoreRequest { utterance_ids: ids, ..Default::default() };
    assert_eq!(sequences(&session.memory().restore(restore).await.reply().restored), [5]);
    session.forget("sequence:5", ForgetMode::Hard).await;
    session.forget("sequence:2", ForgetMode::Soft).await;
    let refused = session.memory().memorize(memorize(vec![result("a", "again")])).await.refusal();
    refused.is(Code::FailedPrecondition, "NO_OPEN_CALL").says("of utterance 2, which is forgotten");
    let restore = RestoreRequest { utterance_ids: vec![session.id_of(2).await], ..Default::default() };
    session.memory().restore(restore).await.reply();
    assert!(session.say(vec![result("a", "again")]).await.memorized[0].late);
}
