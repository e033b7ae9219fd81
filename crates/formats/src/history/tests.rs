use serde_json::{Value, json};

use super::{read::read, *};
use utterd_domain::{Refusal, TokenCounter, history::DropReason};

/// Counts a token per four bytes.
struct Fours;

impl TokenCounter for Fours {
    fn count(&self, text: &str) -> u32 {
        text.len().div_ceil(4) as u32
    }
}

const OPENAI: Request = Request {
    limits: Limits { messages: 20, bytes: 100 << 10, tokens: None },
    alternation: Alternation::Merge,
    format: Format::OpenAiChat,
    max_content_bytes: 1 << 20,
    recall: None,
    summary: None,
    whole_messages: false,
};
const ANTHROPIC: Request = Request { format: Format::AnthropicMessages, ..OPENAI };

fn prepared(history: &Value, prompt: &str, request: &Request) -> Result<Prepared, Refusal> {
    let prompt = (!prompt.is_empty()).then(|| super::prompt(prompt));
    prepare(read(&history.to_string())?, prompt, request, &Fours)
}

fn messages(prepared: &Prepared) -> Value {
    serde_json::from_str(&prepared.messages_json).unwrap()
}

fn reasons(prepared: &Prepared) -> Vec<(usize, DropReason)> {
    prepared.dropped.iter().map(|dropped| (dropped.index, dropped.reason)).collect()
}

fn kinds(prepared: &Prepared) -> Vec<WarningKind> {
    prepared.warnings.iter().map(|warning| warning.kind).collect()
}

/// The content of a message to Anthropic that is one text.
fn block(text: &str) -> Value {
    json!([{"type": "text", "text": text}])
}

fn call(id: &str) -> Value {
    json!({"id": id, "type": "function", "function": {"name": "find", "arguments": "{\"q\":1}"}})
}

fn exchange(id: &str) -> [Value; 2] {
    [
        json!({"role": "assistant", "content": null, "tool_calls": [call(id)]}),
        json!({"role": "tool", "tool_call_id": id, "content": "it is"}),
    ]
}

#[test]
fn what_is_no_message_is_left_out_with_its_reason() {
    let history = json!([
        7,
        {"content": "x"},
        {"role": "robot", "content": "x"},
        {"role": "user", "content": 5},
        {"role": "user", "content": " \n"},
        {"role": "assistant", "content": "", "tool_calls": [{"id": "a"}]},
        {"role": "assistant", "content": "", "tool_calls": "a"},
        {"role": "tool", "content": "x"},
        {"role": "tool", "tool_call_id": "z", "content": "x"},
        {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "x"}}]},
        {"role": "assistant", "tool_calls": [call(&"x".repeat(300))]},
        {"role": "user", "content": "fine", "timestamp": 3, "thinkingSteps": []},
    ]);
    let prepared = prepared(&history, "", &OPENAI).unwrap();
    assert_eq!(messages(&prepared), json!([{"role": "user", "content": "fine"}]));
    use DropReason::*;
    let expected = [
        NotAMessage,
        UnknownRole,
        UnknownRole,
        InvalidContent,
        Empty,
        InvalidToolCall,
        InvalidToolCall,
        OrphanedResult,
        OrphanedResult,
        InvalidContent,
        UnansweredCall,
    ];
    assert_eq!(reasons(&prepared), (0..).zip(expected).collect::<Vec<_>>());
    let texts: Vec<_> = prepared.dropped.iter().map(|dropped| dropped.text.as_str()).collect();
    assert_eq!(texts[0], "messages_json[0]: is a number; accepted: a message: an object with a role");
    assert!(texts[2].starts_with("messages_json[2].role: is \"robot\"; accepted: system,"), "{}", texts[2]);
    assert!(texts[5].starts_with("messages_json[5].tool_calls[0].function: is missing;"), "{}", texts[5]);
    assert!(
        texts.iter().all(|text| text.starts_with("messages_json[") && text.contains("ccepted")),
        "{texts:?}"
    );
}

