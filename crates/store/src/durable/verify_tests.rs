//! What a verification finds in files: nothing after any life, and each record that is damaged or does not fit.

use std::{ops::Bound, path::Path, sync::Arc, time::Duration};

use tempfile::TempDir;

use super::{
    Directory, DurableStore, EngineKind, Flush, Options,
    key_value::{Durability, Key, Value},
    pairs,
    tests::{
        conversation::{TestConversation, TestStore, calls, named, result, user},
        problems,
    },
};
use crate::{
    Due,
    conformance::{
        self,
        forks::random_family,
        support::{family::Family, values},
    },
    records::{
        self, Active, Compactions, ConversationName, Description, Descriptions, Dues, Ended, GivenIds, Heads,
        Kind, Links, Listed, Metas, Outcomes, Readers, RecipientUpdated, Segments, Started, StateValues,
        Updated, Utterances, Waiting,
    },
};
use utterd_domain::{ConversationId, LineageId, Marks, Policy, RecipientId, Sequence, Timestamp};

fn store(engine: EngineKind, path: &Path) -> DurableStore {
    let options = Options { flush: Flush::Interval(Duration::from_secs(3_600)), ..Options::default() };
    DurableStore::open(engine, path, &options).unwrap()
}

fn holds_nothing(directory: &Directory) -> bool {
    let mut pairs = directory.pairs().range(Bound::Unbounded, Bound::Unbounded);
    pairs.all(|pair| [Metas::NUMBER, Links::NUMBER].contains(&pair.unwrap().0[0]))
}

/// After any operations on a family, its store is clean. After the last member is deleted, nothing remains.
#[test]
fn every_family_leaves_a_clean_store() {
    for (engine, seed) in EngineKind::ALL.into_iter().flat_map(|engine| [1, 2, 3].map(|seed| (engine, seed)))
    {
        let [files, emptied] = [(); 2].map(|()| tempfile::tempdir().unwrap());
        conformance::run(async { (store(engine, files.path()), ()) }, async |store| {
            random_family(&store, seed, 60).await;
        });
        assert_eq!(problems(engine, files.path()), [""; 0], "{engine}, seed {seed}");
        conformance::run(async { (store(engine, emptied.path()), ()) }, async |store| {
            random_family(&store, seed, 60).await.delete_all().await;
        });
        assert!(holds_nothing(&Directory::open(engine, emptied.path()).unwrap()), "{engine}, seed {seed}");
    }
}

#[test]
fn what_comes_and_goes_at_once_leaves_nothing() {
    for engine in EngineKind::ALL {
        let files = tempfile::tempdir().unwrap();
        let store = async { (store(engine, files.path()), ()) };
        conformance::run(store, conformance::forks::a_chain_of_forks_is_handed_over_at_once);
        assert!(holds_nothing(&Directory::open(engine, files.path()).unwrap()));
    }
}

/// A store in files to damage.
struct Good {
    files: TempDir,
}

/// The lineage of the conversation `demo`: the first of all.
const DEMO: LineageId = LineageId([0; 16]);

impl Good {
    /// With a conversation, `demo`, that has archived utterances, ids, segments, a compaction, an outcome and
    /// something that waits and expires; with a recipient's own state, and with a family of forks.
    fn new() -> Self {
        let files = tempfile::tempdir().unwrap();
        let test_store = TestStore::open(EngineKind::Fjall, files.path());
        let policy = Policy {
            utterances: Marks::with_keep(50, 20),
            expire_after: Some(Duration::from_secs(3_600)),
            llm_summaries: Some(true),
            ..Policy::ROLLING
        };
        let mut demo = TestConversation::new(&test_store, "demo", 0, policy);
        demo.say(vec![named("first", "Which port has the server 10.0.0.1?"), calls(&["a"]), result("a")]);
        demo.say((0..60).map(|room| user(&format!("The key of room {room} is R-{room}."))).collect());
        demo.compact(15);
        demo.call();
        assert!(demo.state.head.archived.contains(Sequence(1)) && demo.state.awaits_since().is_some());
        assert!(!demo.state.compactions.is_empty() && !demo.state.summary.segments().is_empty());
        TestConversation::own_state(&test_store, "friend of demo", 2);
        drop(demo);
        drop(test_store);
        conformance::run(async { (store(EngineKind::Fjall, files.path()), ()) }, async |store| {
            let mut family = Family::of(&store, "parent", Policy::SESSION);
            family.member("parent").say((0..4).map(|_| user("It is shared.")).collect()).await;
            family.fork_at("parent", "fork", 3).await;
            family.member("fork").end("done").await;
        });
        let good = Self { files };
        assert_eq!(good.problems(), [""; 0]);
        good
    }

    fn problems(&self) -> Vec<String> {
        problems(EngineKind::Fjall, self.files.path())
    }

    fn directory(&self) -> Directory {
        Directory::open(EngineKind::Fjall, self.files.path()).unwrap()
    }

    /// The first record of a kind.
    fn first<K: Kind>(&self) -> (Key, Value) {
        let directory = self.directory();
        pairs::within(directory.pairs(), &records::all_of::<K>()).next().unwrap().unwrap()
    }

