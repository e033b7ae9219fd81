//! What short calls wait for beside long work.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use bytes::Bytes;
use futures::{StreamExt, future::join_all};
use http::uri::PathAndQuery;
use tonic::{Request, client::Grpc, transport::Channel};
use utterd::proto::{
    BuildContextRequest, ExportConversationRequest, ForgetMode, ForgetRequest, ForkConversationRequest,
    MemorizeRequest, NewUtterance, Policy, PolicyPreset, PrepareHistoryRequest, RememberRequest, Role,
    UpdateConversationRequest,
};

use crate::{
    child::ServerProcess,
    load::{self, Raw, connect, runtime, send},
    requests::{self, encoded},
};

/// Connections of short calls, and the pause after each call.
const CONNECTIONS: usize = 6;
const PAUSE: Duration = Duration::from_millis(4);
/// How long the short calls are timed alone.
const ALONE: Duration = Duration::from_secs(4);
/// Utterances of a large conversation, and of one Memorize that fills it.
const MANY: usize = 20_000;
const BATCH: usize = 500;
/// How often the large conversation is searched for the first time.
const FIRSTS: usize = 8;
/// How often every other long call is made.
const TIMES: usize = 12;
const MEGABYTE: usize = 1_000_000;

const REMEMBER: &str = "/utterd.v1.MemoryService/Remember";
const FORGET: &str = "/utterd.v1.MemoryService/Forget";
const EXPORT: &str = "/utterd.v1.ConversationService/ExportConversation";
const FORK: &str = "/utterd.v1.ConversationService/ForkConversation";
const UPDATE: &str = "/utterd.v1.ConversationService/UpdateConversation";
const PREPARE_HISTORY: &str = "/utterd.v1.ContextService/PrepareHistory";

