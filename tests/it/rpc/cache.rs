//! The conversations in memory: few stay, and nothing is lost when others are evicted.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{
        Arc, Mutex, Weak,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
};

use futures::future::join_all;
use utterd::{
    domain::{
        Conversation, ConversationId, ConversationKey, Draft, Head, More, Policy, Ranges, Role, Sequence,
        Timestamp, Utterance, conversation::Timeouts,
    },
    engine::{
        Address, Caller, Defaults, Engine, EngineError, EventStream, ForkCall, ListUtterances, MemorizeCall,
        Operation, Watched,
    },
    store::{
        BoxFuture, Capabilities, Commit, CommitError, DerivedData, Due, List, MemoryStore, Outcome,
        OutcomeKey, RecipientKey, Result, Sharing, Store, Upkeep, Write,
    },
    tokenizer,
};

use crate::support::{
    ManualClock,
    gate::{Gate, passed_on},
};

/// A store that shares no state with the engine, like one that writes to a disk, so that a test can see what
/// the engine keeps in memory.
struct Apart {
    inner: Arc<dyn Store>,
    /// The states that the engine has made or loaded.
    states: Mutex<Vec<Weak<Conversation>>>,
    loads: AtomicUsize,
}

impl Apart {
    fn over(inner: Arc<dyn Store>) -> Arc<Self> {
        Arc::new(Self { inner, states: Mutex::default(), loads: AtomicUsize::new(0) })
    }

    /// The states that are in memory.
    fn alive(&self) -> usize {
        let mut states = self.states.lock().unwrap();
        states.retain(|state| state.strong_count() > 0);
        states.len()
    }

    fn watch(&self, state: &Arc<Conversation>) {
        self.states.lock().unwrap().push(Arc::downgrade(state));
    }
}

fn copy(state: &Arc<Conversation>) -> Arc<Conversation> {
    Arc::new((**state).clone())
}

passed_on! {
    impl Store for Apart {
        fn capabilities(&self) -> Capabilities {
            Capabilities { resident: false, ..self.inner.capabilities() }
        }

        fn commit(&self, mut commit: Commit) -> BoxFuture<'static, Result<(), CommitError>> {
            for write in &mut commit.writes {
                match write {
                    Write::Change { before, after, .. } => {
                        self.watch(after);
                        *before = before.as_ref().map(copy);
                        *after = copy(after);
                    }
                    Write::Delete { before } => *before = copy(before),
                }
            }
            self.inner.commit(commit)
        }

        async fn load(&self, key: &ConversationKey) -> Result<Option<Arc<Conversation>>> {
            self.loads.fetch_add(1, Ordering::Relaxed);
            let state = self.inner.load(key).await?.as_ref().map(copy);
            state.iter().for_each(|state| self.watch(state));
            Ok(state)
        }
    }
}

impl Sharing for Apart {}
impl DerivedData for Apart {}
impl Upkeep for Apart {}

/// Room for about 25 short conversations.
const CACHE_BYTES: u64 = 100 << 10;
/// A conversation takes more than this of it.
const LEAST_BYTES: u64 = 2_048;
const IN_MEMORY: usize = (CACHE_BYTES / LEAST_BYTES) as usize;

fn engine(store: Arc<dyn Store>) -> Arc<Engine> {
    let defaults = Defaults {
        policy: Policy::SESSION,
        encoding: utterd::domain::Encoding::O200kBase,
        timeouts: Timeouts { idle: std::time::Duration::from_secs(60), ..Timeouts::default() },
        max_conversations_retained: 0,
        event_capacity: 1_000_000,
        cache_bytes: CACHE_BYTES,
        index_bytes: 64 << 20,
    };
    Arc::new(Engine::new(store, ManualClock::new(), tokenizer::counter, defaults))
}

fn address(number: usize) -> Address {
    Address { conversation: Some(ConversationId::new(&format!("c{number}")).unwrap()), ..Address::default() }
}

fn draft(text: &str) -> Draft {
    Draft::of(Role::User, text, More::default())
}

/// Says `text`; returns its sequence.
async fn say(engine: &Arc<Engine>, conversation: usize, text: &str) -> Result<u64, EngineError> {
    let call =
        MemorizeCall { address: address(conversation), drafts: vec![draft(text)], ..MemorizeCall::default() };
    let reply = engine.memorize(&Caller::default(), call).await?;
    Ok(reply.outcome.memorized.first().expect("it is stored").get())
}