    /// Returns the problems after writing a pair, then undoes the write.
    fn with(&self, key: Key, value: Option<Value>) -> Vec<String> {
        let write = |value| {
            let directory = self.directory();
            let before = directory.pairs().get(&key).unwrap();
            let writes = vec![(key.clone(), value)];
            directory.pairs().apply(writes, Durability::Disk).unwrap();
            before
        };
        let before = write(value);
        let problems = self.problems();
        write(before);
        problems
    }

    fn without<K: Kind>(&self) -> Vec<String> {
        self.with(self.first::<K>().0, None)
    }

    fn put<K: Kind>(&self, key: &K::Key, value: &K::Value) -> Vec<String> {
        let (key, value) = records::pair::<K>(key, value);
        self.with(key, Some(value))
    }

    /// The problems after changing the first record of a kind.
    fn edit<K: Kind>(&self, edit: impl FnOnce(&mut K::Value)) -> Vec<String> {
        let (key, value) = self.first::<K>();
        let (key, mut value) = records::decode::<K>(&key, &value).unwrap();
        edit(&mut value);
        self.put::<K>(&key, &value)
    }
}

/// Checks that the first problem, or the only one, names what is expected.
#[track_caller]
fn expect(problems: &[String], expected: &str) {
    assert!(problems.iter().any(|problem| problem.contains(expected)), "{expected}: {problems:?}");
}

#[test]
fn each_kind_of_record_is_missed() {
    let good = Good::new();
    expect(&good.without::<ConversationName>(), "it belongs to no conversation");
    expect(
        &good.without::<Heads>(),
        "conversation default/demo: conversation demo is damaged: it has no head",
    );
    expect(&good.without::<Segments>(), "segments instead of");
    expect(&good.without::<Compactions>(), "compactions are stored");
    expect(&good.without::<StateValues>(), "its 1 state values are not the 2 in its description");
    expect(&good.without::<Utterances>(), "conversation default/demo: utterances are missing: 1");
    expect(&good.without::<GivenIds>(), "the id \"first\" does not lead to utterance 1");
    expect(&good.without::<Readers>(), "it is not among the readers of lineage");
    for (problems, list) in [
        (good.without::<Listed>(), "it is not in the list by start"),
        (good.without::<Started>(), "it is not in the list by start"),
        (good.without::<Updated>(), "it is not in the list by update"),
        (good.without::<RecipientUpdated>(), "it is not in the list by update"),
        (good.without::<Ended>(), "it is not in the list of ended conversations"),
        (good.without::<Dues>(), "it is not in the work that is due"),
        (good.without::<Waiting>(), "it is not in the waiting summaries"),
    ] {
        expect(&problems, list);
        assert_eq!(problems.len(), 1, "{problems:?}");
    }
    assert_eq!(good.problems(), [""; 0]);
}

#[test]
fn each_record_that_is_damaged_is_named() {
    let good = Good::new();
    let damaged = |(key, mut value): (Key, Value), name: &str| {
        value[1] ^= 8;
        expect(&good.with(key, Some(value)), &format!("{name}: the checksum is wrong"));
    };
    damaged(good.first::<ConversationName>(), "conversation default/(state of friend of demo)");
    damaged(good.first::<Heads>(), &format!("head {DEMO}"));
    damaged(good.first::<Utterances>(), &format!("utterance {DEMO}-1"));
    let (key, value) = good.first::<Outcomes>();
    damaged((key, value), "outcome of Memorize demo 1 of default");
    expect(&good.with(vec![99, 1], Some(vec![1])), "kind 99 is unknown");
}

#[test]
fn what_does_not_fit_is_named() {
    let good = Good::new();
    let nobody = LineageId([0xfe; 16]);
    expect(&good.put::<Descriptions>(&nobody, &Description::default()), "it belongs to no conversation");
    let (key, value) = good.first::<Utterances>();
    let (_, mut utterance) = records::decode::<Utterances>(&key, &value).unwrap();
    let far = Sequence(5_000);
    Arc::make_mut(&mut utterance).sequence = far;
    expect(&good.put::<Utterances>(&(DEMO, far), &utterance), "no conversation has utterance 5000");
    expect(&good.put::<GivenIds>(&(DEMO, "stray".into()), &far), "no conversation has utterance 5000");
    expect(&good.edit::<Heads>(|record| record.head.stored -= 1), "utterances instead of");
    expect(&good.edit::<Heads>(|record| record.head.turn += 7), "conversation default/demo: ");
    expect(&good.edit::<Readers>(|reader| reader.through = Sequence(2)), "but its head says");
    let bob = RecipientId::new("bob").unwrap();
    expect(
        &good.edit::<ConversationName>(|identity| Arc::make_mut(identity).recipient = bob),
        "it holds the state of bob",
    );
    expect(
        &good.edit::<Active>(|id| *id = ConversationId::new("nobody").unwrap()),
        "there is no conversation nobody",
    );
    expect(&good.edit::<Active>(|id| *id = ConversationId::new("parent").unwrap()), "belongs to ");
    let due = (Timestamp(7), Due::Expired(values::key("nobody")));
    expect(&good.put::<Dues>(&due, &()), "it is in the work that is due, but does not belong there");
}
