//! An embedding model, over HTTP.

use std::{fs, sync::Arc, time::Duration};

use serde_json::{Value, json};
use utterd::{
    embedder::{EmbedderSettings, build},
    engine::models::{embedding::Embedder, llm::LlmError},
};
use wiremock::{Mock, MockServer, ResponseTemplate, matchers::any};

use crate::summarizer::{
    raw::{endlessly, half, serving, stalling},
    server::KEY,
};

async fn serving_json(answer: Value) -> MockServer {
    answering(ResponseTemplate::new(200).set_body_json(answer)).await
}

async fn answering(answer: ResponseTemplate) -> MockServer {
    let server = MockServer::start().await;
    Mock::given(any()).respond_with(answer).mount(&server).await;
    server
}

fn settings(uri: &str) -> EmbedderSettings {
    EmbedderSettings {
        base_url: format!("{uri}/v1").parse().unwrap(),
        model: "small-embed".into(),
        dimensions: None,
        api_key_file: None,
        timeout: Duration::from_secs(30),
    }
}

fn client(uri: &str) -> Arc<dyn Embedder> {
    let environment = |name: &str| (name == "UTTERD_EMBEDDING_API_KEY").then(|| KEY.to_owned());
    build(&settings(uri), environment).unwrap()
}

async fn embed(client: &dyn Embedder, texts: &[&str]) -> Result<Vec<Vec<f32>>, LlmError> {
    let texts: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
    client.embed(&texts).await
}

/// The error for two texts if a server responds like this.
async fn failed(answer: ResponseTemplate) -> LlmError {
    let server = answering(answer).await;
    let failed = embed(&*client(&server.uri()), &["one", "two"]).await.unwrap_err();
    assert_eq!(server.received_requests().await.unwrap().len(), 1, "one call is one attempt");
    failed
}

