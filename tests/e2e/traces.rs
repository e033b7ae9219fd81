//! Traces: what a collector receives over OTLP, decoded.

use std::collections::BTreeMap;

use opentelemetry_proto::tonic::{
    collector::trace::v1::ExportTraceServiceRequest,
    common::v1::{KeyValue, any_value::Value},
    trace::v1::{Span, span::SpanKind, status::StatusCode},
};
use prost::Message;
use tonic::{Request, transport::Channel};
use utterd::proto::{
    GetConversationRequest, MemorizeRequest, MemorizeStreamRequest, NewUtterance, RememberRequest, Role,
    SummarizeRequest, conversation_service_client::ConversationServiceClient,
    memory_service_client::MemoryServiceClient,
};
use wiremock::{Mock, MockServer, ResponseTemplate, matchers::any};

use crate::support::binary::Server;

/// A collector, and a server that sends traces to it.
struct Traced {
    collector: MockServer,
    server: Server,
}

impl Traced {
    async fn start(flags: &[&str]) -> Self {
        let collector = MockServer::start().await;
        Mock::given(any()).respond_with(ResponseTemplate::new(200)).mount(&collector).await;
        let uri = collector.uri();
        let server = Server::start(&[&["--traces-endpoint", &uri], flags].concat());
        Self { collector, server }
    }

    async fn channel(&self) -> Channel {
        Channel::from_shared(format!("http://{}", self.server.address)).unwrap().connect().await.unwrap()
    }

    /// Ends the server, and returns the spans that it sent, by name; it sends the last ones when it ends.
    async fn ends(self) -> BTreeMap<String, Vec<Span>> {
        let Self { collector, server } = self;
        server.terminate();
        tokio::task::spawn_blocking(move || server.ended()).await.unwrap();
        let mut spans: BTreeMap<String, Vec<Span>> = BTreeMap::new();
        for request in collector.received_requests().await.unwrap() {
            assert_eq!(request.url.path(), "/v1/traces");
            let export = ExportTraceServiceRequest::decode(&*request.body).unwrap();
            for resource in export.resource_spans {
                let of = attributes(&resource.resource.unwrap().attributes);
                assert_eq!(of["service.name"], "utterd");
                for span in resource.scope_spans.into_iter().flat_map(|scope| scope.spans) {
                    spans.entry(span.name.clone()).or_default().push(span);
                }
            }
        }
        spans
    }
}

fn attributes(pairs: &[KeyValue]) -> BTreeMap<String, String> {
    let text = |value: &Value| match value {
        Value::StringValue(text) => text.clone(),
        Value::IntValue(number) => number.to_string(),
        other => format!("{other:?}"),
    };
    let value = |pair: &KeyValue| pair.value.as_ref()?.value.as_ref().map(text);
    pairs.iter().map(|pair| (pair.key.clone(), value(pair).unwrap_or_default())).collect()
}

fn memorize(conversation: &str, text: &str) -> MemorizeRequest {
    let said = NewUtterance { role: Role::User.into(), content: text.to_owned(), ..Default::default() };
    MemorizeRequest { conversation_id: conversation.to_owned(), utterances: vec![said], ..Default::default() }
}

/// The parent that a caller names, as W3C's trace context writes it.
fn within<T>(message: T, parent: &str) -> Request<T> {
    let mut request = Request::new(message);
    request.metadata_mut().insert("traceparent", parent.parse().unwrap());
    request
}

const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";
const PARENT: &str = "b7ad6b7169203331";

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[tokio::test]
async fn a_call_is_a_part_of_its_callers_trace() {
    // nothing is traced unless a caller asks for it
    let traced = Traced::start(&["--traces-sampled", "0"]).await;
    let mut memory = MemoryServiceClient::new(traced.channel().await);
    let sampled = format!("00-{TRACE}-{PARENT}-01");
    let answer = memory.memorize(within(memorize("talk", "a secret"), &sampled)).await.unwrap();
    let id = answer.metadata().get("x-request-id").unwrap().to_str().unwrap().to_owned();
    memory
        .memorize(within(memorize("talk", "not sampled"), &format!("00-{TRACE}-{PARENT}-00")))
        .await
        .unwrap();
    memory.memorize(memorize("talk", "without a parent")).await.unwrap();
    let mut spans = traced.ends().await;
    let call = spans.remove("utterd.v1.MemoryService/Memorize").expect("the call is traced");
    let commit = spans.remove("commit").expect("its commit is traced");
    assert_eq!((call.len(), commit.len(), spans.len()), (1, 1, 0), "{spans:?}");
    let (call, commit) = (&call[0], &commit[0]);
    assert_eq!((hex(&call.trace_id), hex(&call.parent_span_id)), (TRACE.to_owned(), PARENT.to_owned()));
    assert_eq!((&commit.trace_id, &commit.parent_span_id), (&call.trace_id, &call.span_id));
    assert_eq!((call.kind(), commit.kind()), (SpanKind::Server, SpanKind::Internal));
    assert!(call.start_time_unix_nano <= commit.start_time_unix_nano);
    assert!(commit.end_time_unix_nano <= call.end_time_unix_nano);
    let expected = [
        ("gen_ai.memory.store.id", "talk"),
        ("gen_ai.operation.name", "update_memory"),
        ("gen_ai.provider.name", "utterd"),
        ("rpc.method", "utterd.v1.MemoryService/Memorize"),
        ("rpc.response.status_code", "OK"),
        ("rpc.system.name", "grpc"),
        ("utterd.request_id", &id),
    ];
    let expected = expected.map(|(key, value)| (key.to_owned(), value.to_owned()));
    assert_eq!(attributes(&call.attributes), BTreeMap::from(expected), "and nothing that was said");
}

