//! Copies between engines: interrupted, resumed, refused.

use std::{
    path::Path,
    sync::atomic::{AtomicUsize, Ordering},
};

use tempfile::TempDir;

use super::*;
use crate::{
    domain::{Conversation, Policy, Role},
    store::durable::{
        DurableStore, EngineKind, OpenError, Options,
        fjall::Fjall,
        key_value::Pairs,
        records::{Fault, Policies, Utterances},
        tests::conversation::{TestConversation, TestStore, calls, named, result, said, user},
        verify,
    },
};

const ENGINES: [EngineKind; 2] = EngineKind::ALL;

/// A store with utterances, a forget, a compaction and an outcome.
fn source(engine: EngineKind) -> (TempDir, Directory) {
    let files = tempfile::tempdir().unwrap();
    let test_store = TestStore::open(engine, files.path());
    for (number, id) in [(1, "one"), (2, "two"), (3, "three")] {
        let mut conversation = TestConversation::new(&test_store, id, number, Policy::ROLLING);
        conversation.say(vec![said(Role::System, "Be brief."), named("first", "Which port?")]);
        for room in 0..30 {
            conversation.say(vec![
                user(&format!("The key of room {room} is R-{room}.")),
                calls(&["a"]),
                result("a"),
            ]);
        }
        conversation.forget("sequence:5", true);
        conversation.forget("last:2", false);
        conversation.call();
    }
    let policy = Policy { llm_summaries: Some(true), ..Policy::SESSION };
    let mut compacted = TestConversation::new(&test_store, "compacted", 4, policy);
    for _ in 0..2 {
        compacted.say((0..40).map(|room| user(&format!("The key of room {room} is R-{room}."))).collect());
        compacted.tell(Some("- the keys"));
        compacted.compact(15);
    }
    TestConversation::own_state(&test_store, "friend of one", 5);
    drop(compacted);
    drop(test_store);
    let directory = opened(engine, files.path());
    (files, directory)
}

fn opened(engine: EngineKind, path: &Path) -> Directory {
    Directory::open_or_create(engine, path).unwrap()
}

fn all(pairs: &dyn KeyValue) -> Vec<(Key, Value)> {
    contents(&pairs, None).map(Result::unwrap).collect()
}

fn load(engine: EngineKind, path: &Path, like: &Conversation) -> Conversation {
    let store = DurableStore::open(engine, path, &Options::default()).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let loaded = runtime.block_on(crate::store::Store::load(&store, like.key())).unwrap();
    (*loaded.expect("the conversation was copied")).clone()
}

#[test]
fn a_copy_is_the_same_in_every_engine() {
    for from in ENGINES {
        let (files, source) = source(from);
        let expected = all(source.pairs());
        let bytes: usize = expected.iter().map(|(key, value)| key.len() + value.len()).sum();
        for to in ENGINES {
            let other = tempfile::tempdir().unwrap();
            let target = opened(to, other.path());
            let mut told = Vec::new();
            let copied = copy(&source.pairs(), &target, &mut |copied| told.push(copied)).unwrap();
            let count = expected.len() as u64;
            let whole = Copied { records: count, bytes: bytes as u64, resumed: 0, verified: count };
            assert_eq!((copied, told.last()), (whole, Some(&whole)), "{from} to {to}");
            assert_eq!(all(target.pairs()), expected);
            assert_eq!(verify(&target, &mut |_| {}).unwrap().problems, []);
            drop(target);
            assert_eq!(opened(to, other.path()).check_finished().map_err(|error| error.to_string()), Ok(()));
        }
        drop(files);
    }
}

#[test]
fn a_copy_is_opened_and_goes_on() {
    let files = tempfile::tempdir().unwrap();
    let test_store = TestStore::open(EngineKind::Fjall, files.path());
    let mut conversation = TestConversation::new(&test_store, "demo", 1, Policy::ROLLING);
    conversation.say((0..40).map(|room| user(&format!("The key of room {room} is R-{room}."))).collect());
    let state = conversation.state.clone();
    let own = TestConversation::own_state(&test_store, "ann", 2);
    drop(conversation);
    drop(test_store);
    let other = tempfile::tempdir().unwrap();
    copy(
        &opened(EngineKind::Fjall, files.path()).pairs(),
        &opened(EngineKind::Sled, other.path()),
        &mut |_| {},
    )
    .unwrap();
    assert_eq!(load(EngineKind::Sled, other.path(), &state), *state);
    assert_eq!(load(EngineKind::Sled, other.path(), &own), *own);
    let test_store = TestStore::open(EngineKind::Sled, other.path());
    let mut conversation = TestConversation::going_on(&test_store, state);
    conversation.say(vec![user("The key of the copy is C-1.")]);
    let state = conversation.state.clone();
    drop(conversation);
    drop(test_store);
    assert_eq!(load(EngineKind::Sled, other.path(), &state), *state);
}