#[test]
fn blocks_are_read_as_both_providers_write_them() {
    let history = json!([
        {"role": "developer", "content": [{"type": "input_text", "text": "be brief"}]},
        {"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "image"}, "b"]},
        {"role": "assistant", "content": [
            {"type": "thinking", "thinking": "…", "signature": "s"},
            {"type": "text", "text": "let me see"},
            {"type": "tool_use", "id": "t1", "name": "find", "input": {"q": 1}},
        ]},
        {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": "it is"}]},
            {"type": "text", "text": "thanks"},
        ]},
        {"role": "assistant", "content": null, "refusal": "no"},
    ]);
    let prepared = prepared(&history, "and?", &OPENAI).unwrap();
    let expected = json!([
        {"role": "system", "content": "be brief"},
        {"role": "user", "content": "a\nb"},
        {"role": "assistant", "content": "let me see", "tool_calls": [call("t1")]},
        {"role": "tool", "content": "it is", "tool_call_id": "t1"},
        {"role": "user", "content": "thanks"},
        {"role": "assistant", "content": "no"},
        {"role": "user", "content": "and?"},
    ]);
    assert_eq!(messages(&prepared), expected);
    assert_eq!((prepared.message_count, prepared.dropped.len()), (7, 0));
    assert_eq!(kinds(&prepared), [WarningKind::PartsLeftOut; 2]);
}

#[test]
fn anthropic_has_system_apart_and_results_with_the_user() {
    let mut history = vec![
        json!({"role": "system", "content": "one"}),
        json!({"role": "user", "content": "q", "name": "Ann"}),
    ];
    history.extend(exchange("call:1"));
    history.extend([json!({"role": "user", "content": "r"}), json!({"role": "system", "content": "two"})]);
    history.extend(exchange("call:1"));
    let prepared = prepared(&json!(history), "and?", &ANTHROPIC).unwrap();
    let said = messages(&prepared);
    let [id, again] = [1, 3].map(|at| &said[at]["content"][0]["id"]);
    assert!(id.as_str().unwrap().starts_with("call_1_") && id != again);
    let expected = json!([
        {"role": "user", "content": block("Ann: q")},
        {"role": "assistant", "content": [{"type": "tool_use", "id": id, "name": "find", "input": {"q": 1}}]},
        {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": id, "content": "it is"},
            {"type": "text", "text": "r"},
        ]},
        {"role": "assistant", "content": [{"type": "tool_use", "id": again, "name": "find", "input": {"q": 1}}]},
        {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": again, "content": "it is"},
            {"type": "text", "text": "and?"},
        ]},
    ]);
    assert_eq!(said, expected);
    assert_eq!(prepared.system, "one\n\ntwo");
    assert_eq!(kinds(&prepared), [WarningKind::CallIdsChanged]);
}

#[test]
fn openai_gets_ids_of_at_most_40_bytes() {
    let mut history = vec![json!({"role": "user", "content": "q"})];
    history.extend(exchange(&"call_".repeat(13)));
    let prepared = prepared(&json!(history), "and?", &OPENAI).unwrap();
    let messages = messages(&prepared);
    let id = messages[1]["tool_calls"][0]["id"].as_str().unwrap();
    assert!(id.starts_with("call_call_") && id.len() == 40);
    assert_eq!(messages[2]["tool_call_id"], id);
    assert_eq!(kinds(&prepared), [WarningKind::CallIdsChanged]);
}

#[test]
fn exchanges_that_overlap_are_told_apart() {
    let calls = |ids: &[&str]| {
        let calls: Vec<_> = ids.iter().map(|id| call(id)).collect();
        json!({"role": "assistant", "content": null, "tool_calls": calls})
    };
    let result = |id: &str, text: &str| json!({"role": "tool", "tool_call_id": id, "content": text});
    let history = json!([
        calls(&["a", "a"]),
        calls(&["a"]),
        result("a", "1"),
        result("a", "2"),
        result("a", "3"),
        result("a", "4"),
        {"role": "assistant", "content": "let me see", "tool_calls": [call("b"), call("c")]},
        {"role": "assistant", "content": "wait"},
        result("c", "5"),
        {"role": "user", "content": "stop"},
    ]);
    let prepared = prepared(&history, "", &OPENAI).unwrap();
    let expected = json!([
        {"role": "user", "content": "[The conversation goes on.]"},
        calls(&["a", "a_1"]),
        result("a", "2"),
        result("a_1", "3"),
        calls(&["a_2"]),
        result("a_2", "1"),
        {"role": "assistant", "content": "let me see", "tool_calls": [call("c")]},
        result("c", "5"),
        {"role": "assistant", "content": "wait"},
        {"role": "user", "content": "stop"},
    ]);
    assert_eq!(messages(&prepared), expected);
    assert_eq!(reasons(&prepared), [(5, DropReason::OrphanedResult), (6, DropReason::UnansweredCall)]);
    assert!(prepared.dropped[1].text.contains("[\"b\"]"), "{}", prepared.dropped[1].text);
    assert!(prepared.dropped[1].text.contains("the rest of the message stays"));
    let expected = [WarningKind::ResultsMoved, WarningKind::CallIdsChanged, WarningKind::PlaceholderAdded];
    assert_eq!(kinds(&prepared), expected);
}

