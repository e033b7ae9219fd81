//! Long work is done beside the thread that serves calls: on a runtime of one thread, as the server's are, other calls
//! are answered meanwhile.

use std::{
    future::Future,
    pin::Pin,
    sync::{Mutex, mpsc},
};

use tokio::{sync::oneshot, task::yield_now};
use tonic::Response;
use utterd::{
    config::Preset,
    engine::{Caller, most_offloaded, offload},
    proto::{
        compaction_service_server::CompactionService, context_service_server::ContextService,
        conversation_service_server::ConversationService, memory_service_server::MemoryService,
    },
    rpc::Services,
};

use crate::support::prelude::*;

/// Utterances of the large conversation: more than are searched in place.
const MANY: usize = 5_500;
/// How often other tasks of the thread are given their turn: more often than any call waits for one.
const TURNS: usize = 100;

type Call = Pin<Box<dyn Future<Output = Result<(), Status>> + Send>>;

fn call<T>(answer: impl Future<Output = Result<Response<T>, Status>> + Send + 'static) -> Call {
    Box::pin(async move { answer.await.map(|_| ()) })
}

/// A text of `bytes`.
fn text(bytes: usize) -> String {
    "The pump of the tank failed in the night. ".chars().cycle().take(bytes).collect()
}

/// Takes the place of all long work, until the sender is dropped.
async fn busy() -> mpsc::Sender<()> {
    let (end, ended) = mpsc::channel::<()>();
    let ended = Arc::new(Mutex::new(ended));
    for _ in 0..most_offloaded() {
        let (begin, begun) = oneshot::channel();
        let ended = ended.clone();
        tokio::spawn(offload(true, move || {
            let _ = begin.send(());
            let _ = ended.lock().map(|ended| ended.recv());
        }));
        begun.await.expect("it has its place");
    }
    end
}

/// Each call waits for its long work, while this thread answers another call; then it succeeds.
async fn waits_beside_others(services: &Services, name: &str, call: Call) {
    let end = busy().await;
    let call = tokio::spawn(call);
    for _ in 0..TURNS {
        yield_now().await;
        let other = GetCapacityInfoRequest { conversation_id: "other".to_owned(), ..Default::default() };
        services.get_capacity_info(Request::new(other)).await.expect("an answer");
    }
    assert!(!call.is_finished(), "{name} did its long work on the thread that serves calls");
    drop(end);
    call.await.expect("no panic").unwrap_or_else(|status| panic!("{name}: {status}"));
}

#[tokio::test]
async fn long_work_holds_up_no_other_call() {
    let session = Session::with(&Settings::of(Preset::Session)).await;
    fill(&session).await;
    let services = session.server.services().clone();
    for (name, call) in calls(&services) {
        waits_beside_others(&services, name, call).await;
    }
}

async fn fill(session: &Session) {
    let say = async |id: &str, texts: Vec<String>| {
        let utterances = texts.iter().map(|text| user(text)).collect();
        let request = MemorizeRequest { conversation_id: id.to_owned(), ..memorize(utterances) };
        session.memory().memorize(request).await.expect("an answer");
    };
    say("other", vec!["Hello".to_owned()]).await;
    let url = format!("data:image/png;base64,{}", "A".repeat(50_000));
    let picture = serde_json::json!({"type": "image_url", "image_url": {"url": url}});
    let shown = MemorizeRequest {
        conversation_id: "picture".to_owned(),
        messages_json: serde_json::json!([{"role": "user", "content": [picture]}]).to_string(),
        ..Default::default()
    };
    session.memory().memorize(shown).await.expect("an answer");
    let said = NewUtterance { utterance_id: "u1".to_owned(), ..user("Hello") };
    let edited = MemorizeRequest { conversation_id: "edited".to_owned(), ..memorize(vec![said]) };
    session.memory().memorize(edited).await.expect("an answer");
    let many: Vec<String> = (0..MANY).map(|n| format!("The pump of tank T-{n} failed.")).collect();
    for some in many.chunks(500) {
        say("many", some.to_vec()).await;
    }
    let policy = Policy { max_tokens: Some(25_000), ..Default::default() };
    let request = CreateConversationRequest {
        conversation_id: "full".to_owned(),
        policy: Some(policy),
        ..Default::default()
    };
    session.conversations().create_conversation(request).await.expect("an answer");
    say("full", vec![text(20_000); 5]).await;
}