/// Long calls, made one after the other.
struct Long {
    name: &'static str,
    calls: Vec<(&'static str, Bytes)>,
}

/// The times of short calls, ascending.
struct Times(Vec<Duration>);

/// Prints how long short calls take alone and beside each kind of long call.
pub fn run() {
    let server = ServerProcess::start(&["preset=session".to_owned()]);
    fill(&server);
    let alone = beside(&server, || thread::sleep(ALONE)).0;
    println!(
        "{:<44} {:>9} {:>8} {:>8} {:>8} {:>12}",
        "short calls", "each took", "p50", "p99", "max", "p99 ÷ alone"
    );
    print("alone", None, &alone, &alone);
    for Long { name, calls } in all() {
        let count = calls.len() as u32;
        let (times, took) = beside(&server, || make(&server, calls));
        print(name, Some(took / count), &times, &alone);
    }
    let after = beside(&server, || thread::sleep(ALONE)).0;
    print("alone, again", None, &after, &alone);
}

fn print(name: &str, each: Option<Duration>, times: &Times, alone: &Times) {
    let millis = |time: Duration| format!("{:.2}", time.as_secs_f64() * 1e3);
    let ratio = times.at(99).as_secs_f64() / alone.at(99).as_secs_f64();
    let each = each.map_or("–".to_owned(), |each| format!("{:.0}", each.as_secs_f64() * 1e3));
    let [p50, p99, max] = [50, 99, 100].map(|percent| millis(times.at(percent)));
    println!("{name:<44} {each:>9} {p50:>8} {p99:>8} {max:>8} {ratio:>12.2}");
}

impl Times {
    fn at(&self, percent: usize) -> Duration {
        self.0[(self.0.len() * percent / 100).min(self.0.len() - 1)]
    }
}

/// Times short calls while `work` lasts; returns their times, and how long it lasted.
fn beside(server: &ServerProcess, work: impl FnOnce()) -> (Times, Duration) {
    let stop = Arc::new(AtomicBool::new(false));
    let (address, stopped) = (server.address.clone(), stop.clone());
    let short = thread::spawn(move || {
        let caller = || async {
            let mut client = Grpc::new(connect(&address).await);
            let mut times = Vec::new();
            while !stopped.load(Ordering::Relaxed) {
                let started = Instant::now();
                send(&mut client, requests::GET_CAPACITY, requests::get_capacity("other")).await;
                times.push(started.elapsed());
                tokio::time::sleep(PAUSE).await;
            }
            // the first call opened the connection
            times.split_off(1.min(times.len()))
        };
        runtime().block_on(join_all((0..CONNECTIONS).map(|_| caller()))).concat()
    });
    let started = Instant::now();
    work();
    let took = started.elapsed();
    stop.store(true, Ordering::Relaxed);
    let mut times = short.join().expect("its end");
    times.sort_unstable();
    (Times(times), took)
}

fn make(server: &ServerProcess, calls: Vec<(&'static str, Bytes)>) {
    runtime().block_on(async {
        let mut client = Grpc::new(connect(&server.address).await);
        for (path, request) in calls {
            match path {
                EXPORT => export(&mut client, request).await,
                _ => send(&mut client, path, request).await,
            }
        }
    });
}

/// Exports, and reads the stream of responses to the end.
async fn export(client: &mut Grpc<Channel>, request: Bytes) {
    client.ready().await.expect("a connection");
    let path = PathAndQuery::from_static(EXPORT);
    let answer = client.server_streaming(Request::new(request), path, Raw).await.expect("an answer");
    let mut responses = answer.into_inner();
    while let Some(response) = responses.next().await {
        response.expect("a response");
    }
}

fn fill(server: &ServerProcess) {
    load::all(&server.address, requests::MEMORIZE, [requests::memorize("other", 0, 1)], 1);
    let full = requests::create("rolling", PolicyPreset::Rolling);
    load::all(&server.address, requests::CREATE, [full], 1);
    for name in (0..FIRSTS).map(large) {
        let batches = (0..MANY).step_by(BATCH).map(|first| requests::memorize(&name, first, BATCH));
        load::all(&server.address, requests::MEMORIZE, batches, 1);
    }
}

fn large(number: usize) -> String {
    format!("large-{number}")
}

fn text(bytes: usize) -> String {
    "The pump of tank T-7 failed in the night, and nobody had ordered another one. "
        .chars()
        .cycle()
        .take(bytes)
        .collect()
}

fn all() -> Vec<Long> {
    let repeated = |name, path, request: Bytes| Long { name, calls: vec![(path, request); TIMES] };
    let prompt = "which reservation has a refund".to_owned();
    let remember = |conversation_id| {
        encoded(&RememberRequest { conversation_id, prompt: prompt.clone(), ..Default::default() })
    };
    let megabyte = NewUtterance { role: Role::User.into(), content: text(MEGABYTE), ..Default::default() };
    let huge = |conversation_id: &str| MemorizeRequest {
        conversation_id: conversation_id.to_owned(),
        utterances: vec![megabyte.clone(); 3],
        ..Default::default()
    };
    let message = |role: &str| serde_json::json!({"role": role, "content": text(MEGABYTE / 2)});
    let history: Vec<_> = [message("user"), message("assistant")].into_iter().cycle().take(6).collect();
    let history = PrepareHistoryRequest {
        messages_json: serde_json::Value::from(history).to_string(),
        prompt: "And now?".to_owned(),
        max_bytes: Some(8_000_000),
        max_messages: Some(100),
        ..Default::default()
    };
    let export = ExportConversationRequest { conversation_id: large(0), ..Default::default() };
    let context = BuildContextRequest { conversation_id: large(0), ..Default::default() };
    vec![
        Long {
            name: "the first Remember over 20,000 utterances",
            calls: (0..FIRSTS).map(|number| (REMEMBER, remember(large(number)))).collect(),
        },
        repeated("each next Remember", REMEMBER, remember(large(0))),
        repeated("Memorize of 3 × 1 MB", requests::MEMORIZE, encoded(&huge("huge"))),
        repeated("the same where much leaves the window", requests::MEMORIZE, encoded(&huge("rolling"))),
        repeated("PrepareHistory of 3 MB", PREPARE_HISTORY, encoded(&history)),
        repeated("ExportConversation of 20,000", EXPORT, encoded(&export)),
        repeated("BuildContext of 20,000", requests::BUILD_CONTEXT, encoded(&context)),
        forks("a smaller limit: 20,000 leave the window", UPDATE, smaller),
        forks("a hard Forget of 10,000", FORGET, forgotten),
    ]
}

/// Calls for forks of the large conversation.
fn forks(name: &'static str, path: &'static str, request: fn(String) -> Bytes) -> Long {
    let calls = (0..TIMES).flat_map(|number| {
        let fork = format!("{path}-{number}").replace(['/', '.'], "-");
        let made = ForkConversationRequest {
            conversation_id: large(1),
            new_conversation_id: fork.clone(),
            ..Default::default()
        };
        [(FORK, encoded(&made)), (path, request(fork))]
    });
    Long { name, calls: calls.collect() }
}

fn smaller(conversation_id: String) -> Bytes {
    let policy = Policy { max_utterances: Some(20), ..Default::default() };
    let update_mask = Some(prost_types::FieldMask { paths: vec!["policy".to_owned()] });
    encoded(&UpdateConversationRequest {
        conversation_id,
        policy: Some(policy),
        update_mask,
        ..Default::default()
    })
}

fn forgotten(conversation_id: String) -> Bytes {
    let instructions = "sequence:1-10000".to_owned();
    let mode = ForgetMode::Hard.into();
    encoded(&ForgetRequest { conversation_id, instructions, mode, ..Default::default() })
}
