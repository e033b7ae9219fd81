//! Tests the validator: each rule has messages that break it and nothing else; the messages they are derived
//! from are valid.

use serde_json::{Value, json};

use crate::contexts::validator::{Rule, anthropic, openai};

fn openai_rules(messages: &Value) -> Vec<Rule> {
    openai::faults(&messages.to_string()).into_iter().map(|fault| fault.rule).collect()
}

fn anthropic_rules(messages: &Value) -> Vec<Rule> {
    anthropic::faults(&messages.to_string()).into_iter().map(|fault| fault.rule).collect()
}

fn openai_messages() -> Value {
    let call = |id: &str| json!({"id": id, "type": "function", "function": {"name": "find-it_2", "arguments": "{}"}});
    json!([
        {"role": "system", "content": "be brief"},
        {"role": "user", "content": [{"type": "text", "text": "q"}], "name": "Ann"},
        {"role": "assistant", "content": null, "tool_calls": [call("a"), call("b")]},
        {"role": "tool", "tool_call_id": "b", "content": ""},
        {"role": "tool", "tool_call_id": "a", "content": "1"},
        {"role": "assistant", "content": "done"},
        {"role": "assistant", "content": "again", "tool_calls": [call("a")]},
        {"role": "tool", "tool_call_id": "a", "content": "1"},
    ])
}

fn anthropic_messages() -> Value {
    let call = |id: &str| json!({"type": "tool_use", "id": id, "name": "find-it_2", "input": {}});
    let result = |id: &str| json!({"type": "tool_result", "tool_use_id": id, "content": "1"});
    json!([
        {"role": "user", "content": "q"},
        {"role": "assistant", "content": [{"type": "text", "text": "hm"}, call("a"), call("b")]},
        {"role": "user", "content": [result("b"), {"type": "tool_result", "tool_use_id": "a"}, {"type": "text", "text": "?"}]},
        {"role": "assistant", "content": [call("c")]},
        {"role": "user", "content": [result("c")]},
        {"role": "assistant", "content": "done"},
    ])
}

/// Breaks one rule by changing a value of a valid array; `at` is a JSON pointer, and null removes.
fn broken(mut messages: Value, at: &str, to: Value) -> Value {
    let (parent, last) = at.rsplit_once('/').expect("a pointer");
    match (messages.pointer_mut(parent).expect("the place exists"), to) {
        (Value::Object(fields), Value::Null) => _ = fields.remove(last),
        (Value::Object(fields), to) => _ = fields.insert(last.to_owned(), to),
        (Value::Array(values), Value::Null) => _ = values.remove(last.parse().expect("a place")),
        (Value::Array(values), to) if last == "-" => values.push(to),
        (Value::Array(values), to) => values[last.parse::<usize>().expect("a place")] = to,
        (other, _) => panic!("{other}"),
    }
    messages
}

#[test]
fn fine_messages_have_no_fault() {
    assert_eq!(openai_rules(&openai_messages()), []);
    assert_eq!(anthropic_rules(&anthropic_messages()), []);
    assert_eq!(anthropic::system_faults(&json!("be brief")), []);
    assert_eq!(anthropic::system_faults(&json!([{"type": "text", "text": "be brief"}])), []);
}

#[test]
fn what_is_no_array_of_messages_is_a_fault() {
    for json in ["", "{}", "[]", "[", "null"] {
        for faults in [openai::faults(json), anthropic::faults(json)] {
            assert_eq!(faults.iter().map(|fault| fault.rule).collect::<Vec<_>>(), [Rule::Messages], "{json}");
        }
    }
}

#[test]
fn each_rule_of_openai_can_be_broken() {
    let cases = [
        ("/0", json!(3), vec![Rule::Shape]),
        ("/0/role", Value::Null, vec![Rule::Shape]),
        ("/0/role", json!("root"), vec![Rule::Role]),
        ("/0/content", Value::Null, vec![Rule::Shape]),
        ("/0/content", json!(""), vec![Rule::EmptyText]),
        ("/0/content", json!([]), vec![Rule::Shape]),
        ("/0/content", json!([{"type": "image_url"}]), vec![Rule::Shape]),
        ("/0/timestamp", json!(1), vec![Rule::UnknownField]),
        ("/1/content/0/text", json!(""), vec![Rule::EmptyText]),
        ("/1/name", json!("Ann Lee"), vec![Rule::Name]),
        ("/1/name", json!("x".repeat(65)), vec![Rule::Name]),
        ("/1/name", json!(1), vec![Rule::Shape, Rule::Name]),
        ("/1/tool_calls", json!([]), vec![Rule::UnknownField]),
        ("/2/tool_calls", json!([]), vec![Rule::Shape, Rule::Orphan, Rule::Orphan]),
        ("/2/tool_calls", Value::Null, vec![Rule::Shape, Rule::Orphan, Rule::Orphan]),
        ("/2/tool_calls/0/type", Value::Null, vec![Rule::Shape]),
        ("/2/tool_calls/0/index", json!(0), vec![Rule::UnknownField]),
        ("/2/tool_calls/0/function/name", json!("a b"), vec![Rule::Name]),
        ("/2/tool_calls/0/function/arguments", json!({}), vec![Rule::Shape]),
        ("/2/tool_calls/0", Value::Null, vec![Rule::Orphan]),
        ("/2", Value::Null, vec![Rule::Orphan, Rule::Orphan]),
        ("/3", Value::Null, vec![Rule::Unanswered]),
        (
            "/3",
            json!({"role": "user", "content": "x"}),
            vec![Rule::Unanswered, Rule::Unanswered, Rule::Orphan],
        ),
        ("/3/tool_call_id", json!("a"), vec![Rule::AnsweredTwice, Rule::Unanswered]),
        ("/3/tool_call_id", json!("z"), vec![Rule::Orphan, Rule::Unanswered]),
        ("/5/content", Value::Null, vec![Rule::Shape]),
        ("/5/content", json!(""), vec![Rule::EmptyText]),
        ("/7", Value::Null, vec![Rule::Unanswered]),
    ];
    for (at, to, rules) in cases {
        let mut found = openai_rules(&broken(openai_messages(), at, to.clone()));
        found.sort();
        let mut rules = rules;
        rules.sort();
        assert_eq!(found, rules, "{at} = {to}");
    }
    let twice = broken(openai_messages(), "/2/tool_calls/1/id", json!("a"));
    let twice = broken(twice, "/3/tool_call_id", json!("a"));
    assert_eq!(openai_rules(&twice), [Rule::UniqueId]);
    let blank = broken(openai_messages(), "/6/tool_calls/0/id", json!(""));
    assert_eq!(openai_rules(&broken(blank, "/7/tool_call_id", json!(""))), [Rule::CallId]);
}