async fn said(engine: &Arc<Engine>, conversation: usize) -> Vec<(u64, String)> {
    let window = ListUtterances::window(address(conversation), 10_000);
    let list = ListUtterances { archive: true, forgotten: true, ..window };
    let page = engine.list_utterances(&Caller::default(), &list).await.expect("the conversation is stored");
    page.utterances
        .iter()
        .map(|utterance| (utterance.sequence.get(), utterance.content.to_string()))
        .collect()
}

/// Each conversation's revisions, in the order of their events.
async fn revisions(events: &mut EventStream, last: u64) -> BTreeMap<String, Vec<u64>> {
    let mut revisions: BTreeMap<String, Vec<u64>> = BTreeMap::new();
    loop {
        let Ok(Watched::Event(event, _)) = events.next().await else { panic!("events were missed") };
        if let (Operation::Memorize, Some(facts)) = (event.operation, &event.facts) {
            let id = event.subject.conversation().expect("a conversation").to_string();
            revisions.entry(id).or_default().push(facts.revision.get());
        }
        if event.number == last {
            return revisions;
        }
    }
}

#[tokio::test]
async fn few_of_many_conversations_are_in_memory() {
    const CONVERSATIONS: usize = 3_000;
    let store = Apart::over(Arc::new(MemoryStore::new(0)));
    let engine = engine(store.clone());
    for round in 1..=3 {
        for number in 0..CONVERSATIONS {
            assert_eq!(say(&engine, number, &format!("round {round}")).await, Ok(round));
        }
        assert!(store.alive() <= IN_MEMORY, "{} are in memory", store.alive());
    }
    for number in 0..CONVERSATIONS {
        let expected: Vec<_> = (1..=3).map(|round| (round, format!("round {round}"))).collect();
        assert_eq!(said(&engine, number).await, expected);
    }
    assert!(store.alive() <= IN_MEMORY, "{} are in memory", store.alive());
    assert!(store.alive() > IN_MEMORY / 4, "{} are in memory", store.alive());
}

/// Forks are listed with what their heads tell; nothing else of them is read.
#[tokio::test]
async fn forks_are_listed_without_being_loaded() {
    const FORKS: usize = 3 * IN_MEMORY;
    let store = Apart::over(Arc::new(MemoryStore::new(0)));
    let engine = engine(store.clone());
    say(&engine, 0, "hello").await.unwrap();
    for number in 1..=FORKS {
        let call = ForkCall {
            address: address(0),
            id: address(number).conversation,
            recipient: None,
            at: None,
            title: None,
            start: None,
            activate: Some(false),
            expected: None,
            attempt: None,
        };
        engine.fork_conversation(&Caller::default(), call).await.unwrap();
    }
    let parent = engine.read(&Caller::default(), &address(0)).await.unwrap();
    let before = store.loads.load(Ordering::Relaxed);
    let forks = engine.forks(&parent).await.unwrap();
    assert_eq!((forks.len(), store.loads.load(Ordering::Relaxed)), (FORKS, before));
    let mut sorted = forks.clone();
    sorted.sort();
    assert!(forks == sorted && forks.iter().all(|(_, at)| *at == Sequence(1)));
}

#[tokio::test]
async fn one_that_is_in_use_stays_in_memory() {
    let store = Apart::over(Arc::new(MemoryStore::new(0)));
    let engine = engine(store.clone());
    for number in 0..1_000 {
        say(&engine, number, "once").await.unwrap();
        say(&engine, 0, "again").await.unwrap();
    }
    let before = store.loads.load(Ordering::Relaxed);
    said(&engine, 0).await;
    say(&engine, 0, "the last").await.unwrap();
    assert_eq!(store.loads.load(Ordering::Relaxed), before);
}

/// A growing conversation takes the room of others: up to half of the total.
#[tokio::test]
async fn a_growing_conversation_is_charged() {
    let store = Apart::over(Arc::new(MemoryStore::new(0)));
    let engine = engine(store.clone());
    for number in (0..60).rev() {
        say(&engine, number, "short").await.unwrap();
    }
    let before = store.alive();
    for number in 0..30 {
        say(&engine, 0, &format!("{number} {}", "many words ".repeat(200))).await.unwrap();
    }
    let after = store.alive();
    assert!(after < before - 8, "{before} were in memory, {after} are");
    assert!(after > before / 3, "{before} were in memory, {after} are");
}

