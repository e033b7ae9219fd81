//! Failing servers.

use std::time::Duration;

use serde_json::json;
use tokio::net::TcpListener;
use utterd::{
    engine::models::llm::LlmError,
    summarizer::{LlmSettings, Protocol, build},
};
use wiremock::ResponseTemplate;

use crate::summarizer::{
    material::small,
    raw::{endlessly, half, serving, stalling},
    server::{KEY, Models, client, saying, settings},
};

on_each_protocol! {
    a_wrong_key_is_refused
    an_unknown_model_is_refused
    a_redirection_is_refused_and_not_followed
    too_many_requests_pass_after_a_while
    a_while_may_be_a_date_or_milliseconds
    a_server_that_fails_or_is_overloaded_may_come_back
    the_key_is_never_repeated
    garbage_is_no_summary
    an_endless_answer_is_given_up
    an_endless_reason_is_given_up
    an_answer_that_breaks_off_may_come_whole_next_time
    silence_ends_with_the_timeout
    an_answer_that_stalls_ends_with_the_timeout
    nobody_there_may_come_back
}

fn failing(status: u16, message: &str) -> ResponseTemplate {
    ResponseTemplate::new(status).set_body_json(json!({"error": {"type": "some_error", "message": message}}))
}

async fn refused(protocol: Protocol, answer: ResponseTemplate) -> String {
    match Models::answering(protocol, answer).await.failed().await {
        LlmError::Refused(why) => why,
        other => panic!("{other:?}"),
    }
}

async fn unavailable(protocol: Protocol, answer: ResponseTemplate) -> (String, Option<Duration>) {
    expect_unavailable(Models::answering(protocol, answer).await.failed().await)
}

fn expect_unavailable(failed: LlmError) -> (String, Option<Duration>) {
    match failed {
        LlmError::Unavailable { message, retry_after } => (message, retry_after),
        other => panic!("{other:?}"),
    }
}

async fn a_wrong_key_is_refused(protocol: Protocol) {
    let why = refused(protocol, failing(401, "Incorrect API key provided")).await;
    assert_eq!(why, "401 Unauthorized: Incorrect API key provided");
}

async fn an_unknown_model_is_refused(protocol: Protocol) {
    let why = refused(protocol, failing(404, "The model `small-1` does not exist")).await;
    assert_eq!(why, "404 Not Found: The model `small-1` does not exist");
    let why = refused(protocol, ResponseTemplate::new(404).set_body_string("<p>\nnothing</p>")).await;
    assert_eq!(why, "404 Not Found: <p> nothing</p>");
}

async fn a_redirection_is_refused_and_not_followed(protocol: Protocol) {
    let answer = ResponseTemplate::new(307).insert_header("location", "/elsewhere");
    assert!(refused(protocol, answer).await.starts_with("307"));
}

async fn too_many_requests_pass_after_a_while(protocol: Protocol) {
    let answer = failing(429, "Rate limited").insert_header("retry-after", "7");
    let (message, after) = unavailable(protocol, answer).await;
    assert_eq!(
        (message.as_str(), after),
        ("429 Too Many Requests: Rate limited", Some(Duration::from_secs(7)))
    );
    assert_eq!(unavailable(protocol, failing(429, "Rate limited")).await.1, None);
}

async fn a_while_may_be_a_date_or_milliseconds(protocol: Protocol) {
    let dated = failing(503, "soon")
        .insert_header("date", "Sat, 21 Nov 2026 22:59:30 GMT")
        .insert_header("retry-after", "Sat, 21 Nov 2026 23:01:00 GMT");
    assert_eq!(unavailable(protocol, dated).await.1, Some(Duration::from_secs(90)));
    let past = failing(503, "soon")
        .insert_header("date", "Sat, 21 Nov 2026 22:59:30 GMT")
        .insert_header("retry-after", "Sat, 21 Nov 2026 22:00:00 GMT");
    assert_eq!(unavailable(protocol, past).await.1, None);
    let exact =
        failing(429, "soon").insert_header("retry-after", "2").insert_header("retry-after-ms", "1250");
    assert_eq!(unavailable(protocol, exact).await.1, Some(Duration::from_millis(1_250)));
    let nonsense = failing(429, "soon").insert_header("retry-after", "later");
    assert_eq!(unavailable(protocol, nonsense).await.1, None);
}

async fn a_server_that_fails_or_is_overloaded_may_come_back(protocol: Protocol) {
    for status in [408, 500, 502, 503, 529] {
        let (message, _) = unavailable(protocol, failing(status, "Overloaded")).await;
        assert!(message.starts_with(&status.to_string()) && message.ends_with(": Overloaded"), "{message}");
    }
}

async fn the_key_is_never_repeated(protocol: Protocol) {
    let why = refused(protocol, failing(401, &format!("the key {KEY} is wrong"))).await;
    assert_eq!(why, "401 Unauthorized: the key [key] is wrong");
}

async fn garbage_is_no_summary(protocol: Protocol) {
    for body in ["{\"choices\": [", "", "<html>", "{malformed json: <<<chaos>>>"] {
        let answer = ResponseTemplate::new(200).set_body_raw(body, "application/json");
        let failed = Models::answering(protocol, answer).await.failed().await;
        assert!(
            matches!(&failed, LlmError::Unusable(why) if why.starts_with("it is not JSON")),
            "{failed:?}"
        );
    }
}

async fn an_endless_answer_is_given_up(protocol: Protocol) {
    let failed = client(protocol, &serving(endlessly).await).summarize(small()).await.unwrap_err();
    assert_eq!(failed, LlmError::Unusable("it has more than 1048576 bytes".into()));
}

async fn an_endless_reason_is_given_up(protocol: Protocol) {
    let body = "x".repeat(10 << 20);
    let answer = ResponseTemplate::new(500).set_body_string(body);
    assert!(unavailable(protocol, answer).await.0.len() < 400);
}

async fn an_answer_that_breaks_off_may_come_whole_next_time(protocol: Protocol) {
    let uri = serving(half).await;
    let (message, _) = expect_unavailable(client(protocol, &uri).summarize(small()).await.unwrap_err());
    assert!(message.starts_with("the answer broke off: "), "{message}");
    let uri = serving(|stream| async move { drop(stream) }).await;
    expect_unavailable(client(protocol, &uri).summarize(small()).await.unwrap_err());
}

async fn silence_ends_with_the_timeout(protocol: Protocol) {
    let answer = ResponseTemplate::new(200).set_body_json(saying(protocol, "late"));
    let models = Models::answering(protocol, answer.set_delay(Duration::from_secs(600))).await;
    times_out(protocol, &models.uri()).await;
}

async fn an_answer_that_stalls_ends_with_the_timeout(protocol: Protocol) {
    times_out(protocol, &serving(stalling).await).await;
}

async fn times_out(protocol: Protocol, uri: &str) {
    let settings = LlmSettings { timeout: Duration::from_millis(200), ..settings(protocol, uri) };
    let client = build(&settings, |_| None).unwrap();
    let (message, _) = expect_unavailable(client.summarize(small()).await.unwrap_err());
    assert_eq!(message, "no answer within 200ms");
}

async fn nobody_there_may_come_back(protocol: Protocol) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let uri = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let (message, _) = expect_unavailable(client(protocol, &uri).summarize(small()).await.unwrap_err());
    assert!(!message.contains(&uri) && message.contains("refused"), "{message}");
}
