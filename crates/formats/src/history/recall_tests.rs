//! Tests of the quotes from a history that does not fit.

use serde_json::{Value, json};

use super::{read::read, *};
use utterd_domain::{TokenCounter, history::recall::RECALL_PERCENT};

/// Counts a token per four bytes.
struct Fours;

impl TokenCounter for Fours {
    fn count(&self, text: &str) -> u32 {
        text.len().div_ceil(4) as u32
    }
}

fn recalling(messages: usize, prompt: &str) -> Request {
    let recall = Recall {
        prompt: prompt.to_owned(),
        matches: None,
        percent: RECALL_PERCENT,
        min_relevance: Some(0.0),
    };
    let limits = Limits { messages, ..Request::default().limits };
    Request { limits, recall: Some(recall), ..Request::default() }
}

fn prepared(history: &[Value], request: &Request) -> Prepared {
    let history = json!(history).to_string();
    prepare(read(&history).unwrap(), Some(super::prompt("And now?")), request, &Fours).unwrap()
}

fn messages(prepared: &Prepared) -> Vec<Value> {
    serde_json::from_str(&prepared.messages_json).unwrap()
}

/// A parrot, an exchange about it, and twelve turns on other things.
fn history() -> Vec<Value> {
    let call = json!({"id": "a", "type": "function", "function": {"name": "find", "arguments": "{}"}});
    let mut history = vec![
        json!({"role": "system", "content": "Be brief."}),
        json!({"role": "user", "content": "My parrot is called Captain Flint."}),
        json!({"role": "assistant", "content": null, "tool_calls": [call]}),
        json!({"role": "tool", "tool_call_id": "a", "content": "The parrot sits in the oak."}),
    ];
    for turn in 1..=12 {
        history.push(json!({"role": "user", "content": format!("Where is lamp {turn}?")}));
        history.push(json!({"role": "assistant", "content": format!("Lamp {turn} is in Oslo.")}));
    }
    history
}

#[test]
fn what_is_asked_for_is_quoted_before_the_newest_message() {
    let prepared = prepared(&history(), &recalling(6, "Where is the parrot?"));
    assert_eq!(prepared.recalled[..3], [1, 2, 3], "the exchange is whole");
    let told = messages(&prepared);
    let quote = told[told.len() - 2]["content"].as_str().unwrap();
    assert_eq!((&told[0]["content"], &told[told.len() - 2]["role"]), (&json!("Be brief."), &json!("system")));
    assert!(
        quote.starts_with("[Recalled from earlier in this conversation]\nUser: My parrot is called"),
        "{quote}"
    );
    assert!(
        quote.contains("Assistant: [called find({})]\nResult of find: The parrot sits in the oak.\n"),
        "{quote}"
    );
    assert!(quote.ends_with("[End of what was recalled]"));
    // the prompt on top of six: the instruction, the quote, and four of the newest
    assert_eq!(told.len(), 7);
    assert!(told[1..5].iter().zip(&history()[24..]).all(|(told, said)| told["content"] == said["content"]));
    assert!(prepared.recalled.iter().all(|place| prepared.dropped.iter().any(|left| left.index == *place)));
}

#[test]
fn nothing_is_quoted_that_fits_or_does_not_match() {
    let all = prepared(&history(), &recalling(50, "parrot"));
    assert!(all.recalled.is_empty() && all.dropped.is_empty(), "{all:?}");
    let unmatched = recalling(6, "violin");
    let plain = Request { recall: None, ..unmatched.clone() };
    assert_eq!(
        prepared(&history(), &unmatched),
        prepared(&history(), &plain),
        "its share goes to the newest"
    );
}

#[test]
fn a_number_of_matches_and_a_share_bound_it() {
    let one = |request: &Request| Recall { matches: Some(1), ..request.recall.clone().unwrap() };
    let request = recalling(6, "What is my parrot called?");
    let prepared_one = prepared(&history(), &Request { recall: Some(one(&request)), ..request.clone() });
    assert_eq!(prepared_one.recalled, [1]);
    let tokens = Limits { messages: 50, tokens: Some(120), ..request.limits };
    let within = prepared(&history(), &Request { limits: tokens, ..request.clone() });
    assert!(within.token_count <= 120 && !within.recalled.is_empty(), "{within:?}");
    let small = Recall { percent: 10, ..request.recall.clone().unwrap() };
    let none = prepared(&history(), &Request { limits: tokens, recall: Some(small), ..request });
    assert!(none.recalled.is_empty(), "twelve tokens hold nothing");
}

/// For Anthropic, system messages are separate, so user and assistant still alternate.
#[test]
fn anthropic_has_it_in_the_system() {
    let request = Request {
        format: Format::AnthropicMessages,
        alternation: Alternation::Reject,
        ..recalling(6, "Where is the parrot?")
    };
    let prepared = prepared(&history(), &request);
    assert!(prepared.system.starts_with("Be brief.\n\n[Recalled from earlier"), "{}", prepared.system);
    let roles: Vec<_> = messages(&prepared).iter().map(|message| message["role"].clone()).collect();
    assert!(roles.windows(2).all(|pair| pair[0] != pair[1]), "{roles:?}");
}

/// Without an outgoing prompt, the quote precedes the newest user message of the history.
#[test]
fn a_history_without_a_prompt_has_it_before_its_newest_user_message() {
    let history = json!(history()).to_string();
    let prepared = prepare(read(&history).unwrap(), None, &recalling(6, "parrot"), &Fours).unwrap();
    let told = messages(&prepared);
    let at = told.iter().position(|message| message["content"].as_str().unwrap().starts_with("[Recalled"));
    assert_eq!((at, told.len()), (Some(3), 6));
    assert_eq!(told[4]["content"], json!("Where is lamp 12?"));
}