#[test]
fn a_user_begins() {
    let history = json!([{"role": "user", "content": "q"}, {"role": "assistant", "content": "a "}]);
    let one = Request { limits: Limits { messages: 1, ..ANTHROPIC.limits }, ..ANTHROPIC };
    let only = json!([{"role": "user", "content": block("r")}]);
    assert_eq!(messages(&prepared(&history, "r", &one).unwrap()), only);
    let history = json!([{"role": "assistant", "content": "a "}]);
    let led = prepared(&history, "", &ANTHROPIC).unwrap();
    let lead = "[The conversation goes on.]";
    let begins =
        json!([{"role": "user", "content": block(lead)}, {"role": "assistant", "content": block("a")}]);
    assert_eq!(messages(&led), begins, "nothing was left out");
    assert_eq!(kinds(&led), [WarningKind::PlaceholderAdded]);
    let malformed = json!([{"role": "user", "content": 7}, {"role": "assistant", "content": "a "}]);
    let cut = json!([
        {"role": "assistant", "content": "b"},
        {"role": "system", "content": "s"},
        {"role": "assistant", "content": "a "},
    ]);
    let three = Request { limits: Limits { messages: 3, ..ANTHROPIC.limits }, ..ANTHROPIC };
    for (history, request) in [(malformed, &ANTHROPIC), (cut, &three)] {
        let led = prepared(&history, "", request).unwrap();
        assert_eq!(messages(&led), begins, "{history}");
    }
    let said = json!([{"role": "user", "content": lead}, {"role": "assistant", "content": "a "}]);
    assert_eq!(messages(&prepared(&history, "", &OPENAI).unwrap()), said);
}

#[test]
fn rows_of_one_role_are_merged_dropped_or_refused() {
    let history = json!([
        {"role": "user", "content": "1"},
        {"role": "user", "content": "2"},
        {"role": "assistant", "content": "3"},
        {"role": "user", "content": "4"},
    ]);
    let with = |alternation| prepared(&history, "5", &Request { alternation, ..OPENAI });
    let merged = with(Alternation::Merge).unwrap();
    assert_eq!(messages(&merged)[0]["content"], "1\n\n2");
    assert_eq!(messages(&merged)[2]["content"], "4\n\n5");
    assert_eq!(kinds(&merged), [WarningKind::MessagesMerged]);
    let dropped = with(Alternation::Drop).unwrap();
    assert_eq!(reasons(&dropped), [(0, DropReason::Alternation), (3, DropReason::Alternation)]);
    assert_eq!(messages(&dropped)[2]["content"], "5");
    let refused = with(Alternation::Reject).unwrap_err();
    assert!(
        refused.to_string().starts_with(
            "messages_json[1]: has the role user, the same as messages_json[0] directly before it"
        )
    );
}

#[test]
fn limits_are_kept_and_the_prompt_goes_out_whole() {
    let mut history = Vec::new();
    for number in 0..30 {
        history.push(json!({"role": "user", "content": format!("question {number}")}));
        history.extend(exchange("a"));
        history.push(json!({"role": "assistant", "content": "an answer"}));
    }
    for format in [Format::OpenAiChat, Format::AnthropicMessages] {
        for bytes in [100, 200, 1_000, 2_000, 5_000] {
            let limits = Limits { messages: 200, bytes, tokens: None };
            let prepared =
                prepared(&json!(history), "the prompt", &Request { limits, format, ..OPENAI }).unwrap();
            assert!(prepared.messages_json.len() <= bytes);
            assert!(prepared.messages_json.contains("the prompt"));
            assert!(prepared.messages_json.len() + 500 > bytes, "what fits stays");
        }
        for tokens in [10, 50, 200, 500] {
            let limits = Limits { messages: 200, bytes: 1 << 20, tokens: Some(tokens) };
            let prepared =
                prepared(&json!(history), "the prompt", &Request { limits, format, ..OPENAI }).unwrap();
            assert!(prepared.token_count <= tokens && prepared.token_count + 40 > tokens);
        }
        let content = if format == Format::OpenAiChat { json!("the prompt") } else { block("the prompt") };
        let least = json!([{"role": "user", "content": content}]).to_string().len();
        let with = |bytes| {
            let limits = Limits { bytes, ..OPENAI.limits };
            prepared(&json!(history), "the prompt", &Request { limits, format, ..OPENAI })
        };
        assert_eq!(with(least).unwrap().message_count, 1);
        let refused = with(least - 1).unwrap_err().to_string();
        assert!(
            refused.starts_with(&format!("max_bytes: is {}; the prompt alone needs {least}", least - 1)),
            "{refused}"
        );
    }
}