async fn unusable(answer: Value) -> String {
    match failed(ResponseTemplate::new(200).set_body_json(answer)).await {
        LlmError::Unusable(why) => why,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn texts_are_asked_for_and_their_vectors_put_in_order() {
    let answer = json!({
        "object": "list", "model": "small-embed-v2", "usage": {"prompt_tokens": 2, "total_tokens": 2},
        "data": [
            {"object": "embedding", "index": 1, "embedding": [0.25, -1e-3]},
            {"object": "embedding", "index": 0, "embedding": [1, 0]},
        ],
    });
    let server = serving_json(answer).await;
    let client = client(&server.uri());
    assert_eq!(embed(&*client, &["one", "two"]).await, Ok(vec![vec![1.0, 0.0], vec![0.25, -1e-3]]));
    assert_eq!(client.name(), "small-embed");
    let request = server.received_requests().await.unwrap().remove(0);
    assert_eq!((request.method.as_str(), request.url.path()), ("POST", "/v1/embeddings"));
    assert_eq!(request.headers["authorization"], format!("Bearer {KEY}"));
    let expected = json!({"model": "small-embed", "input": ["one", "two"], "encoding_format": "float"});
    assert_eq!(request.body_json::<Value>().unwrap(), expected);
}

#[tokio::test]
async fn a_server_may_leave_the_indexes_out() {
    let server = serving_json(json!({"data": [{"embedding": [1.0]}, {"embedding": [2.0]}]})).await;
    assert_eq!(embed(&*client(&server.uri()), &["one", "two"]).await, Ok(vec![vec![1.0], vec![2.0]]));
}

#[tokio::test]
async fn so_many_values_are_asked_for_and_no_others_taken() {
    let server = serving_json(json!({"data": [{"index": 0, "embedding": [1.0, 0.0, 0.5]}]})).await;
    let of = |dimensions| {
        let settings = EmbedderSettings { dimensions: Some(dimensions), ..settings(&server.uri()) };
        build(&settings, |_| None).unwrap()
    };
    assert_eq!(embed(&*of(3), &["one"]).await, Ok(vec![vec![1.0, 0.0, 0.5]]));
    assert_eq!(of(3).name(), "small-embed, 3 dimensions");
    let why = "an embedding has 3 values, not 2".to_owned();
    assert_eq!(embed(&*of(2), &["one"]).await, Err(LlmError::Unusable(why)));
    let requests = server.received_requests().await.unwrap();
    let asked = requests.iter().map(|request| request.body_json::<Value>().unwrap()["dimensions"].clone());
    assert_eq!(asked.collect::<Vec<_>>(), [3, 2]);
    assert!(requests.iter().all(|request| !request.headers.contains_key("authorization")));
}

#[tokio::test]
async fn what_is_no_vector_for_each_text_cannot_be_used() {
    let data = |data: Value| json!({"data": data});
    for (answer, why) in [
        (json!({"error": "no"}), "it holds no embeddings: missing field `data`"),
        (data(json!([])), "it holds 0 embeddings for 2 texts"),
        (data(json!([{"embedding": [1.0]}])), "it holds 1 embeddings for 2 texts"),
        (data(json!([{"embedding": "AACAPw=="}, {"embedding": "AAAAAA=="}])), "it holds no embeddings: "),
        (data(json!([{"embedding": [null]}, {"embedding": [1.0]}])), "it holds no embeddings: "),
        (data(json!([{"embedding": []}, {"embedding": []}])), "an embedding has 0 values, not 0"),
        (data(json!([{"embedding": [1, 2]}, {"embedding": [1]}])), "an embedding has 1 values, not 2"),
        (
            data(json!([{"index": 1, "embedding": [1.0]}, {"index": 1, "embedding": [1.0]}])),
            "its indexes do not match the texts",
        ),
        (
            data(json!([{"index": 0, "embedding": [1.0]}, {"index": 2, "embedding": [1.0]}])),
            "its indexes do not match the texts",
        ),
    ] {
        let found = unusable(answer.clone()).await;
        assert!(found.starts_with(why), "{found}: {answer}");
    }
    let huge = r#"{"data":[{"embedding":[1e300]},{"embedding":[1]}]}"#;
    let failed = failed(ResponseTemplate::new(200).set_body_raw(huge, "application/json")).await;
    assert!(matches!(failed, LlmError::Unusable(_)), "{failed:?}");
}

#[tokio::test]
async fn garbage_and_what_does_not_end_are_given_up() {
    for body in ["{\"data\": [", "", "<html>"] {
        let failed = failed(ResponseTemplate::new(200).set_body_raw(body, "application/json")).await;
        assert!(
            matches!(&failed, LlmError::Unusable(why) if why.starts_with("it is not JSON")),
            "{failed:?}"
        );
    }
    let failed = embed(&*client(&serving(endlessly).await), &["one"]).await.unwrap_err();
    assert_eq!(failed, LlmError::Unusable("it has more than 8388608 bytes".into()));
    let failed = embed(&*client(&serving(half).await), &["one"]).await.unwrap_err();
    assert!(matches!(failed, LlmError::Unavailable { .. }), "{failed:?}");
}

#[tokio::test]
async fn silence_ends_with_the_timeout() {
    let settings =
        EmbedderSettings { timeout: Duration::from_millis(200), ..settings(&serving(stalling).await) };
    let failed = embed(&*build(&settings, |_| None).unwrap(), &["one"]).await.unwrap_err();
    let message = "no answer within 200ms".to_owned();
    assert_eq!(failed, LlmError::Unavailable { message, retry_after: None });
}

#[tokio::test]
async fn failures_are_told_without_the_key() {
    let error = |message: &str| json!({"error": {"message": message}});
    let answer = ResponseTemplate::new(401).set_body_json(error(&format!("the key {KEY} is wrong")));
    let refused = failed(answer).await;
    assert_eq!(refused, LlmError::Refused("401 Unauthorized: the key [key] is wrong".into()));
    assert_eq!(format!("{refused:?}"), "Refused(401 Unauthorized)");
    let busy = ResponseTemplate::new(429).set_body_json(error("slow down")).insert_header("retry-after", "7");
    let message = "429 Too Many Requests: slow down".to_owned();
    let retry_after = Some(Duration::from_secs(7));
    assert_eq!(failed(busy).await, LlmError::Unavailable { message, retry_after });
}

#[tokio::test]
async fn the_key_comes_from_the_file_then_our_variable_then_the_providers() {
    let server = serving_json(json!({"data": [{"embedding": [1.0]}]})).await;
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("key");
    fs::write(&path, " from-file\n").unwrap();
    let both = |name: &str| match name {
        "UTTERD_EMBEDDING_API_KEY" => Some("ours".to_owned()),
        "OPENAI_API_KEY" => Some("theirs".to_owned()),
        _ => None,
    };
    let theirs = |name: &str| both(name).filter(|_| name == "OPENAI_API_KEY");
    let with_file = EmbedderSettings { api_key_file: Some(path.clone()), ..settings(&server.uri()) };
    for client in [
        build(&with_file, both).unwrap(),
        build(&settings(&server.uri()), both).unwrap(),
        build(&settings(&server.uri()), theirs).unwrap(),
    ] {
        embed(&*client, &["one"]).await.unwrap();
    }
    let requests = server.received_requests().await.unwrap();
    let keys = requests.iter().map(|request| request.headers["authorization"].to_str().unwrap());
    assert_eq!(keys.collect::<Vec<_>>(), ["Bearer from-file", "Bearer ours", "Bearer theirs"]);
    fs::write(&path, "\n").unwrap();
    let error = build(&with_file, both).err().unwrap().to_string();
    assert!(error.starts_with("embedding_api_key_file ") && error.ends_with("it holds no key"), "{error}");
}
