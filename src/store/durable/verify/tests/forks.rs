//! Families of forks leave clean stores, and problems in a family are reported.

use std::{ops::Bound, path::Path};

use proptest::test_runner::{Config, TestRunner};
use tempfile::TempDir;

use super::super::verify;
use crate::{
    domain::{LineageId, Policy, Sequence, Trunk},
    store::{
        conformance::{self, forks::random_family, support::family::Family},
        durable::{
            Directory, DurableStore, EngineKind, Flush, Options, copy,
            key_value::{Batch, Durability, Key, Value},
            records::{
                self, ConversationName, GivenIds, Heads, Kind, LineageReader, Links, Metas, Readers,
                Utterances,
            },
            tests::conversation::{named, user},
        },
    },
};

fn store(engine: EngineKind, path: &Path) -> DurableStore {
    let options =
        Options { flush: Flush::Interval(std::time::Duration::from_secs(3_600)), ..Options::default() };
    DurableStore::open(engine, path, &options).unwrap()
}

fn opened(engine: EngineKind, path: &Path) -> Directory {
    Directory::open(engine, path).unwrap()
}

/// Runs a random family of conversations with shared utterances; deletes all of them at the end if `delete`
/// is set.
fn live(engine: EngineKind, path: &Path, seed: u64, delete: bool) {
    conformance::run(async { (store(engine, path), ()) }, async |store| {
        let mut family = random_family(&store, seed, 60).await;
        if delete {
            family.delete_all().await;
        }
    });
}

/// After any operations on a family, its store is clean, and so is a copy of it. After the last member is
/// deleted, nothing remains.
fn every_family_leaves_a_clean_store(engine: EngineKind, cases: u32) {
    let config = Config { failure_persistence: None, ..Config::with_cases(cases) };
    let result = TestRunner::new(config).run(&(1..u64::MAX), |seed| {
        let [files, others, emptied] = [(); 3].map(|()| tempfile::tempdir().unwrap());
        live(engine, files.path(), seed, false);
        let source = opened(engine, files.path());
        assert_eq!(verify(&source, &mut |_| {}).unwrap().problems, []);
        let target = Directory::open_or_create(EngineKind::Fjall, others.path()).unwrap();
        copy(&source.pairs(), &target, &mut |_| {}).unwrap();
        assert_eq!(verify(&target, &mut |_| {}).unwrap().problems, []);
        live(engine, emptied.path(), seed, true);
        assert!(holds_nothing(&opened(engine, emptied.path())));
        Ok(())
    });
    result.unwrap();
}

#[test]
fn every_family_leaves_a_clean_store_of_fjall() {
    every_family_leaves_a_clean_store(EngineKind::Fjall, 4);
}

#[test]
fn every_family_leaves_a_clean_store_of_sled() {
    every_family_leaves_a_clean_store(EngineKind::Sled, 3);
}

/// Nothing remains even of conversations created and deleted within one batch.
#[test]
fn what_comes_and_goes_at_once_leaves_nothing() {
    for engine in EngineKind::ALL {
        let files = tempfile::tempdir().unwrap();
        let store = async { (store(engine, files.path()), ()) };
        conformance::run(store, conformance::forks::a_chain_of_forks_is_handed_over_at_once);
        assert!(holds_nothing(&opened(engine, files.path())));
    }
}

/// Whether the store contains only its own numbers and links.
fn holds_nothing(directory: &Directory) -> bool {
    let mut pairs = directory.pairs().range(Bound::Unbounded, Bound::Unbounded);
    pairs.all(|pair| [Metas::NUMBER, Links::NUMBER].contains(&pair.unwrap().0[0]))
}

/// A parent with 30 utterances, utterance 2 with an id, 14 archived; a fork of it at 25 that has pinned 2 and
/// 20 and continues to 26.
struct Good {
    directory: Directory,
    trunk: LineageId,
    fork: LineageId,
    _files: TempDir,
}

impl Good {
    fn new() -> Self {
        let files = tempfile::tempdir().unwrap();
        conformance::run(async { (store(EngineKind::Fjall, files.path()), ()) }, async |store| {
            let mut family = Family::of(&store, "parent", Policy::ROLLING);
            family
                .member("parent")
                .say(vec![user("The code is 1."), named("second", "The code is 2.")])
                .await;
            for number in 3..=30 {
                family.member("parent").say(vec![user(&format!("The code is {number}."))]).await;
            }
            family.fork_at("parent", "fork", 25).await;
            family.member("fork").mark(2, true, "important").await;
            family.member("fork").mark(20, true, "important").await;
            family.member("fork").say(vec![user("The code is 26.")]).await;
        });
        let directory = opened(EngineKind::Fjall, files.path());
        let lineage = |id| {
            let identity =
                records::get::<ConversationName>(directory.pairs(), &conformance::support::values::key(id));
            identity.unwrap().unwrap().lineage
        };
        let (trunk, fork) = (lineage("parent"), lineage("fork"));
        let good = Self { directory, trunk, fork, _files: files };
        assert_eq!(good.problems(), [""; 0]);
        good
    }

    fn problems(&self) -> Vec<String> {
        let report = verify(&self.directory, &mut |_| {}).unwrap();
        report.problems.iter().map(ToString::to_string).collect()
    }

