//! What a namespace can store, as callers see it: the code and details of refusals.

use std::fmt::Debug;

use futures::{StreamExt, stream};
use tonic::Response;
use utterd::{
    config::{Backend, DurableEngine, Preset},
    domain::limits::{CONVERSATION_BYTES, UTTERANCE_BYTES},
    engine::SystemClock,
    proto::{
        import_conversation_request::Message as In, memorize_stream_response::Result as Outcome,
        memory_service_server::MemoryService,
    },
    server::Server,
};

use crate::support::prelude::*;

/// Room for one conversation with 1,000 bytes in one utterance.
const ROOM: u64 = CONVERSATION_BYTES + UTTERANCE_BYTES + 1_000;

fn conversations(most: u32) -> Settings {
    Settings { max_conversations_per_namespace: most, ..Settings::of(Preset::Session) }
}

fn bytes(most: u64) -> Settings {
    Settings { max_bytes_per_namespace: most, ..Settings::of(Preset::Session) }
}

fn to(conversation: &str, text: &str) -> MemorizeRequest {
    MemorizeRequest { conversation_id: conversation.to_owned(), ..memorize(vec![user(text)]) }
}

/// The refusal names the quota, the usage and the limit, and no time to retry.
#[track_caller]
fn over<T: Debug>(result: Result<Response<T>, Status>, quota: &str, limit: u64, used: u64) -> Refused {
    let refused = result.refusal().is(Code::ResourceExhausted, "NAMESPACE_QUOTA");
    let info = refused.details().error_info().expect("an ErrorInfo");
    let told = ["namespace", "quota", "limit", "used"].map(|name| info.metadata[name].clone());
    assert_eq!(told, ["default".to_owned(), quota.to_owned(), limit.to_string(), used.to_string()]);
    let failure = refused.details().quota_failure().expect("a QuotaFailure");
    assert_eq!((failure.violations.len(), failure.violations[0].subject.as_str()), (1, quota));
    assert!(failure.violations[0].description.contains(quota), "{failure:?}");
    assert!(refused.details().retry_info().is_none(), "it does not help to wait");
    refused
}

fn import(id: &str) -> impl futures::Stream<Item = ImportConversationRequest> + Send + 'static {
    let header = ImportHeader { conversation_id: id.to_owned(), ..Default::default() };
    let content = br#"[{"role": "user", "content": "imported"}]"#.to_vec();
    stream::iter([In::Header(header), In::Chunk(content)])
        .map(|message| ImportConversationRequest { message: Some(message) })
}

#[tokio::test]
async fn no_call_starts_a_conversation_beyond_the_quota() {
    const QUOTA: &str = "max_conversations_per_namespace";
    let session = Session::with(&conversations(2)).await;
    let first = session.say(vec![user("hello")]).await.conversation_id;
    session.memory().memorize(to("second", "hello")).await.reply();
    let before = session.cursor();
    over(session.memory().memorize(to("third", "hello")).await, QUOTA, 2, 2);
    let elsewhere = MemorizeRequest { recipient_id: "ann".into(), ..memorize(vec![user("hello")]) };
    over(session.memory().memorize(elsewhere.clone()).await, QUOTA, 2, 2);
    let mut calls = session.conversations();
    over(calls.create_conversation(CreateConversationRequest::default()).await, QUOTA, 2, 2);
    over(calls.fork_conversation(ForkConversationRequest::default()).await, QUOTA, 2, 2);
    over(calls.import_conversation(import("third")).await, QUOTA, 2, 2);
    session.clock.advance(Duration::from_secs(3_600));
    let rollover = over(session.memory().memorize(memorize(vec![user("I am back")])).await, QUOTA, 2, 2);
    assert!(rollover.message().contains("delete conversations"), "{rollover:?}");
    assert_eq!(session.cursor(), before, "nothing happened");
    assert_eq!(session.capacity().await.conversation_id, first, "it has not ended");

    session.memory().memorize(to(&first, "it goes on")).await.reply();
    calls
        .end_conversation(EndConversationRequest { conversation_id: first, ..Default::default() })
        .await
        .reply();
    over(session.memory().memorize(elsewhere.clone()).await, QUOTA, 2, 2);
    let delete = DeleteConversationRequest { conversation_id: "second".into(), ..Default::default() };
    calls.delete_conversation(delete).await.reply();
    session.memory().memorize(elsewhere).await.reply();
}

