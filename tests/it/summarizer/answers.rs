//! The model's responses.

use serde_json::{Value, json};
use utterd::{
    engine::models::llm::{LlmError, LlmSummary, Usage},
    summarizer::Protocol,
};

use crate::summarizer::{
    material::small,
    server::{Models, ended, saying},
};

on_each_protocol! {
    a_summary_is_trimmed_and_names_its_model
    counts_that_cannot_be_read_do_not_matter
    what_is_not_needed_may_be_missing
    nothing_said_is_no_summary
    what_was_cut_off_is_no_summary
    what_ended_for_another_reason_is_no_summary
    another_json_is_no_summary
}

/// Why the response `body` is unusable.
async fn unusable(protocol: Protocol, body: Value) -> String {
    match Models::with_body(protocol, body).await.failed().await {
        LlmError::Unusable(why) => why,
        other => panic!("{other:?}"),
    }
}

async fn a_summary_is_trimmed_and_names_its_model(protocol: Protocol) {
    let models = Models::with_body(protocol, saying(protocol, "\n - HAT136 on May 23\n\n")).await;
    let usage = Some(Usage { input: 40, output: 7 });
    let expected = LlmSummary { text: "- HAT136 on May 23".into(), model: "small-1-2026".into(), usage };
    assert_eq!(models.asked(small()).await, Ok(expected));
}

async fn counts_that_cannot_be_read_do_not_matter(protocol: Protocol) {
    for usage in [json!(null), json!("much"), json!({"prompt_tokens": -1, "input_tokens": 1.5})] {
        let mut body = saying(protocol, "- short");
        body["usage"] = usage;
        let told = Models::with_body(protocol, body).await.asked(small()).await;
        assert_eq!(told.map(|told| (told.text, told.usage)), Ok(("- short".to_owned(), None)));
    }
}

async fn what_is_not_needed_may_be_missing(protocol: Protocol) {
    let body = match protocol {
        Protocol::OpenAi => json!({"choices": [{"message": {"content": "- short"}}]}),
        Protocol::Anthropic => json!({"content": [
            {"type": "thinking", "thinking": "hm", "signature": "x"},
            {"type": "text", "text": "- sho"},
            {"type": "text", "text": "rt"},
        ]}),
    };
    let told = Models::with_body(protocol, body).await.asked(small()).await;
    assert_eq!(told, Ok(LlmSummary { text: "- short".into(), model: "small-1".into(), usage: None }));
}

async fn nothing_said_is_no_summary(protocol: Protocol) {
    for text in ["", " \n\t "] {
        assert_eq!(unusable(protocol, saying(protocol, text)).await, "it is empty");
    }
    let none = match protocol {
        Protocol::OpenAi => json!({"choices": []}),
        Protocol::Anthropic => json!({"content": []}),
    };
    unusable(protocol, none).await;
}

async fn what_was_cut_off_is_no_summary(protocol: Protocol) {
    let reason = if protocol == Protocol::OpenAi { "length" } else { "max_tokens" };
    let why = unusable(protocol, ended(protocol, "- HAT1", reason)).await;
    assert_eq!(why, "it was cut off at the token limit");
}

async fn what_ended_for_another_reason_is_no_summary(protocol: Protocol) {
    let reason = if protocol == Protocol::OpenAi { "content_filter" } else { "refusal" };
    assert!(unusable(protocol, ended(protocol, "- HAT1", reason)).await.contains(reason));
}

async fn another_json_is_no_summary(protocol: Protocol) {
    for body in [json!({}), json!([1]), json!("- HAT136"), json!({"choices": 1, "content": 1})] {
        assert!(unusable(protocol, body).await.starts_with("it is not "));
    }
}

#[tokio::test]
async fn a_refusal_in_words_is_no_summary() {
    let mut body = saying(Protocol::OpenAi, "");
    body["choices"][0]["message"]["refusal"] = "I can't help with that.".into();
    assert_eq!(unusable(Protocol::OpenAi, body).await, "the model declined to answer");
}
