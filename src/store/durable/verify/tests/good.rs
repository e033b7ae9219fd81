//! A store without problems, for tests that damage it.

use std::{sync::Arc, time::Duration};

use tempfile::TempDir;

use super::super::verify;
use crate::{
    domain::{Conversation, Head, LineageId, Marks, Namespace, Policy, Role, Sequence, Utterance},
    store::durable::{
        Directory, EngineKind,
        key_value::{Batch, Durability, Key, Value},
        records::{self, Heads, Kind, OutcomeName, Utterances},
        tests::conversation::{TestConversation, TestStore, calls, named, result, said, user},
    },
};

/// A store with two conversations and without problems:
///
/// | sequence | `demo` |
/// |---|---|
/// | 1 | an instruction, in the window |
/// | 2 | archived, with the id `first` |
/// | 3 to 5 | two calls and their results, archived |
/// | 6 | forgotten, archived |
/// | 7 to 12 | archived, 8 with the id `second` |
/// | 13 | pinned, in the window |
/// | 14 to 17 | in the window |
/// | 18 | two calls, in the window |
/// | 19 | the result of one of these calls |
pub(super) struct Good {
    pub(super) directory: Directory,
    pub(super) demo: Arc<Conversation>,
    files: TempDir,
}

pub(super) const DEMO: LineageId = LineageId([1; 16]);
pub(super) const OTHER: LineageId = LineageId([2; 16]);

impl Good {
    pub(super) fn new() -> Self {
        Self::made(demo)
    }

    /// A store with the conversation that `demo` makes, and another one.
    pub(super) fn made(demo: impl FnOnce(&TestStore) -> Arc<Conversation>) -> Self {
        let files = tempfile::tempdir().unwrap();
        let test_store = TestStore::open(EngineKind::Fjall, files.path());
        let demo = demo(&test_store);
        let mut other = TestConversation::new(&test_store, "other", 2, Policy::ROLLING);
        other.say(vec![user("The port of the other is 80.")]);
        drop(other);
        drop(test_store);
        Self::over(files, demo)
    }

    /// An offline store with the conversation `demo`.
    pub(super) fn over(files: TempDir, demo: Arc<Conversation>) -> Self {
        let directory = Directory::open(EngineKind::Fjall, files.path()).unwrap();
        let good = Self { directory, demo, files };
        assert_eq!(good.problems(), [""; 0]);
        good
    }

    /// Closes the store, and returns its files.
    pub(super) fn close(self) -> TempDir {
        self.files
    }

    pub(super) fn problems(&self) -> Vec<String> {
        let report = verify(&self.directory, &mut |_| {}).unwrap();
        report.problems.iter().map(ToString::to_string).collect()
    }

    /// Returns the problems after writing the pair, then undoes the write.
    pub(super) fn with(&self, key: Key, value: Option<Value>) -> Vec<String> {
        let pairs = self.directory.pairs();
        let before = pairs.get(&key).unwrap();
        assert_ne!(before, value, "it is a damage");
        let write = |value| pairs.apply(Batch { writes: vec![(key.clone(), value)] }, Durability::Process);
        write(value).unwrap();
        let problems = self.problems();
        write(before).unwrap();
        problems
    }

    pub(super) fn put<K: Kind>(&self, key: K::Key, value: K::Value) -> Vec<String> {
        let (key, value) = records::pair::<K>(&key, &value);
        self.with(key, Some(value))
    }

    pub(super) fn edit<K: Kind>(&self, key: K::Key, edit: impl FnOnce(&mut K::Value)) -> Vec<String> {
        let stored = records::key::<K>(&key);
        let value = self.directory.pairs().get(&stored).unwrap().expect("the record is there");
        let (_, mut value) = records::decode::<K>(&stored, &value).unwrap();
        edit(&mut value);
        self.put::<K>(key, value)
    }

    pub(super) fn without<K: Kind>(&self, key: K::Key) -> Vec<String> {
        self.with(records::key::<K>(&key), None)
    }

    pub(super) fn head(&self, edit: impl FnOnce(&mut Head)) -> Vec<String> {
        self.edit::<Heads>(DEMO, |record| edit(&mut record.head))
    }

    /// Returns the problems after changing an utterance, except a wrong count of its bytes.
    pub(super) fn utterance(&self, sequence: u64, edit: impl FnOnce(&mut Utterance)) -> Vec<String> {
        let mut problems = self.edit::<Utterances>((DEMO, Sequence(sequence)), edit);
        problems.retain(|problem| !problem.contains("bytes of utterances"));
        problems
    }
}

fn demo(test_store: &TestStore) -> Arc<Conversation> {
    let policy = Policy {
        utterances: Marks::with_keep(8, 6),
        summary_token_limit: Some(400),
        archive_limit: 20,
        expire_after: Some(Duration::from_secs(3_600)),
        ..Policy::ROLLING
    };
    let mut demo = TestConversation::new(test_store, "demo", 1, policy);
    demo.say(vec![said(Role::System, "Be brief."), named("first", "Which port has the server 10.0.0.1?")]);
    demo.say(vec![calls(&["a", "b"]), result("b"), result("a")]);
    demo.say(vec![user("The key of room 6 is R-6."), user("The key of room 7 is R-7.")]);
    demo.say(vec![named("second", "The file is /etc/8.conf.")]);
    demo.say((9..=12).map(|number| user(&format!("The key of room {number} is R-{number}."))).collect());
    let mut pinned = user("The key of room 13 is R-13.");
    pinned.pinned = true;
    demo.say(vec![pinned]);
    demo.say((14..=17).map(|number| user(&format!("The key of room {number} is R-{number}."))).collect());
    demo.say(vec![calls(&["x", "y"]), result("x")]);
    demo.forget("sequence:6", false);
    demo.call();
    let head = &demo.state.head;
    assert_eq!((head.archived.to_string(), head.next), ("2-12".to_owned(), Sequence(20)));
    assert_eq!(demo.state.window.len(), 8);
    assert_eq!(demo.state.summary.covers(), *head.left);
    demo.state.clone()
}

/// Checks that each damage causes only the expected problem, in the conversation `demo`.
pub(super) fn expect<const N: usize>(damages: [(Vec<String>, &str); N]) {
    for (problems, expected) in damages {
        assert_eq!(problems, [format!("conversation default/demo: {expected}")]);
    }
}

/// The number of the first segment.
pub(super) fn segment(good: &Good) -> u32 {
    good.demo.summary.segments()[0].number
}

pub(super) fn outcome_name() -> OutcomeName {
    let request = crate::domain::RequestId::new("demo 1").unwrap();
    OutcomeName { namespace: Namespace::default(), rpc: "Memorize".into(), request }
}
