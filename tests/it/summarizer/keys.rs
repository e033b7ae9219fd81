//! The source of the key.

use std::fs;

use utterd::summarizer::{LlmSettings, Protocol, SetupError, build};

use crate::summarizer::{
    material::small,
    server::{Models, saying, settings},
};

on_each_protocol! {
    comes_from_the_file_before_the_environment
    comes_from_our_variable_before_the_providers
    may_be_none_where_the_server_is_not_the_providers
    is_needed_where_the_server_is_the_providers
    is_refused_where_it_is_none
}

fn provider(protocol: Protocol) -> &'static str {
    match protocol {
        Protocol::OpenAi => "OPENAI_API_KEY",
        Protocol::Anthropic => "ANTHROPIC_API_KEY",
    }
}

/// An environment with both variables set.
fn both(name: &str) -> Option<String> {
    match name {
        "UTTERD_LLM_API_KEY" => Some("ours".into()),
        "OPENAI_API_KEY" | "ANTHROPIC_API_KEY" => Some(format!("{name}'s")),
        _ => None,
    }
}

/// The key sent by a client built from `change`d settings and an environment.
async fn shown(
    protocol: Protocol,
    change: impl FnOnce(&mut LlmSettings),
    environment: impl Fn(&str) -> Option<String>,
) -> Option<String> {
    let models = Models::with_body(protocol, saying(protocol, "- a summary")).await;
    let mut settings = settings(protocol, &models.uri());
    change(&mut settings);
    build(&settings, environment).unwrap().summarize(small()).await.unwrap();
    let request = models.requests().await.remove(0);
    let header = match protocol {
        Protocol::OpenAi => request.headers.get("authorization")?,
        Protocol::Anthropic => request.headers.get("x-api-key")?,
    };
    Some(header.to_str().unwrap().trim_start_matches("Bearer ").to_owned())
}

async fn comes_from_the_file_before_the_environment(protocol: Protocol) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("key");
    fs::write(&path, " from-file\n").unwrap();
    let key = shown(protocol, |settings| settings.api_key_file = Some(path), both).await;
    assert_eq!(key.as_deref(), Some("from-file"));
}

async fn comes_from_our_variable_before_the_providers(protocol: Protocol) {
    assert_eq!(shown(protocol, |_| {}, both).await.as_deref(), Some("ours"));
    let empty = |name: &str| both(name).map(|key| if key == "ours" { " ".into() } else { key });
    let expected = format!("{}'s", provider(protocol));
    assert_eq!(shown(protocol, |_| {}, empty).await, Some(expected));
}

async fn may_be_none_where_the_server_is_not_the_providers(protocol: Protocol) {
    assert_eq!(shown(protocol, |_| {}, |_| None).await, None);
}

async fn is_needed_where_the_server_is_the_providers(protocol: Protocol) {
    let settings = LlmSettings { base_url: None, ..settings(protocol, "http://x") };
    let error = build(&settings, |_| None).err().unwrap();
    assert!(error.to_string().ends_with(&format!("UTTERD_LLM_API_KEY or {}", provider(protocol))), "{error}");
    assert!(build(&settings, both).is_ok());
}

async fn is_refused_where_it_is_none(protocol: Protocol) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("key");
    let built =
        || build(&LlmSettings { api_key_file: Some(path.clone()), ..settings(protocol, "http://x") }, both);
    let refused = || built().err().unwrap();
    assert!(matches!(refused(), SetupError::KeyFile { .. }), "there is no file");
    fs::write(&path, "\n").unwrap();
    assert!(refused().to_string().ends_with("key: it holds no key"));
    fs::write(&path, "two\nlines").unwrap();
    let error = refused().to_string();
    assert!(error.contains("one line of ASCII") && !error.contains("two"), "{error}");
}