#[test]
fn each_rule_of_anthropic_can_be_broken() {
    let result = |id: &str| json!({"type": "tool_result", "tool_use_id": id});
    let cases = [
        ("/0", json!(3), vec![Rule::Shape, Rule::Alternation]),
        ("/0", Value::Null, vec![Rule::FirstIsUser]),
        ("/0/role", json!("system"), vec![Rule::Role]),
        ("/0/name", json!("Ann"), vec![Rule::UnknownField]),
        ("/0/content", Value::Null, vec![Rule::Shape]),
        ("/0/content", json!([]), vec![Rule::Shape]),
        ("/0/content", json!(" \n"), vec![Rule::EmptyText]),
        ("/0/content", json!([result("a")]), vec![Rule::Orphan]),
        (
            "/0/content",
            json!([{"type": "tool_use", "id": "z", "name": "f", "input": {}}]),
            vec![Rule::Shape, Rule::Unanswered],
        ),
        ("/1/content/0/text", json!(""), vec![Rule::EmptyText]),
        ("/1/content/0/type", json!("thinking"), vec![Rule::Shape]),
        ("/1/content/0/id", json!("x"), vec![Rule::UnknownField]),
        ("/1/content/1/name", json!("a.b"), vec![Rule::Name]),
        ("/1/content/1/input", json!("{}"), vec![Rule::Input]),
        ("/1/content/1/input", Value::Null, vec![Rule::Input]),
        ("/1/content/1", Value::Null, vec![Rule::Orphan]),
        ("/2/content/0", Value::Null, vec![Rule::Unanswered]),
        ("/2/content/0/tool_use_id", json!("a"), vec![Rule::AnsweredTwice, Rule::Unanswered]),
        ("/2/content/0/content", json!(1), vec![Rule::Shape]),
        ("/2/content/0/content", json!([{"type": "text", "text": ""}]), vec![Rule::EmptyText]),
        ("/2/content/-", json!({"type": "text", "text": " "}), vec![Rule::EmptyText]),
        ("/2/content", json!("x"), vec![Rule::Unanswered, Rule::Unanswered]),
        ("/4", Value::Null, vec![Rule::Alternation, Rule::Unanswered]),
        ("/5/content", json!("done "), vec![Rule::TrailingSpace]),
        ("/5/content", json!([{"type": "text", "text": "done\n"}]), vec![Rule::TrailingSpace]),
        ("/5", Value::Null, vec![]),
    ];
    for (at, to, mut rules) in cases {
        let mut found = anthropic_rules(&broken(anthropic_messages(), at, to.clone()));
        found.sort();
        rules.sort();
        assert_eq!(found, rules, "{at} = {to}");
    }
    let again = broken(anthropic_messages(), "/3/content/0/id", json!("a"));
    assert_eq!(anthropic_rules(&broken(again, "/4/content/0/tool_use_id", json!("a"))), [Rule::UniqueId]);
    let dotted = broken(anthropic_messages(), "/3/content/0/id", json!("a.b"));
    let dotted = broken(dotted, "/4/content/0/tool_use_id", json!("a.b"));
    assert_eq!(anthropic_rules(&dotted), [Rule::CallId, Rule::CallId]);
    let last = json!([{"type": "text", "text": "?"}, result("b"), result("a")]);
    assert_eq!(anthropic_rules(&broken(anthropic_messages(), "/2/content", last)), [Rule::ResultsFirst]);
}

#[test]
fn system_text_of_anthropic_is_checked_too() {
    let rules =
        |system| anthropic::system_faults(&system).into_iter().map(|fault| fault.rule).collect::<Vec<_>>();
    assert_eq!(rules(json!(" ")), [Rule::EmptyText]);
    assert_eq!(rules(json!([])), [Rule::Shape]);
    assert_eq!(rules(json!([{"type": "text", "text": ""}])), [Rule::EmptyText]);
    assert_eq!(rules(json!([{"type": "image", "text": "x"}])), [Rule::Shape]);
    assert_eq!(rules(json!(["x"])), [Rule::Shape]);
}
