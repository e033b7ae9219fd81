//! PrepareHistory: a history that the caller sends with each request (seed 002).

use crate::support::prelude::*;

async fn prepare(session: &Session, request: PrepareHistoryRequest) -> PrepareHistoryResponse {
    session.context().prepare_history(request).await.reply()
}

/// A history and a prompt.
fn history(messages: &Value, prompt: &str) -> PrepareHistoryRequest {
    PrepareHistoryRequest {
        messages_json: messages.to_string(),
        prompt: prompt.to_owned(),
        ..Default::default()
    }
}

fn messages(response: &PrepareHistoryResponse) -> Value {
    serde_json::from_str(&response.messages_json).expect("the messages are JSON")
}

fn said(role: &str, content: &str) -> Value {
    json!({"role": role, "content": content})
}

/// Alternating questions and answers.
fn turns(count: usize) -> Vec<Value> {
    let role = |number: usize| if number % 2 == 1 { "user" } else { "assistant" };
    (1..=count).map(|number| said(role(number), &format!("message {number}"))).collect()
}

fn reasons(response: &PrepareHistoryResponse) -> Vec<(i32, DropReason)> {
    response.dropped.iter().map(|dropped| (dropped.index(), dropped.reason())).collect()
}

fn kinds(response: &PrepareHistoryResponse) -> Vec<WarningKind> {
    response.warnings.iter().map(|warning| warning.kind()).collect()
}

/// A request stays under 100 KB, whatever comes in.
#[tokio::test]
async fn a_large_history_is_cut_to_a_hundred_kilobytes() {
    let session = Session::new().await;
    let sent: Vec<_> = turns(18)
        .into_iter()
        .map(|message| said(message["role"].as_str().unwrap(), &"x".repeat(10_000)))
        .collect();
    let response = prepare(&session, history(&json!(sent), "next")).await;
    assert!(response.messages_json.len() <= 102_400 && response.messages_json.len() > 90_000);
    assert!(reasons(&response).iter().all(|(_, reason)| *reason == DropReason::MaxBytes));
    assert_eq!(response.dropped.len(), 8);
    assert_eq!(kinds(&response), [WarningKind::ManyMessages, WarningKind::LargeRequest]);
}

#[tokio::test]
async fn a_cut_takes_whole_exchanges() {
    let session = Session::new().await;
    let call =
        |id: &str| json!({"id": id, "type": "function", "function": {"name": "find", "arguments": "{}"}});
    let sent = json!([
        said("user", "q"),
        {"role": "assistant", "content": null, "tool_calls": [call("a"), call("b")]},
        {"role": "tool", "tool_call_id": "b", "content": "2"},
        {"role": "tool", "tool_call_id": "a", "content": "1"},
        said("assistant", "done"),
    ]);
    // The answer needs the question that began its turn. The results come in the order of the calls.
    for (most, kept) in [(1, &[][..]), (2, &[0, 4]), (4, &[0, 4]), (5, &[0, 1, 3, 2, 4])] {
        let request = PrepareHistoryRequest { max_messages: Some(most), ..history(&sent, "next") };
        let response = prepare(&session, request).await;
        let mut expected: Vec<_> = kept.iter().map(|place| sent[*place].clone()).collect();
        expected.push(said("user", "next"));
        assert_eq!(messages(&response), json!(expected), "{most}");
    }
    // Only what was said precedes the place of an unanswered call.
    let open = json!([said("user", "q"), {"role": "assistant", "content": "", "tool_calls": [call("a")]}]);
    let response = prepare(&session, history(&open, "next")).await;
    assert_eq!(reasons(&response), [(1, DropReason::UnansweredCall)]);
}

