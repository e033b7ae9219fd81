//! CountTokens: the cost of texts and utterances.

use tonic::Code;
use utterd::{
    config::Settings,
    domain::Encoding,
    proto::{CountTokensRequest, CountTokensResponse, NewUtterance},
};

use crate::support::session::{Reply, Session, assistant, calls, result, user};

async fn count(session: &Session, request: CountTokensRequest) -> CountTokensResponse {
    session.context().count_tokens(request).await.reply()
}

fn texts(texts: &[&str]) -> CountTokensRequest {
    CountTokensRequest { texts: texts.iter().map(ToString::to_string).collect(), ..Default::default() }
}

fn utterances(utterances: Vec<NewUtterance>) -> CountTokensRequest {
    CountTokensRequest { utterances, ..Default::default() }
}

#[tokio::test]
async fn texts_are_counted_exactly() {
    let session = Session::new().await;
    let response = count(&session, texts(&["hello world", "", "tiktoken is great!", "<|endoftext|>"])).await;
    assert_eq!(response.token_counts[..3], [2, 0, 6]);
    assert!(response.token_counts[3] > 1, "text is never a special token");
    assert_eq!((response.exact, response.encoding.as_str()), (Some(true), "o200k_base"));
}

#[tokio::test]
async fn encodings_go_by_their_names_and_by_models() {
    let session = Session::new().await;
    let text = "お誕生日おめでとう";
    for (model, encoding, tokens) in [
        ("cl100k_base", "cl100k_base", 9),
        ("gpt-4", "cl100k_base", 9),
        ("gpt-4o", "o200k_base", 8),
        ("o200k_base", "o200k_base", 8),
        ("p50k_base", "p50k_base", 14),
        ("r50k_base", "r50k_base", 14),
    ] {
        let request = CountTokensRequest { model: model.to_owned(), ..texts(&[text]) };
        let response = count(&session, request).await;
        assert_eq!((response.encoding.as_str(), response.token_counts), (encoding, vec![tokens]), "{model}");
    }
    let other = Settings { encoding: Encoding::ALL[1], ..Settings::default() };
    let session = Session::with(&other).await;
    assert_eq!(count(&session, texts(&["hi"])).await.encoding, Encoding::ALL[1].name());
}

/// An utterance costs what it will cost when it is stored.
#[tokio::test]
async fn utterances_cost_what_they_will() {
    let session = Session::new().await;
    let said = vec![
        user("hello world"),
        NewUtterance { name: "Ann".to_owned(), ..user("hello world") },
        calls(&["a"]),
        result("a", "hello world"),
        NewUtterance { extras_json: "{}".to_owned(), extras_token_count: 7, ..assistant("hello world") },
    ];
    let response = count(&session, utterances(said.clone())).await;
    assert_eq!(response.token_counts[0], 2 + 4);
    assert_eq!(response.token_counts[1], 2 + 4 + 1 + 1);
    assert_eq!(response.token_counts[4], 2 + 4 + 7);
    assert_eq!(response.exact, Some(false), "calls and extras are an estimate");
    assert_eq!(count(&session, utterances(said[..2].to_vec())).await.exact, Some(true));
    let stored = session.say(said).await;
    let costs: Vec<_> = stored.memorized.iter().map(|utterance| utterance.token_count()).collect();
    assert_eq!(costs, response.token_counts);
}

/// A large text is counted too, without blocking others.
#[tokio::test]
async fn large_texts_are_counted() {
    let session = Session::new().await;
    for letter in ["a", " ", "\u{1f600}"] {
        let text = letter.repeat((1 << 20) / letter.len());
        let response = count(&session, texts(&[&text])).await;
        assert!(response.token_counts[0] > 0);
    }
}

#[tokio::test]
async fn what_cannot_be_counted_is_refused() {
    let settings = Settings { max_content_bytes: 1 << 20, ..Settings::default() };
    let session = Session::with(&settings).await;
    let long = "x".repeat((1 << 20) + 1);
    let cases = [
        (CountTokensRequest::default(), "EMPTY_BATCH", "texts", "accepted: texts or utterances"),
        (
            CountTokensRequest { utterances: vec![user("a")], ..texts(&["a"]) },
            "INVALID_FIELD",
            "utterances",
            "accepted: one of the two",
        ),
        (texts(&["a"; 1_001]), "BATCH_TOO_LARGE", "texts", "at most 1000"),
        (utterances(vec![user("a"); 1_001]), "BATCH_TOO_LARGE", "utterances", "at most 1000"),
        (texts(&["fine", &long]), "CONTENT_TOO_LARGE", "texts[1]", "at most 1048576"),
        (
            utterances(vec![user("fine"), user(&long)]),
            "CONTENT_TOO_LARGE",
            "utterances[1].content",
            "at most 1048576",
        ),
        (utterances(vec![NewUtterance::default()]), "UNKNOWN_ROLE", "utterances[0].role", "ROLE_USER"),
        (
            CountTokensRequest { model: "claude-3".to_owned(), ..texts(&["a"]) },
            "INVALID_FIELD",
            "model",
            "accepted: o200k_base, cl100k_base",
        ),
    ];
    for (request, reason, field, says) in cases {
        let refused = session.context().count_tokens(request).await.refusal();
        refused.is(Code::InvalidArgument, reason).blames(field).says(says);
    }
}