#[tokio::test]
async fn a_watched_conversation_is_seen_to_change() {
    let store = Apart::over(Arc::new(MemoryStore::new(0)));
    let engine = engine(store.clone());
    say(&engine, 0, "first").await.unwrap();
    let mut watch = engine.watch_capacity(&Caller::default(), address(0)).await.unwrap();
    assert_eq!(watch.next().await.unwrap().head.revision.get(), 1);
    for number in 1..500 {
        say(&engine, number, "another").await.unwrap();
    }
    let seen = tokio::spawn(async move { watch.next().await.unwrap().head.revision.get() });
    say(&engine, 0, "second").await.unwrap();
    assert_eq!(seen.await.unwrap(), 2);
}

const WRITERS: usize = 16;
const CONVERSATIONS: usize = 200;
const ROUNDS: usize = 4;

/// Every writer writes to every conversation, retrying until the write is stored.
async fn write(engine: &Arc<Engine>, writer: usize) -> usize {
    let mut failures = 0;
    for round in 0..ROUNDS {
        for step in 0..CONVERSATIONS {
            let conversation = (step * 7 + writer * 31) % CONVERSATIONS;
            while say(engine, conversation, &format!("{writer}:{round}")).await.is_err() {
                failures += 1;
            }
        }
    }
    failures
}

/// Answers commits a few at a time until `done`; every `fails`-th fails.
async fn flush(gate: &Gate, done: &AtomicBool, fails: usize) {
    let mut flushed = 0;
    while !done.load(Ordering::Relaxed) {
        for _ in 0..gate.held() {
            flushed += 1;
            match fails > 0 && flushed % fails == 0 {
                true => gate.fail(1),
                false => gate.release(1),
            }
        }
        tokio::task::yield_now().await;
    }
}

/// Returns how many failures writers saw.
async fn write_all(fails: usize) -> usize {
    let gate = Gate::new();
    gate.shut();
    let store = Apart::over(gate.clone());
    let engine = engine(store.clone());
    let mut events = engine.watch_events(&Caller::default(), None).await.unwrap();
    let done = Arc::new(AtomicBool::new(false));
    let flushing = tokio::spawn({
        let (gate, done) = (gate.clone(), done.clone());
        async move { flush(&gate, &done, fails).await }
    });
    let writers = (0..WRITERS).map(|writer| {
        let engine = engine.clone();
        tokio::spawn(async move { write(&engine, writer).await })
    });
    let failures: usize = join_all(writers).await.into_iter().map(|writer| writer.unwrap()).sum();
    done.store(true, Ordering::Relaxed);
    flushing.await.unwrap();
    assert!(store.loads.load(Ordering::Relaxed) > CONVERSATIONS * 2, "conversations were evicted");
    assert!(store.alive() <= IN_MEMORY + WRITERS, "{} are in memory", store.alive());
    expect_all(&engine).await;
    let published = revisions(&mut events, (WRITERS * CONVERSATIONS * ROUNDS + CONVERSATIONS) as u64).await;
    assert_eq!(published.len(), CONVERSATIONS);
    for revisions in published.values() {
        assert_eq!(*revisions, (1..=(WRITERS * ROUNDS) as u64).collect::<Vec<_>>());
    }
    failures
}

/// Nothing is lost or stored twice, and each writer's texts are in order.
async fn expect_all(engine: &Arc<Engine>) {
    for conversation in 0..CONVERSATIONS {
        let said = said(engine, conversation).await;
        let sequences: Vec<_> = said.iter().map(|(sequence, _)| *sequence).collect();
        assert_eq!(sequences, (1..=(WRITERS * ROUNDS) as u64).collect::<Vec<_>>());
        let mut next = [0; WRITERS];
        for (_, text) in said {
            let (writer, round) = text.split_once(':').unwrap();
            let writer: usize = writer.parse().unwrap();
            assert_eq!(round.parse(), Ok(next[writer]), "writer {writer}");
            next[writer] += 1;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn writers_lose_nothing_to_evictions() {
    assert_eq!(write_all(0).await, 0);
}

/// Each writer repeats what failed: after a failure everything is decided again, and events stay in order.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn writers_lose_nothing_to_failures() {
    assert!(write_all(50).await > 0);
}