    /// Returns the problems after writing the pair, then undoes the write.
    fn with(&self, key: Key, value: Option<Value>) -> Vec<String> {
        let pairs = self.directory.pairs();
        let before = pairs.get(&key).unwrap();
        assert_ne!(before, value, "it is a damage");
        let write = |value| pairs.apply(Batch { writes: vec![(key.clone(), value)] }, Durability::Process);
        write(value).unwrap();
        let problems = self.problems();
        write(before).unwrap();
        problems
    }

    fn edit<K: Kind>(&self, key: K::Key, edit: impl FnOnce(&mut K::Value)) -> Vec<String> {
        let mut value =
            records::get::<K>(self.directory.pairs(), &key).unwrap().expect("the record is there");
        edit(&mut value);
        let (key, value) = records::pair::<K>(&key, &value);
        self.with(key, Some(value))
    }

    fn without<K: Kind>(&self, key: K::Key) -> Vec<String> {
        self.with(records::key::<K>(&key), None)
    }
}

#[test]
fn an_utterance_that_nobody_has_is_named() {
    let good = Good::new();
    let (trunk, fork) = (good.trunk, good.fork);
    let stray = |lineage, sequence| {
        let mut utterance =
            records::get::<Utterances>(good.directory.pairs(), &(trunk, Sequence(30))).unwrap().unwrap();
        (utterance.sequence, utterance.unit) = (Sequence(sequence), Sequence(sequence));
        let (key, value) = records::pair::<Utterances>(&(lineage, Sequence(sequence)), &utterance);
        good.with(key, Some(value))
    };
    assert_eq!(
        stray(trunk, 31),
        [format!("lineage {trunk}: utterance 31 is stored, but no conversation has it")]
    );
    assert_eq!(
        stray(fork, 27),
        [format!("lineage {fork}: utterance 27 is stored, but no conversation has it")]
    );
}

#[test]
fn an_utterance_that_is_missing_is_missed_by_all_that_read_it() {
    let good = Good::new();
    let missing = |lineage, sequence| good.without::<Utterances>((lineage, Sequence(sequence)));
    let of = |id| format!("conversation default/{id}: utterances are missing: ");
    let problems = missing(good.trunk, 5);
    assert!(problems.contains(&format!("{}5", of("parent"))), "{problems:?}");
    assert!(problems.contains(&format!("{}5", of("fork"))), "{problems:?}");
    let problems = missing(good.trunk, 28);
    assert!(problems.contains(&format!("{}28", of("parent"))), "{problems:?}");
    assert!(problems.iter().all(|problem| !problem.contains("fork")), "{problems:?}");
    let problems = missing(good.fork, 26);
    assert!(problems.iter().all(|problem| problem.contains("fork")), "{problems:?}");
    assert!(!problems.is_empty());
}

#[test]
fn readers_that_are_not_as_the_heads_say_are_named() {
    let good = Good::new();
    let (trunk, fork) = (good.trunk, good.fork);
    let reader = records::name::<Readers>(&(trunk, fork));
    assert_eq!(
        good.without::<Readers>((trunk, fork)),
        [format!("conversation default/fork: it is not among the readers of lineage {trunk}")]
    );
    assert_eq!(
        good.edit::<Readers>((trunk, fork), |told| told.through = Sequence(24)),
        [format!("{reader}: it reads up to 24, but its head says 25")]
    );
    assert_eq!(
        good.edit::<Readers>((trunk, fork), |told| told.conversation =
            conformance::support::values::key("other")),
        [format!("{reader}: the conversation is not other")]
    );
    let stray =
        LineageReader { conversation: conformance::support::values::key("fork"), through: Sequence(3) };
    for (lineage, other) in [(fork, fork), (trunk, LineageId([9; 16])), (LineageId([9; 16]), fork)] {
        let (key, value) = records::pair::<Readers>(&(lineage, other), &stray);
        let name = records::name::<Readers>(&(lineage, other));
        assert_eq!(good.with(key, Some(value)), [format!("{name}: no such conversation reads that lineage")]);
    }
}

#[test]
fn given_ids_are_those_of_their_lineage() {
    let good = Good::new();
    let (trunk, fork) = (good.trunk, good.fork);
    for lineage in [trunk, fork] {
        assert_eq!(
            good.without::<GivenIds>((lineage, "second".into())),
            [format!("lineage {lineage}: the id \"second\" does not lead to utterance 2, which has it")]
        );
    }
}

#[test]
fn a_head_that_reads_elsewhere_is_noticed() {
    let good = Good::new();
    let elsewhere = [Trunk { lineage: LineageId([9; 16]), through: Sequence(25) }];
    let problems = good.edit::<Heads>(good.fork, |record| record.head.trunks = elsewhere.into());
    assert!(
        problems.iter().any(|problem| problem.contains("fork: utterances are missing: 1, 3-")),
        "{problems:?}"
    );
    let problems = good.edit::<Heads>(good.fork, |record| record.head.branch = LineageId([9; 16]));
    assert!(
        problems
            .iter()
            .any(|problem| problem.contains("without a conversation: 3 of the kind \"utterance\"")),
        "{problems:?}"
    );
    for lineage in [good.trunk, good.fork] {
        let key = records::key::<Heads>(&lineage);
        let mut damaged = good.directory.pairs().get(&key).unwrap().unwrap();
        damaged[4] ^= 1;
        assert_eq!(good.with(key, Some(damaged)).len(), 1, "named once");
    }
}
