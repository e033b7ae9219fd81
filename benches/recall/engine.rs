//! Remember and Memorize in the engine, in this process.

use std::{
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use utterd::{
    domain::{Draft, recall::Floor},
    engine::{Address, Caller, Engine, Filter, MemorizeCall, Order, RememberCall, Scope},
    store::{MemoryStore, Store},
};

use crate::{
    conversations::File,
    cost::MANY,
    served::{conversation, draft, engine, fjall, kept_blocks},
    table::{Table, grouped},
    timed::{Times, micros, millis},
};

/// Utterances of one Memorize while a conversation is filled.
const BATCH: usize = 1_000;
/// Initial utterances of the conversations in which single utterances are memorized.
const FEW: usize = 600;
/// Rounds of [`BETWEEN`] single Memorize calls.
const ROUNDS: usize = 200;
/// Calls of Memorize between two of Remember.
const BETWEEN: usize = 10;
/// Calls of Remember, of which the median is printed.
const CALLS: usize = 200;
/// Length in bytes of the utterances that are memorized one by one.
const LINE: std::ops::RangeInclusive<usize> = 110..=130;

/// Prints a table of both stores, filled with the texts of `chat`.
pub fn print(chat: &File) {
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let path = directory.path().to_owned();
    let texts = Texts::new(chat);
    let runtime = utterd::server::runtime().unwrap();
    // In a task, like calls of the server.
    let measured = runtime.spawn(async move {
        let memory = measure(Arc::new(MemoryStore::new(0)), &texts, None).await;
        (memory, measure(fjall(&path), &texts, Some(&path)).await)
    });
    let (memory, fjall) = runtime.block_on(measured).unwrap();
    let mut table = Table::new("calls of the engine").columns(["memory", "fjall"]);
    for ((title, memory), (_, fjall)) in memory.into_iter().zip(fjall) {
        table.row(&title, [memory, fjall]);
    }
    table.print();
}

struct Texts {
    prompts: Vec<String>,
    many: Vec<Draft>,
    lines: Vec<Draft>,
}

impl Texts {
    fn new(chat: &File) -> Self {
        let many: Vec<Draft> = chat.cycled(MANY).map(draft).collect();
        let lines = many.iter().filter(|draft| LINE.contains(&draft.content.len())).cloned().collect();
        let prompts = chat.questions().map(|(_, question)| question.prompt.clone()).collect();
        Self { prompts, many, lines }
    }
}

/// The rows of a store; `path` is its directory, if it has one.
async fn measure(store: Arc<dyn Store>, texts: &Texts, path: Option<&Path>) -> Vec<(String, String)> {
    let served = engine(store.clone());
    memorize_all(&served, "many", &texts.many).await;
    let first = remember(&served, "many", &texts.prompts[0]).await;
    let next = median_remember(&served, texts).await;
    let [alone, beside, upkeep] = single(&served, texts).await;
    drop(served);
    let reopened = match path {
        Some(path) => millis(first_reopened(store, path, texts).await),
        None => "–".to_owned(),
    };
    let many = grouped(MANY);
    vec![
        (format!("Remember, the first after {many} utterances came"), millis(first)),
        ("Remember, each next: median".to_owned(), millis(next)),
        ("Remember, the first after a restart".to_owned(), reopened),
        ("Memorize of some 120 bytes, nobody remembers: median".to_owned(), micros(alone)),
        (format!("Memorize, a Remember after every {BETWEEN}: median"), micros(beside)),
        ("what each new utterance adds to the next Remember: median".to_owned(), micros(upkeep)),
    ]
}

/// The first search of a reopened store, once it has stored the index of what was searched before.
async fn first_reopened(store: Arc<dyn Store>, path: &Path, texts: &Texts) -> Duration {
    kept_blocks(&*store, "many").await;
    drop(store);
    let served = engine(fjall(path));
    remember(&served, "many", &texts.prompts[0]).await
}

async fn median_remember(served: &Arc<Engine>, texts: &Texts) -> Duration {
    let mut times = Vec::with_capacity(CALLS);
    for prompt in texts.prompts.iter().cycle().take(CALLS) {
        times.push(remember(served, "many", prompt).await);
    }
    Times::from_iter(times).median()
}

/// The time of a Memorize in a conversation that nobody searches, of one in a conversation that is searched
/// now and then, and the time that a new utterance adds to a search. Both alternate. Each prompt is searched
/// once before the new utterances: what it finds has then already been read from the store.
async fn single(served: &Arc<Engine>, texts: &Texts) -> [Duration; 3] {
    for name in ["alone", "searched"] {
        memorize_all(served, name, &texts.many[..FEW]).await;
    }
    let (mut alone, mut beside, mut upkeep) = (Vec::new(), Vec::new(), Vec::new());
    let mut lines = texts.lines.iter().cycle();
    for prompt in texts.prompts.iter().cycle().take(ROUNDS) {
        remember(served, "searched", prompt).await;
        for line in lines.by_ref().take(BETWEEN) {
            alone.push(memorize(served, "alone", vec![line.clone()]).await);
            beside.push(memorize(served, "searched", vec![line.clone()]).await);
        }
        let with_new = remember(served, "searched", prompt).await;
        let same = remember(served, "searched", prompt).await;
        upkeep.push(with_new.saturating_sub(same) / BETWEEN as u32);
    }
    [alone, beside, upkeep].map(|times| Times::from_iter(times).median())
}

pub async fn memorize_all(served: &Arc<Engine>, name: &str, drafts: &[Draft]) {
    for batch in drafts.chunks(BATCH) {
        memorize(served, name, batch.to_vec()).await;
    }
}

async fn memorize(served: &Arc<Engine>, name: &str, drafts: Vec<Draft>) -> Duration {
    let call = MemorizeCall { address: address(name), drafts, ..MemorizeCall::default() };
    let start = Instant::now();
    served.memorize(&Caller::default(), call).await.unwrap();
    start.elapsed()
}

async fn remember(served: &Arc<Engine>, name: &str, prompt: &str) -> Duration {
    search(served, address(name), Scope::Conversation, prompt).await
}

pub async fn search(served: &Arc<Engine>, address: Address, scope: Scope, prompt: &str) -> Duration {
    let call = RememberCall {
        address,
        prompt: prompt.to_owned(),
        filter: Filter::default(),
        scope,
        order: Order::Relevance,
        floor: Floor::of_search(None),
        neighbors: 0,
        skip: 0,
        limit: 10,
        patience: None,
    };
    let start = Instant::now();
    served.remember(&Caller::default(), &call).await.unwrap();
    start.elapsed()
}

fn address(name: &str) -> Address {
    Address { conversation: Some(conversation(name)), ..Address::default() }
}