/// Pairs that accept a limited number of batches.
struct Failing {
    pairs: Fjall,
    left: AtomicUsize,
}

impl Failing {
    fn of(path: &Path, left: usize) -> Self {
        Self { pairs: Fjall::open(path).unwrap(), left: AtomicUsize::new(left) }
    }
}

impl KeyValue for Failing {
    fn get(&self, key: &[u8]) -> Result<Option<Value>, KeyValueError> {
        self.pairs.get(key)
    }

    fn range(&self, from: Bound<&[u8]>, to: Bound<&[u8]>) -> Pairs<'_> {
        self.pairs.range(from, to)
    }

    fn apply(&self, batch: Batch, durability: Durability) -> Result<(), KeyValueError> {
        let less = |left: usize| left.checked_sub(1);
        match self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less) {
            Ok(_) => self.pairs.apply(batch, durability),
            Err(_) => Err(KeyValueError("the disk is full".to_owned())),
        }
    }

    fn sync(&self) -> Result<(), KeyValueError> {
        self.pairs.sync()
    }

    fn scrub(&self) -> Result<(), KeyValueError> {
        self.pairs.scrub()
    }

    fn disk_bytes(&self) -> Result<u64, KeyValueError> {
        self.pairs.disk_bytes()
    }
}

fn run(from: &dyn KeyValue, to: &dyn KeyValue, batch_bytes: usize) -> Result<Copied, CopyError> {
    let progress = &mut |_| {};
    let from = &from;
    let mut copying =
        Copying { from, to, place: Path::new("copy").into(), progress, copied: Copied::default() };
    copying.run(batch_bytes)?;
    Ok(copying.copied)
}

const SMALL: usize = 4_000;

#[test]
fn a_copy_goes_on_wherever_it_was_interrupted() {
    let (_files, source) = source(EngineKind::Fjall);
    let expected = all(source.pairs());
    let mut boundaries = 0;
    for batches in 0.. {
        let files = tempfile::tempdir().unwrap();
        let first = run(source.pairs(), &Failing::of(files.path(), batches), SMALL);
        if first.is_ok() {
            break;
        }
        assert_eq!(first, Err(CopyError::Write(KeyValueError("the disk is full".to_owned()))));
        let target = Failing::of(files.path(), usize::MAX);
        let there = all(&target).len() as u64;
        let copied = run(source.pairs(), &target, SMALL).unwrap();
        assert_eq!(
            (copied.resumed, copied.records, copied.verified),
            (there, expected.len() as u64, expected.len() as u64)
        );
        assert_eq!(all(&target), expected);
        boundaries += 1;
    }
    assert!(boundaries > 5, "{boundaries} batches");
}

#[test]
fn a_copy_that_is_interrupted_again_and_again_ends() {
    let (_files, source) = source(EngineKind::Fjall);
    let files = tempfile::tempdir().unwrap();
    let mut attempts = 0;
    let copied = loop {
        attempts += 1;
        match run(source.pairs(), &Failing::of(files.path(), 1), SMALL) {
            Ok(copied) => break copied,
            Err(error) => assert!(matches!(error, CopyError::Write(_)), "{error}"),
        }
    };
    assert!(attempts > 5);
    assert_eq!(copied.resumed, copied.records, "the last attempt had only to end it");
    assert_eq!(all(&Failing::of(files.path(), 0)), all(source.pairs()));
}

/// The beginning of a copy of `source`.
fn interrupted(source: &Directory) -> (TempDir, Failing) {
    let files = tempfile::tempdir().unwrap();
    let stopped = run(source.pairs(), &Failing::of(files.path(), 4), SMALL);
    assert!(matches!(stopped, Err(CopyError::Write(_))));
    let target = Failing::of(files.path(), usize::MAX);
    (files, target)
}

#[test]
fn a_source_that_has_changed_is_noticed() {
    let (_files, source) = source(EngineKind::Fjall);
    let (_target_files, target) = interrupted(&source);
    let there = all(&target);
    let (key, value) = there[there.len() / 2].clone();
    let name = describe(&key, &value);
    let mut between = key.clone();
    between.push(0);
    let write = |key: &Key, value: Option<Value>| {
        let writes = vec![(key.clone(), value)];
        source.pairs().apply(Batch { writes }, Durability::Process).unwrap();
    };
    let differs =
        |record: &str| Err(CopyError::Differs { place: Path::new("copy").into(), record: record.into() });
    write(&key, Some(there[0].1.clone()));
    assert_eq!(run(source.pairs(), &target, SMALL), differs(&name), "a record was rewritten");
    write(&key, None);
    assert_eq!(run(source.pairs(), &target, SMALL), differs(&name), "a record was removed");
    write(&key, Some(value));
    write(&between, Some(vec![1]));
    let added = describe(&between, &[1]);
    assert_eq!(run(source.pairs(), &target, SMALL), differs(&added), "a record was added");
    write(&between, None);
    assert!(run(source.pairs(), &target, SMALL).is_ok(), "it is as it was");
}

