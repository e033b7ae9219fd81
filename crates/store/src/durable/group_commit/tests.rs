//! Groups, flushes and failures as callers see them, over pairs that a test delays or fails.

use std::{
    collections::BTreeMap,
    ops::Bound,
    path::Path,
    sync::mpsc::{Receiver, Sender, channel},
    task::{Context, Poll, Waker},
};

use parking_lot::Mutex;
use tempfile::TempDir;
use tokio::sync::oneshot::error::TryRecvError;

use super::{queue::WAITING_BYTES, *};
use crate::{
    BoxFuture, CommitError, Derived, DerivedBlock, Store,
    conformance::support::{script::Script, values::users},
    durable::{
        DurableStore, EngineKind,
        disk::room::Room,
        key_value::{Key, KeyValue, Pairs, Value, Writes},
        request::Step,
        tests::outcome::{self, keeping, key},
    },
    records::{self, OutcomeName},
};
use utterd_domain::{Block, Policy, Timestamp};

/// The error with which a test makes its pairs panic.
const PANIC: &str = "panic";
/// The number of the outcome whose key panics on reading.
const UNLUCKY: usize = 1_313;

/// Pairs in memory that ask the test before each apply and sync.
struct Held {
    pairs: Mutex<BTreeMap<Key, Value>>,
    asks: Sender<Asked>,
    answers: Mutex<Receiver<Result<(), KeyValueError>>>,
    visible_before_flush: bool,
}

/// The operation that the store is about to do.
#[derive(Debug, PartialEq)]
enum Asked {
    Apply { outcomes: usize, durability: Durability },
    Sync,
}

/// The test's side of [`Held`].
struct Test {
    asked: Receiver<Asked>,
    answers: Sender<Result<(), KeyValueError>>,
}

impl Held {
    fn ask(&self, asked: Asked) -> Result<(), KeyValueError> {
        // after the test has ended, everything succeeds
        let _ = self.asks.send(asked);
        let answer = self.answers.lock().recv().unwrap_or(Ok(()));
        assert_ne!(answer, Err(KeyValueError(PANIC.to_owned())));
        answer
    }
}

impl KeyValue for Held {
    fn get(&self, key: &[u8]) -> Result<Option<Value>, KeyValueError> {
        let unlucky = OutcomeName::of(&outcome::key(UNLUCKY));
        assert_ne!(key, records::key::<records::Outcomes>(&unlucky));
        Ok(self.pairs.lock().get(key).cloned())
    }

    fn range(&self, from: Bound<&[u8]>, to: Bound<&[u8]>) -> Pairs<'_> {
        let pairs = self.pairs.lock();
        let range = pairs.range::<[u8], _>((from, to)).map(|(key, value)| Ok((key.clone(), value.clone())));
        Box::new(range.collect::<Vec<_>>().into_iter())
    }

    fn apply(&self, writes: Writes, durability: Durability) -> Result<(), KeyValueError> {
        let outcome = |key: &Key| key[0] == <records::Outcomes as records::Kind>::NUMBER;
        let outcomes = writes.iter().filter(|(key, _)| outcome(key)).count();
        let apply = || {
            for (key, value) in writes {
                match value {
                    Some(value) => self.pairs.lock().insert(key, value),
                    None => self.pairs.lock().remove(&key),
                };
            }
        };
        let asked = Asked::Apply { outcomes, durability };
        match self.visible_before_flush {
            true => {
                apply();
                self.ask(asked)
            }
            false => self.ask(asked).map(|()| apply()),
        }
    }

    fn sync(&self) -> Result<(), KeyValueError> {
        self.ask(Asked::Sync)
    }

    fn scrub(&self) -> Result<(), KeyValueError> {
        Ok(())
    }

    fn disk_bytes(&self) -> Result<u64, KeyValueError> {
        Ok(0)
    }

    fn visible_before_flush(&self) -> bool {
        self.visible_before_flush
    }
}

impl Test {
    /// Waits until the store asks, checks the question, and answers it.
    #[track_caller]
    fn expect(&self, asked: &Asked, answer: Result<(), &str>) {
        assert_eq!(self.asked.recv().as_ref(), Ok(asked));
        self.answers.send(answer.map_err(|error| KeyValueError(error.to_owned()))).unwrap();
    }
}

fn each(outcomes: usize) -> Asked {
    Asked::Apply { outcomes, durability: Durability::Disk }
}