#[tokio::test]
async fn no_call_stores_bytes_beyond_the_quota() {
    const QUOTA: &str = "max_bytes_per_namespace";
    let session = Session::with(&bytes(ROOM)).await;
    session.memory().memorize(to("c", &"x".repeat(900))).await.reply();
    let stored = session.list(ListUtterancesRequest { conversation_id: "c".into(), ..Default::default() });
    let utterance_id = stored.await[0].utterance_id.clone();
    let (used, before) = (ROOM - 100, session.cursor());
    over(session.memory().memorize(to("c", "no")).await, QUOTA, ROOM, used);
    let messages = [to("c", "no"), to("c", "nor this")]
        .map(|it| MemorizeStreamRequest { memorize: Some(it), ..Default::default() });
    let mut answers = session.memory().memorize_stream(stream::iter(messages)).await.reply();
    for _ in 0..2 {
        let answer = answers.message().await.expect("the stream goes on").expect("an answer").result;
        let Some(Outcome::Error(status)) = answer else { panic!("not refused: {answer:?}") };
        assert_eq!(status.code, Code::ResourceExhausted as i32);
    }
    let mut calls = session.conversations();
    let create = CreateConversationRequest { conversation_id: "d".into(), ..Default::default() };
    over(calls.create_conversation(create).await, QUOTA, ROOM, used);
    let fork = ForkConversationRequest { conversation_id: "c".into(), ..Default::default() };
    over(calls.fork_conversation(fork).await, QUOTA, ROOM, used);
    over(calls.import_conversation(import("d")).await, QUOTA, ROOM, used);
    let edit = |content: String| UpdateUtteranceRequest {
        conversation_id: "c".into(),
        utterance_id: utterance_id.clone(),
        content,
        update_mask: mask(&["content"]),
        ..Default::default()
    };
    over(calls.update_utterance(edit("y".repeat(1_000))).await, QUOTA, ROOM, used);
    assert_eq!(session.cursor(), before, "nothing happened");

    let forget = |mode: ForgetMode| ForgetRequest {
        conversation_id: "c".into(),
        instructions: "sequence:1".into(),
        mode: mode.into(),
        ..Default::default()
    };
    session.memory().forget(forget(ForgetMode::Soft)).await.reply();
    over(session.memory().memorize(to("c", "no")).await, QUOTA, ROOM, used);
    let export = ExportConversationRequest { conversation_id: "c".into(), ..Default::default() };
    assert!(calls.export_conversation(export).await.reply().message().await.expect("it is read").is_some());
    session.memory().forget(forget(ForgetMode::Hard)).await.reply();
    session.memory().memorize(to("c", &"z".repeat(1_000))).await.reply();
    let end = EndConversationRequest { conversation_id: "c".into(), ..Default::default() };
    calls.end_conversation(end).await.reply();
    over(session.memory().memorize(to("d", "no")).await, QUOTA, ROOM, ROOM);
    let delete = DeleteConversationRequest { conversation_id: "c".into(), ..Default::default() };
    calls.delete_conversation(delete).await.reply();
    session.memory().memorize(to("d", &"x".repeat(1_000))).await.reply();
}

/// Writes that share a commit are judged separately: what fits is accepted.
#[tokio::test]
async fn what_fits_is_taken_whatever_comes_with_it() {
    let session = Session::with(&bytes(ROOM + 3 * (UTTERANCE_BYTES + 1))).await;
    session.memory().memorize(to("c", &"x".repeat(1_000))).await.reply();
    let say = |text: String| {
        let mut memory = session.memory();
        async move { memory.memorize(to("c", &text)).await.is_ok() }
    };
    let texts = (0..24).map(|number| if number % 2 == 0 { "y".repeat(2_000) } else { "z".to_owned() });
    let taken = futures::future::join_all(texts.map(say)).await;
    let large = taken.iter().step_by(2).filter(|taken| **taken).count();
    assert_eq!((large, taken.iter().filter(|taken| **taken).count()), (0, 3));
}

#[tokio::test]
async fn the_count_outlives_a_restart() {
    let files = tempfile::tempdir().expect("a directory");
    let settings = Settings {
        backend: Backend::Durable(DurableEngine::Fjall),
        data_dir: files.path().to_owned(),
        ..conversations(2)
    };
    for most in [2, 2, 3] {
        let settings = Settings { max_conversations_per_namespace: most, ..settings.clone() };
        let server = Server::new(&settings, Arc::new(SystemClock)).expect("the store opens");
        let say = |id: String| server.services().memorize(Request::new(to(&id, "hello")));
        for number in 0..most {
            say(number.to_string()).await.reply();
        }
        let used = most.into();
        over(say("one more".into()).await, "max_conversations_per_namespace", used, used);
    }
}

/// A server with quotas refuses to run over a store that does not support them.
#[tokio::test]
async fn a_store_that_keeps_no_quotas_is_refused() {
    let refused = Server::over(Gate::new(), &conversations(1), Arc::new(SystemClock)).err();
    let told = refused.expect("it keeps no quotas").to_string();
    assert!(told.ends_with("keeps no quotas"), "{told}");
    assert!(Server::over(Gate::new(), &Settings::default(), Arc::new(SystemClock)).is_ok());
}