#[test]
fn a_damaged_source_is_named() {
    let (_files, source) = source(EngineKind::Fjall);
    let lineage = crate::domain::LineageId([2; 16]);
    let key = records::key::<Utterances>(&(lineage, crate::domain::Sequence(7)));
    let value = source.pairs().get(&key).unwrap().unwrap();
    let write = |value: Value| {
        let writes = vec![(key.clone(), Some(value))];
        source.pairs().apply(Batch { writes }, Durability::Process).unwrap();
    };
    let mut damaged = value.clone();
    damaged[5] ^= 8;
    write(damaged);
    let files = tempfile::tempdir().unwrap();
    let target = Failing::of(files.path(), usize::MAX);
    let record = format!("utterance {lineage}-7").into();
    assert_eq!(
        run(source.pairs(), &target, SMALL),
        Err(CopyError::Damaged(BadRecord { record, fault: Fault::Checksum }))
    );
    assert_eq!(
        all(&target)
            .last()
            .map(|(key, _)| key < &records::key::<Utterances>(&(lineage, crate::domain::Sequence(7)))),
        Some(true)
    );
    write(value);
    assert!(run(source.pairs(), &target, SMALL).is_ok(), "once the record is mended");
}

#[test]
fn a_record_of_an_unknown_kind_is_not_left_behind() {
    let (_files, source) = source(EngineKind::Fjall);
    for key in [vec![0], vec![99]] {
        let writes = vec![(key.clone(), Some(vec![1]))];
        source.pairs().apply(Batch { writes }, Durability::Process).unwrap();
        let files = tempfile::tempdir().unwrap();
        let refused = run(source.pairs(), &Failing::of(files.path(), usize::MAX), SMALL);
        assert!(matches!(refused, Err(CopyError::Damaged(_))), "{refused:?}");
        source.pairs().apply(Batch { writes: vec![(key, None)] }, Durability::Process).unwrap();
    }
}

#[test]
fn a_target_that_holds_a_store_is_refused() {
    let (_files, one) = source(EngineKind::Fjall);
    let (other_files, other) = source(EngineKind::Sled);
    let taken = Err(CopyError::Taken(other_files.path().into()));
    assert_eq!(copy(&one.pairs(), &other, &mut |_| {}), taken);
    let files = tempfile::tempdir().unwrap();
    let target = opened(EngineKind::Fjall, files.path());
    copy(&one.pairs(), &target, &mut |_| {}).unwrap();
    assert_eq!(
        copy(&one.pairs(), &target, &mut |_| {}),
        Err(CopyError::Taken(files.path().into())),
        "it is finished"
    );
}

#[test]
fn an_unfinished_copy_is_opened_by_nothing_else() {
    let (_files, source) = source(EngineKind::Fjall);
    let files = tempfile::tempdir().unwrap();
    let mut target = opened(EngineKind::Fjall, files.path());
    let lineage = crate::domain::LineageId([3; 16]);
    let (key, value) = records::pair::<Policies>(&lineage, &Policy::ROLLING);
    let broken = Batch { writes: vec![(key.clone(), Some(vec![0; 9]))] };
    source.pairs().apply(broken, Durability::Process).unwrap();
    assert!(matches!(copy(&source.pairs(), &target, &mut |_| {}), Err(CopyError::Damaged(_))));
    assert!(matches!(target.check_finished(), Err(OpenError::Unfinished { .. })));
    assert!(crate::store::durable::scrub(&mut target).is_err());
    drop(target);
    let refused = DurableStore::open(EngineKind::Fjall, files.path(), &Options::default()).err().unwrap();
    assert!(matches!(refused, OpenError::Unfinished { .. }), "{refused}");
    source.pairs().apply(Batch { writes: vec![(key, Some(value))] }, Durability::Process).unwrap();
    let target = opened(EngineKind::Fjall, files.path());
    assert!(copy(&source.pairs(), &target, &mut |_| {}).unwrap().resumed > 0);
    drop(target);
    DurableStore::open(EngineKind::Fjall, files.path(), &Options::default()).unwrap();
}