fn store(flush: Flush, visible_before_flush: bool) -> (DurableStore, Test, TempDir) {
    let directory = tempfile::tempdir().unwrap();
    let (asks, asked) = channel();
    let (answers, answered) = channel();
    let held = Held { pairs: Mutex::default(), asks, answers: Mutex::new(answered), visible_before_flush };
    let store = open(directory.path(), held, flush);
    (store, Test { asked, answers }, directory)
}

fn open(path: &Path, held: Held, flush: Flush) -> DurableStore {
    let directory = Directory::open_or_create_with(EngineKind::Fjall, path, |_| Ok(Box::new(held)));
    DurableStore::over(directory.unwrap(), flush, Room::new(path, 0)).unwrap()
}

/// Polls the future once.
fn poll<T>(future: &mut BoxFuture<'_, T>) -> Poll<T> {
    future.as_mut().poll(&mut Context::from_waker(Waker::noop()))
}

#[tokio::test]
async fn everything_that_waits_shares_a_flush() {
    let (store, test, _directory) = store(Flush::Each, false);
    let first = store.commit(keeping(0));
    assert_eq!(test.asked.recv(), Ok(each(1)));
    let rest: Vec<_> = (1..=50).map(|id| store.commit(keeping(id))).collect();
    test.answers.send(Ok(())).unwrap();
    test.expect(&each(50), Ok(()));
    assert_eq!(first.await, Ok(()));
    for commit in rest {
        assert_eq!(commit.await, Ok(()));
    }
}

#[tokio::test]
async fn a_commit_is_answered_after_its_flush() {
    let (store, test, _directory) = store(Flush::Each, false);
    let mut commit = store.commit(keeping(1));
    assert_eq!(test.asked.recv(), Ok(each(1)));
    assert!(poll(&mut commit).is_pending());
    test.answers.send(Ok(())).unwrap();
    assert_eq!(commit.await, Ok(()));
}

#[tokio::test]
async fn a_failure_reaches_every_caller_and_ends_writing() {
    let (store, test, _directory) = store(Flush::Each, false);
    let before = store.commit(keeping(0));
    assert_eq!(test.asked.recv(), Ok(each(1)));
    let group: Vec<_> = (1..=5).map(|id| store.commit(keeping(id))).collect();
    test.answers.send(Ok(())).unwrap();
    test.expect(&each(5), Err("no space left on device"));
    assert_eq!(before.await, Ok(()));
    for commit in group {
        let Err(CommitError::Store(StoreError::Unavailable(reason))) = commit.await else {
            panic!("a commit of the failed batch succeeded");
        };
        assert!(reason.contains("until the server is restarted: no space left on device"), "{reason}");
    }
    assert!(store.failed().await.to_string().contains("no space left on device"));
    assert!(store.commit(keeping(9)).await.is_err(), "nothing is written any more");
    assert_eq!(test.asked.try_recv().ok(), None, "nor tried");
    assert!(store.outcome(&key(0), Timestamp(0)).await.unwrap().is_some(), "reads go on");
}

#[tokio::test]
async fn a_request_that_panics_is_refused_alone() {
    let before = Within::Store.panics();
    let (store, test, _directory) = store(Flush::Each, false);
    let first = store.commit(keeping(0));
    assert_eq!(test.asked.recv(), Ok(each(1)));
    let group = [1, UNLUCKY, 2].map(|id| store.commit(keeping(id)));
    test.answers.send(Ok(())).unwrap();
    test.expect(&each(2), Ok(()));
    assert_eq!(first.await, Ok(()));
    let [one, unlucky, two] = group;
    assert_eq!(unlucky.await, Err(StoreError::Panicked.into()));
    assert_eq!((one.await, two.await), (Ok(()), Ok(())));
    let next = store.commit(keeping(3));
    test.expect(&each(1), Ok(()));
    assert_eq!(next.await, Ok(()));
    assert!(Within::Store.panics() > before);
}

#[tokio::test]
async fn a_panic_of_the_writing_thread_ends_writing() {
    let (store, test, _directory) = store(Flush::Each, false);
    let commit = store.commit(keeping(1));
    test.expect(&each(1), Err(PANIC));
    assert!(commit.await.is_err());
    assert!(store.failed().await.to_string().contains("until the server is restarted: the writing thread"));
    let Err(CommitError::Store(StoreError::Unavailable(reason))) = store.commit(keeping(2)).await else {
        panic!("nothing is written any more");
    };
    assert!(reason.contains("the writing thread panicked"), "{reason}");
    assert!(store.outcome(&key(0), Timestamp(0)).await.unwrap().is_none(), "reads go on");
}