/// What exceeds a limit by itself is cut, the prompt or else the newest message and its results.
#[test]
fn a_newest_message_above_the_limits_is_cut() {
    let long: String = (1..=900).map(|clause| format!("Clause {clause} holds. ")).collect();
    let history = json!([{"role": "user", "content": "q"}, {"role": "assistant", "content": "a"}]);
    let [call, mut result] = exchange("a");
    result["content"] = long.as_str().into();
    let loop_ = json!([{"role": "user", "content": "q"}, call, result]);
    for format in [Format::OpenAiChat, Format::AnthropicMessages] {
        for (bytes, tokens) in [(4_000, None), (100 << 10, Some(1_000))] {
            let limits = Limits { messages: 20, bytes, tokens };
            let request = Request { limits, format, ..OPENAI };
            for (history, prompt) in [(&history, long.as_str()), (&loop_, "")] {
                let cut = prepared(history, prompt, &request).unwrap();
                let json = &cut.messages_json;
                assert!(json.len() <= bytes && tokens.is_none_or(|most| cut.token_count <= most));
                assert!(
                    json.len() > 2_500
                        && json.contains("Clause 1 holds.")
                        && json.contains("Clause 900 holds.")
                );
                assert!(json.contains(" tokens left out …]"));
                assert!(kinds(&cut).contains(&WarningKind::MessagesTrimmed));
            }
            let whole = Request { whole_messages: true, ..request };
            let refused = prepared(&history, &long, &whole).unwrap_err().to_string();
            let says =
                if tokens.is_some() { "token_budget: is 1000; accepted: " } else { "the prompt alone needs" };
            assert!(refused.contains(says), "{refused}");
            assert_eq!(prepared(&loop_, "", &whole).unwrap().message_count, 3);
        }
    }
}

#[test]
fn halves_of_surrogate_pairs_are_replaced() {
    let read = read(r#"[{"role": "user", "content": "cut \ud83d"}]"#).unwrap();
    assert_eq!(&*read.entries[0].draft.content, "cut \u{fffd}");
}

#[test]
fn a_summary_is_a_message() {
    let history =
        json!([{"role": "user", "content": "Use tabs."}, {"role": "assistant", "content": "I will."}]);
    let with = |messages| {
        let limits = Limits { messages, ..OPENAI.limits };
        let summary = Some(Compaction { token_limit: 100, ..Compaction::default() });
        prepared(&history, "", &Request { limits, summary, ..OPENAI })
    };
    assert!(with(1).unwrap().summary.contains("Use tabs."));
    let refused = with(0).unwrap_err().to_string();
    assert!(refused.starts_with("max_messages: is 0; the summary alone needs 1"), "{refused}");
}

#[test]
fn a_history_that_is_none_is_refused() {
    for (json, says) in [
        ("[{\"role\"", "messages_json: is not JSON (EOF"),
        ("{}", "messages_json: is an object; accepted: an array of messages"),
        (
            &format!("[{}0]", "0,".repeat(10_000)),
            "messages_json: has 10001 messages; accepted: at most 10000",
        ),
    ] {
        let refused = read(json).unwrap_err().to_string();
        assert!(refused.starts_with(says), "{refused}");
    }
}

#[test]
fn three_quarters_of_a_limit_are_worth_a_warning() {
    let of = |count: usize| {
        let turn =
            |number| json!({"role": if number % 2 == 0 { "user" } else { "assistant" }, "content": "x"});
        json!((0..count).map(turn).collect::<Vec<_>>())
    };
    assert_eq!(kinds(&prepared(&of(14), "p", &OPENAI).unwrap()), []);
    assert_eq!(kinds(&prepared(&of(16), "p", &OPENAI).unwrap()), [WarningKind::ManyMessages]);
    assert!(kinds(&prepared(&of(15), "p", &OPENAI).unwrap()).contains(&WarningKind::ManyMessages));
    let tight = Limits { bytes: 600, tokens: Some(90), ..OPENAI.limits };
    let warned = prepared(&of(14), "p", &Request { limits: tight, ..OPENAI }).unwrap();
    assert_eq!(kinds(&warned), [WarningKind::LargeRequest, WarningKind::NearTokenBudget]);
}