/// Utterances instead of JSON; a malformed one is dropped, not refused.
#[tokio::test]
async fn utterances_are_prepared_too() {
    let session = Session::new().await;
    let metadata = [("entities".to_owned(), "3".to_owned())].into();
    let utterances = vec![
        NewUtterance { metadata, pinned: true, ..user("q") },
        NewUtterance { role: 0, ..user("x") },
        calls(&["a"]),
        result("a", "it is"),
        result("a", "again"),
        NewUtterance { turn_number: Some(-1), ..assistant("x") },
        assistant("done"),
    ];
    let request = PrepareHistoryRequest { utterances, prompt: "next".into(), ..Default::default() };
    let request = PrepareHistoryRequest { format: ContextFormat::AnthropicMessages.into(), ..request };
    let response = prepare(&session, request).await;
    let block = |role: &str, text: &str| json!({"role": role, "content": [{"type": "text", "text": text}]});
    let expected = json!([
        block("user", "q"),
        {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "find", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": "it is"}]},
        block("assistant", "done"),
        block("user", "next"),
    ]);
    assert_eq!(messages(&response), expected);
    use DropReason::*;
    assert_eq!(reasons(&response), [(1, UnknownRole), (4, OrphanedResult), (5, InvalidField)]);
    assert!(response.dropped[0].text.starts_with("utterances[1].role: is 0; accepted: ROLE_SYSTEM"));
}

/// The token count is that of the messages as utterances.
#[tokio::test]
async fn tokens_are_counted_as_utterances_are() {
    let session = Session::new().await;
    let request = history(&json!(turns(3)), "next");
    let response =
        prepare(&session, PrepareHistoryRequest { alternation: Alternation::Drop.into(), ..request }).await;
    let prepared = messages(&response);
    let utterances = prepared.as_array().unwrap().iter().map(|message| {
        let text = message["content"].as_str().unwrap();
        if message["role"] == "user" { user(text) } else { assistant(text) }
    });
    let count = CountTokensRequest { utterances: utterances.collect(), ..Default::default() };
    let counts = session.context().count_tokens(count).await.reply().token_counts;
    assert_eq!(response.token_count, Some(counts.iter().sum()));
    let tight = PrepareHistoryRequest { token_budget: Some(20), ..history(&json!(turns(8)), "next") };
    let response = prepare(&session, tight).await;
    assert!(response.token_count() <= 20 && response.message_count() == 3, "{response:?}");
    assert!(reasons(&response).iter().all(|(_, reason)| *reason == DropReason::TokenBudget));
}

/// What the limits leave out is quoted, for the outgoing prompt or another one.
#[tokio::test]
async fn what_does_not_fit_is_recalled() {
    let session = Session::new().await;
    let mut said =
        vec![said("user", "My parrot is called Captain Flint."), said("assistant", "A fine name.")];
    said.extend(turns(40));
    let asking = |prompt: &str, recall: HistoryRecall| PrepareHistoryRequest {
        recall: Some(recall),
        ..history(&json!(said), prompt)
    };
    let quote = |response: &PrepareHistoryResponse| {
        let all = messages(response);
        let count = all.as_array().map_or(0, Vec::len);
        (all[count - 2]["content"].as_str().unwrap_or_default().to_owned(), count)
    };
    let response = prepare(&session, asking("Which parrot?", HistoryRecall::default())).await;
    let (text, count) = quote(&response);
    assert!(text.contains("\nUser: My parrot is called Captain Flint.\n"), "{text}");
    // Beside the quote and the prompt there are 18 messages: the 19th would begin with an answer.
    assert_eq!((count, response.recalled.first()), (20, Some(&0)));
    let other = HistoryRecall { prompt: "parrot".to_owned(), limit: Some(1), ..Default::default() };
    let response = prepare(&session, asking("Which?", other)).await;
    assert_eq!(response.recalled, [0]);
    let none = prepare(&session, history(&json!(said), "Which parrot?")).await;
    assert!(none.recalled.is_empty() && !none.messages_json.contains("Flint"));
    for (recall, field) in [
        (HistoryRecall { limit: Some(51), ..Default::default() }, "recall.limit"),
        (HistoryRecall { max_percent: Some(0), ..Default::default() }, "recall.max_percent"),
        (HistoryRecall { min_relevance: Some(1.1), ..Default::default() }, "recall.min_relevance"),
    ] {
        let refusal = session.context().prepare_history(asking("parrot", recall)).await.refusal();
        refusal.is(Code::InvalidArgument, "INVALID_FIELD").blames(field);
    }
    let refusal = session.context().prepare_history(asking("", HistoryRecall::default())).await.refusal();
    refusal.is(Code::InvalidArgument, "INVALID_FIELD").blames("recall.prompt");
}

/// Each call continues the summary with which its history begins; nothing exceeds the budget, and no call is without its
/// result.
#[tokio::test]
async fn compactions_chain() {
    let session = Session::new().await;
    for placement in [SummaryPlacement::System, SummaryPlacement::UserMessage] {
        let mut history = vec![
            said("system", "Be brief."),
            said("user", "Fix the stall of the queue in src/queue.rs. Never touch the public API."),
        ];
        let mut compactions = 0;
        for round in 1..=40 {
            let (file, id) = (format!("src/part{round}.rs"), format!("call-{round}"));
            let arguments = json!({"path": file, "old": "a", "new": "b"}).to_string();
            let function = json!({"name": "edit", "arguments": arguments});
            let call = json!({"id": id, "type": "function", "function": function});
            history.extend([
                json!({"role": "assistant", "content": "I edit the next part.", "tool_calls": [call]}),
                json!({"role": "tool", "tool_call_id": id, "content": "The file was changed. ".repeat(8)}),
            ]);
            let request = PrepareHistoryRequest {
                messages_json: json!(history).to_string(),
                token_budget: Some(700),
                summary_token_limit: Some(300),
                summary_placement: placement.into(),
                ..Default::default()
            };
            let response = prepare(&session, request).await;
            assert!(response.token_count() <= 700, "{}", response.token_count());
            let folded = |dropped: &&DroppedMessage| dropped.reason() == DropReason::Summarised;
            let count = response.dropped.iter().filter(folded).count();
            assert_eq!(count, response.dropped.len(), "{:?}", response.dropped);
            assert!(count == 0 || response.history_token_count() > response.token_count());
            compactions += usize::from(count > 0);
            history = messages(&response).as_array().unwrap().clone();
            let of = |role: &str| history.iter().filter(|message| message["role"] == role).count();
            let calls = history.iter().filter(|message| message["tool_calls"].is_array()).count();
            assert_eq!(of("tool"), calls, "{history:?}");
            let told = history.iter().filter(|message| message.to_string().contains("Goal: Fix the stall"));
            assert_eq!(told.count(), usize::from(compactions > 0), "one summary: {history:?}");
        }
        assert!(compactions >= 5, "{compactions}");
        let summary = json!(history).to_string();
        assert!(
            summary.contains("Never touch the public API") && summary.contains("edit → ok: "),
            "{summary}"
        );
    }
}

/// Until the next messages leave, a history that grows is told alike.
#[tokio::test]
async fn a_summary_stays_until_the_next_messages_leave() {
    let session = Session::new().await;
    let (mut before, mut same) = (Vec::new(), 0);
    for count in 60..100 {
        let request = PrepareHistoryRequest {
            token_budget: Some(500),
            summary_token_limit: Some(100),
            ..history(&json!(turns(count)), "")
        };
        let now = messages(&prepare(&session, request).await).as_array().unwrap().clone();
        same += usize::from(now.starts_with(&before));
        before = now;
    }
    assert!(same > 30, "{same} of 40 begin like the one before");
}