/// Calls with long work, in order: each of them has some that nothing before it has done.
fn calls(services: &Services) -> Vec<(&'static str, Call)> {
    let many = || "many".to_owned();
    let services = || services.clone();
    let history = |bytes| serde_json::json!([{"role": "user", "content": text(bytes)}]).to_string();
    let remember = || {
        let (services, prompt) = (services(), "which pump failed".to_owned());
        let request = RememberRequest { conversation_id: many(), prompt, ..Default::default() };
        call(async move { services.remember(Request::new(request)).await })
    };
    let memorize = |request: MemorizeRequest| {
        let services = services();
        call(async move { services.memorize(Request::new(request)).await })
    };
    let forget = |request: ForgetRequest| {
        let services = services();
        call(async move { services.forget(Request::new(request)).await })
    };
    let update = |request: UpdateConversationRequest| {
        let services = services();
        call(async move { services.update_conversation(Request::new(request)).await })
    };
    let context = |request: BuildContextRequest| {
        let services = services();
        call(async move { services.build_context(Request::new(request)).await })
    };
    vec![
        ("the first Remember", remember()),
        ("a later Remember", remember()),
        ("CountTokens", {
            let services = services();
            let request = CountTokensRequest { texts: vec![text(50_000)], ..Default::default() };
            call(async move { services.count_tokens(Request::new(request)).await })
        }),
        ("Memorize", {
            memorize(MemorizeRequest {
                conversation_id: "new".to_owned(),
                ..crate::support::session::memorize(vec![user(&text(50_000))])
            })
        }),
        ("Memorize of messages_json", {
            let messages_json = history(50_000);
            memorize(MemorizeRequest {
                conversation_id: "json".to_owned(),
                messages_json,
                ..Default::default()
            })
        }),
        ("a small Memorize that evicts much", {
            let small = crate::support::session::memorize(vec![user(&text(10_000))]);
            memorize(MemorizeRequest { conversation_id: "full".to_owned(), ..small })
        }),
        ("PrepareHistory", {
            let services = services();
            let request = PrepareHistoryRequest {
                messages_json: history(50_000),
                prompt: "And now?".to_owned(),
                ..Default::default()
            };
            call(async move { services.prepare_history(Request::new(request)).await })
        }),
        ("BuildContext", context(BuildContextRequest { conversation_id: many(), ..Default::default() })),
        ("BuildContext with long instructions", {
            let instructions = text(50_000);
            context(BuildContextRequest {
                conversation_id: "other".to_owned(),
                instructions,
                ..Default::default()
            })
        }),
        ("BuildContext with a picture", {
            context(BuildContextRequest { conversation_id: "picture".to_owned(), ..Default::default() })
        }),
        ("ListMessages with a picture", {
            let services = services();
            let request = ListMessagesRequest { conversation_id: "picture".to_owned(), ..Default::default() };
            call(async move { services.list_messages(Request::new(request)).await })
        }),
        ("Summarize", {
            let services = services();
            let request = SummarizeRequest { conversation_id: many(), ..Default::default() };
            call(async move { services.summarize(Request::new(request)).await })
        }),
        ("ExportConversation", {
            let services = services();
            let request = ExportConversationRequest {
                conversation_id: many(),
                format: ConversationFormat::OpenaiChat.into(),
                ..Default::default()
            };
            call(async move { services.export_conversation(Request::new(request)).await })
        }),
        ("ImportConversation", {
            let (services, content) = (services(), history(50_000).into_bytes());
            let header = ImportHeader { conversation_id: "imported".to_owned(), ..Default::default() };
            Box::pin(async move {
                services.import_content(&Caller::default(), header, content, false).await.map(|_| ())
            })
        }),
        ("UpdateUtterance", {
            let services = services();
            let request = UpdateUtteranceRequest {
                conversation_id: "edited".to_owned(),
                utterance_id: "u1".to_owned(),
                content: text(50_000),
                update_mask: mask(&["content"]),
                ..Default::default()
            };
            call(async move { services.update_utterance(Request::new(request)).await })
        }),
        ("CompactConversation as a preview", {
            let services = services();
            let request =
                CompactConversationRequest { conversation_id: many(), preview: true, ..Default::default() };
            call(async move { services.compact_conversation(Request::new(request)).await })
        }),
        ("ForkConversation", {
            let services = services();
            let request = ForkConversationRequest {
                conversation_id: many(),
                new_conversation_id: "fork".to_owned(),
                ..Default::default()
            };
            call(async move { services.fork_conversation(Request::new(request)).await })
        }),
        ("a smaller limit", {
            let policy = Policy { max_utterances: Some(10), ..Default::default() };
            let request = crate::support::session::policy_update(policy);
            update(UpdateConversationRequest { conversation_id: "fork".to_owned(), ..request })
        }),
        ("Forget, soft, as a dry run", {
            let request = crate::support::session::forget("sequence:1-5000", ForgetMode::Soft);
            forget(ForgetRequest { conversation_id: many(), dry_run: true, ..request })
        }),
        ("Forget, soft", {
            let request = crate::support::session::forget("sequence:1-100", ForgetMode::Soft);
            forget(ForgetRequest { conversation_id: many(), ..request })
        }),
        ("Forget, hard", {
            let request = crate::support::session::forget("sequence:200-300", ForgetMode::Hard);
            forget(ForgetRequest { conversation_id: many(), ..request })
        }),
        ("EndConversation", {
            let services = services();
            let request = EndConversationRequest { conversation_id: many(), ..Default::default() };
            call(async move { services.end_conversation(Request::new(request)).await })
        }),
    ]
}
