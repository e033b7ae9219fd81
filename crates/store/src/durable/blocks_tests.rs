//! Derived data in files: after a restart, after writes of another program, damaged and verified.

use std::{path::Path, sync::Arc};

use tempfile::TempDir;

use super::{
    Directory, DurableStore, EngineKind, Options,
    key_value::{Durability, Key, Value},
    scrub,
    tests::{holds, problems},
};
use crate::{
    Derived, DerivedBlock, Store,
    conformance::{
        self,
        support::{
            script::Script,
            values::{key, users},
        },
    },
    records::{self, BlockBytes, BlockName, Blocks},
};
use utterd_domain::{Block, Conversation, LineageId, Policy, Revision};

/// A conversation with a stored index of block 0, in the files of a closed store.
struct Kept {
    engine: EngineKind,
    files: TempDir,
    state: Arc<Conversation>,
}

impl Kept {
    fn new(engine: EngineKind) -> Self {
        let files = tempfile::tempdir().unwrap();
        let mut state = None;
        run(engine, files.path(), async |store| {
            let mut script = Script::with(&store, "kept", Policy::SESSION);
            script.say(users(9)).await;
            assert!(keep(&store, &script.state, b"derived: xylophone").await);
            state = Some(script.state);
        });
        let state = state.unwrap();
        let kept = Self { engine, files, state };
        assert_eq!(kept.read(), [b"derived: xylophone"]);
        kept
    }

    fn lineage(&self) -> LineageId {
        self.state.head.identity.lineage
    }

    fn open(&self) -> Directory {
        Directory::open(self.engine, self.files.path()).unwrap()
    }

    fn run<C: Future<Output = ()>>(&self, case: impl FnOnce(Arc<dyn Store>) -> C) {
        run(self.engine, self.files.path(), case);
    }

    /// Reads the stored index blocks as a server does.
    fn read(&self) -> Vec<Vec<u8>> {
        let mut read = Vec::new();
        self.run(async |store| read = self::read(&store).await);
        read
    }

    fn write(&self, writes: Vec<(Key, Option<Value>)>) {
        self.open().pairs().apply(writes, Durability::Disk).unwrap();
    }

    fn value(&self, key: &Key) -> Option<Value> {
        self.open().pairs().get(key).unwrap()
    }

    fn problems(&self) -> Vec<String> {
        problems(self.engine, self.files.path())
    }
}

fn run<C: Future<Output = ()>>(engine: EngineKind, path: &Path, case: impl FnOnce(Arc<dyn Store>) -> C) {
    let open = async { (DurableStore::open(engine, path, &Options::default()).unwrap(), ()) };
    conformance::run(open, case);
}

async fn keep(store: &Arc<dyn Store>, state: &Conversation, bytes: &[u8]) -> bool {
    let derived = DerivedBlock {
        conversation: state.key().clone(),
        kind: Derived::Index,
        block: Block(0),
        erased_at: state.head.erased_at,
        bytes: bytes.to_vec(),
    };
    store.keep_derived(derived).await.unwrap()
}

async fn read(store: &Arc<dyn Store>) -> Vec<Vec<u8>> {
    let read = store.derived(&key("kept"), Derived::Index, Block(0)..=Block(u64::MAX)).await.unwrap();
    read.into_iter().map(|(_, bytes)| bytes).collect()
}

fn block_key(lineage: LineageId) -> Key {
    records::key::<Blocks>(&(lineage, BlockName { kind: Derived::Index, block: Block(0) }))
}

#[test]
fn what_is_derived_outlives_the_process() {
    for engine in EngineKind::ALL {
        let kept = Kept::new(engine);
        kept.run(async |store| assert!(keep(&store, &kept.state, b"another").await));
        assert_eq!(kept.read(), [b"another"]);
        assert_eq!(kept.problems(), [""; 0]);
    }
}

/// A damaged or missing block is derived again.
#[test]
fn what_cannot_be_read_is_made_anew() {
    let kept = Kept::new(EngineKind::Fjall);
    let block = block_key(kept.lineage());
    let value = kept.value(&block).unwrap();
    let damaged = [&value[..value.len() - 1], &[!value[value.len() - 1]]].concat();
    kept.write(vec![(block.clone(), Some(damaged))]);
    assert_eq!(kept.read(), [b""; 0]);
    assert_eq!(kept.problems().len(), 1);
    kept.run(async |store| assert!(keep(&store, &kept.state, b"anew").await));
    assert_eq!(kept.read(), [b"anew"]);
    assert_eq!(kept.problems(), [""; 0]);
    kept.write(vec![(block.clone(), None)]);
    assert_eq!(kept.read(), [b""; 0]);
    kept.run(async |store| assert!(keep(&store, &kept.state, b"anew").await));
    kept.run(async |store| {
        let mut script = Script::with(&store, "kept", Policy::SESSION);
        script.state = kept.state.clone();
        assert!(script.forget("sequence:2", true).await);
    });
    assert_eq!(kept.value(&block), None);
}

#[test]
fn what_is_derived_of_no_conversation_is_a_problem() {
    let kept = Kept::new(EngineKind::Fjall);
    assert_eq!(kept.problems(), [""; 0]);
    let stray = LineageId([0xfe; 16]);
    let name = BlockName { kind: Derived::Index, block: Block(3) };
    let (block_key, block) = records::pair::<Blocks>(&(stray, name), &BlockBytes(vec![7; 9]));
    kept.write(vec![(block_key, Some(block))]);
    assert_eq!(kept.problems(), [format!("block 3 of Index of {stray}: it belongs to no conversation")]);
}

#[test]
fn a_scrub_reaches_what_was_derived_from_what_is_erased() {
    for engine in EngineKind::ALL {
        let kept = Kept::new(engine);
        kept.run(async |store| {
            let mut script = Script::with(&store, "kept", Policy::SESSION);
            script.state = kept.state.clone();
            assert!(script.forget("sequence:2", true).await);
            assert!(script.state.head.erased_at > Revision::NONE);
        });
        assert!(holds(kept.files.path(), b"xylophone"), "{engine} has it still");
        scrub(&mut kept.open()).unwrap();
        assert!(!holds(kept.files.path(), b"xylophone"), "{engine}");
        assert_eq!(kept.problems(), [""; 0]);
    }
}