#[tokio::test]
async fn calls_without_a_parent_are_sampled() {
    let traced = Traced::start(&["--traces-sampled", "1"]).await;
    let channel = traced.channel().await;
    let mut memory = MemoryServiceClient::new(channel.clone());
    memory.memorize(memorize("talk", "about trains")).await.unwrap();
    let prompt = RememberRequest { prompt: "trains".to_owned(), ..Default::default() };
    memory.remember(prompt).await.unwrap();
    let unknown = GetConversationRequest { conversation_id: "none".to_owned(), ..Default::default() };
    ConversationServiceClient::new(channel).get_conversation(unknown).await.unwrap_err();
    let spans = traced.ends().await;
    let search = attributes(&spans["utterd.v1.MemoryService/Remember"][0].attributes);
    assert_eq!(search["gen_ai.operation.name"], "search_memory");
    assert!(!search.values().any(|value| value.contains("trains")), "{search:?}");
    let refused = &spans["utterd.v1.ConversationService/GetConversation"][0];
    assert_eq!(attributes(&refused.attributes)["rpc.response.status_code"], "NOT_FOUND");
    // it is not the server's fault
    assert_eq!(refused.status.as_ref().map(|status| status.code()), Some(StatusCode::Unset));
    let traces: std::collections::BTreeSet<_> = spans.values().flatten().map(|span| &span.trace_id).collect();
    assert_eq!(traces.len(), 3);
}

/// A stream names the first of its conversations, and its commits are parts of it.
#[tokio::test]
async fn a_stream_is_traced() {
    let traced = Traced::start(&["--traces-sampled", "1"]).await;
    let mut memory = MemoryServiceClient::new(traced.channel().await);
    let messages = ["talk", "other", "talk"].map(|conversation| MemorizeStreamRequest {
        memorize: Some(memorize(conversation, "a secret")),
        ..Default::default()
    });
    let mut answers = memory.memorize_stream(tokio_stream::iter(messages)).await.unwrap().into_inner();
    while answers.message().await.unwrap().is_some() {}
    let spans = traced.ends().await;
    let call = &spans["utterd.v1.MemoryService/MemorizeStream"][0];
    let named = call.attributes.iter().filter(|pair| pair.key == "gen_ai.memory.store.id").count();
    assert_eq!((named, attributes(&call.attributes)["gen_ai.memory.store.id"].as_str()), (1, "talk"));
    assert!(spans["commit"].iter().all(|commit| commit.parent_span_id == call.span_id), "{spans:?}");
}

/// The call to a model names the model and its tokens, and nothing that was asked or answered.
#[tokio::test]
async fn a_call_to_a_model_is_traced() {
    let model = MockServer::start().await;
    let answer = serde_json::json!({
        "id": "1", "object": "chat.completion", "created": 1, "model": "small-2026",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": "- short"}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 40, "completion_tokens": 7, "total_tokens": 47},
    });
    Mock::given(any()).respond_with(ResponseTemplate::new(200).set_body_json(answer)).mount(&model).await;
    let url = format!("{}/v1", model.uri());
    let llm = ["--llm", "openai", "--llm-base-url", &url, "--llm-model", "small"];
    let traced = Traced::start(&[&["--traces-sampled", "1"], llm.as_slice()].concat()).await;
    let mut memory = MemoryServiceClient::new(traced.channel().await);
    memory.memorize(memorize("talk", "a secret about a train")).await.unwrap();
    let summarize =
        SummarizeRequest { conversation_id: "talk".to_owned(), wait_for_llm: true, ..Default::default() };
    let summary = memory.summarize(summarize).await.unwrap().into_inner();
    assert_eq!((summary.llm_error.as_str(), summary.text.contains("short")), ("", true), "{summary:?}");
    let spans = traced.ends().await;
    let call = &spans["chat small"][0];
    assert_eq!(call.kind(), SpanKind::Client);
    let attributes = attributes(&call.attributes);
    assert_eq!(attributes["gen_ai.operation.name"], "chat");
    assert_eq!(attributes["gen_ai.request.model"], "small");
    assert!(!format!("{attributes:?}").contains("train"), "{attributes:?}");
}

/// A collector that is away costs spans, and nothing else.
#[tokio::test]
async fn a_collector_that_is_away_is_not_waited_for() {
    let server = Server::start(&["--traces-endpoint", "http://127.0.0.1:9", "--traces-sampled", "1"]);
    let channel =
        Channel::from_shared(format!("http://{}", server.address)).unwrap().connect().await.unwrap();
    MemoryServiceClient::new(channel).memorize(memorize("talk", "hello")).await.unwrap();
    server.terminate();
    tokio::task::spawn_blocking(move || server.ended()).await.unwrap();
}