#[test]
fn what_waits_for_a_disk_that_stands_still_is_bounded() {
    const BYTES: usize = 1 << 20;
    let queue = Queue::default();
    let push = || {
        let steps = vec![Step::Put(b"key".to_vec(), vec![0; BYTES])];
        queue.push(Request { steps, ..Request::default() })
    };
    let mut waiting = Vec::new();
    let refused = loop {
        let mut answer = push();
        match answer.try_recv() {
            Err(TryRecvError::Empty) => waiting.push(answer),
            told => break told,
        }
    };
    let Ok(Err(CommitError::Store(StoreError::Busy { waiting: bytes }))) = refused else {
        panic!("{refused:?}");
    };
    assert!(bytes >= WAITING_BYTES as u64);
    assert_eq!(waiting.len(), WAITING_BYTES / BYTES);
    assert!(!queue.take(GROUP_BYTES, None, 0, Duration::ZERO).unwrap().is_empty());
    assert_eq!(push().try_recv(), Err(TryRecvError::Empty), "there is room again");
}

#[tokio::test]
async fn an_interval_answers_before_the_flush_and_flushes_later() {
    let (store, test, _directory) = store(Flush::Interval(Duration::from_millis(20)), false);
    let commit = store.commit(keeping(1));
    test.expect(&Asked::Apply { outcomes: 1, durability: Durability::Process }, Ok(()));
    assert_eq!(commit.await, Ok(()));
    test.expect(&Asked::Sync, Err("the disk is gone"));
    assert!(store.failed().await.to_string().contains("the disk is gone"));
    assert!(store.commit(keeping(2)).await.is_err());
}

/// Derived data reaches the disk with the next group, or when the store closes.
#[tokio::test]
async fn what_may_be_lost_does_not_wait_for_the_disk() {
    let (store, test, directory) = store(Flush::Each, false);
    let told = thread::spawn(move || {
        let answer = |_: &Asked| test.answers.send(Ok(())).unwrap();
        test.asked.iter().inspect(answer).collect::<Vec<_>>()
    });
    let store: Arc<dyn Store> = Arc::new(store);
    let mut script = Script::with(&store, "demo", Policy::SESSION);
    script.say(users(3)).await;
    let derived = DerivedBlock {
        conversation: script.state.key().clone(),
        kind: Derived::Index,
        block: Block(0),
        erased_at: script.state.head.erased_at,
        bytes: vec![1, 2, 3],
    };
    assert_eq!(store.keep_derived(derived).await, Ok(true));
    drop((script, store));
    let process = Asked::Apply { outcomes: 0, durability: Durability::Process };
    assert_eq!(told.join().unwrap(), [each(0), process, Asked::Sync]);
    drop(directory);
}

#[tokio::test]
async fn what_is_shown_early_is_answered_after_its_flush() {
    let (store, test, _directory) = store(Flush::Each, true);
    let commit = store.commit(keeping(1));
    assert_eq!(test.asked.recv(), Ok(each(1)));
    let key = key(1);
    let mut read = store.outcome(&key, Timestamp(0));
    assert!(poll(&mut read).is_pending(), "it may still be lost");
    test.answers.send(Ok(())).unwrap();
    assert!(read.await.unwrap().is_some());
    assert_eq!(commit.await, Ok(()));
}

#[tokio::test]
async fn what_was_handed_over_is_written_before_the_store_closes() {
    let (store, test, directory) = store(Flush::Each, false);
    let commits: Vec<_> = (1..=3).map(|id| store.commit(keeping(id))).collect();
    drop(test); // from now on every operation succeeds
    drop(store);
    for commit in commits {
        assert_eq!(commit.await, Ok(()));
    }
    let held = Held {
        pairs: Mutex::default(),
        asks: channel().0,
        answers: Mutex::new(channel().1),
        visible_before_flush: false,
    };
    let reopened =
        Directory::open_or_create_with(EngineKind::Fjall, directory.path(), |_| Ok(Box::new(held)));
    let error = reopened.err().expect("the pairs are gone, and the mark tells").to_string();
    assert!(error.contains("has lost writes"), "{error}");
}
