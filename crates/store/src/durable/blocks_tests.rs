//! Derived data in files: after a restart, after writes of another program, damaged and verified.

use std::{path::Path, sync::Arc};

use tempfile::TempDir;

use super::{
    Directory, DurableStore, EngineKind, Options,
    key_value::{Batch, Durability, Key, Value},
    records::{self, BlockBytes, BlockList, BlockLists, BlockName, Blocks, Heads},
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
        self.open().pairs().apply(Batch { writes }, Durability::Disk).unwrap();
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

/// The list of blocks is of the state before something was erased.
#[test]
fn blocks_derived_before_an_erasure_are_not_read() {
    let kept = Kept::new(EngineKind::Fjall);
    let (head_key, list_key) =
        (records::key::<Heads>(&kept.lineage()), records::key::<BlockLists>(&kept.lineage()));
    let (lineage, mut record) = records::decode::<Heads>(&head_key, &kept.value(&head_key).unwrap()).unwrap();
    let mut state = (*kept.state).clone();
    record.head.erased_at = record.head.revision;
    state.head.erased_at = record.head.revision;
    let (head_key, head) = records::pair::<Heads>(&lineage, &record);
    kept.write(vec![(head_key, Some(head))]);
    assert_eq!(kept.read(), [b""; 0]);
    let mut embeddings = block_key(lineage);
    embeddings[17] = 2;
    kept.run(async |store| {
        let derived = DerivedBlock {
            conversation: key("kept"),
            kind: Derived::Embeddings,
            block: Block(0),
            erased_at: state.head.erased_at,
            bytes: b"anew".to_vec(),
        };
        assert!(store.keep_derived(derived).await.unwrap());
        assert_eq!(read(&store).await, [b""; 0], "the index was derived from what is erased");
    });
    assert_eq!(kept.value(&block_key(lineage)), None);
    assert!(kept.value(&embeddings).is_some());
    let list = records::decode::<BlockLists>(&list_key, &kept.value(&list_key).unwrap()).unwrap().1;
    assert_eq!((list.erased_at, list.index.is_empty()), (state.head.erased_at, true));
}

/// A damaged or missing block is derived again, and so is one whose list is damaged. A damaged list does not
/// prevent erasing.
#[test]
fn what_cannot_be_read_is_made_anew() {
    let kept = Kept::new(EngineKind::Fjall);
    let (block, list) = (block_key(kept.lineage()), records::key::<BlockLists>(&kept.lineage()));
    for key in [&block, &list] {
        let value = kept.value(key).unwrap();
        let damaged = [&value[..value.len() - 1], &[!value[value.len() - 1]]].concat();
        kept.write(vec![(key.clone(), Some(damaged))]);
        assert_eq!(kept.read(), [b""; 0]);
        assert_eq!(kept.problems().len(), 1);
        kept.run(async |store| assert!(keep(&store, &kept.state, b"anew").await));
        assert_eq!(kept.read(), [b"anew"]);
        assert_eq!(kept.problems(), [""; 0]);
    }
    kept.write(vec![(block.clone(), None)]);
    assert_eq!(kept.read(), [b""; 0]);
    kept.run(async |store| assert!(keep(&store, &kept.state, b"anew").await));
    kept.write(vec![(list.clone(), Some(b"damaged".to_vec()))]);
    kept.run(async |store| {
        let mut script = Script::with(&store, "kept", Policy::SESSION);
        script.state = kept.state.clone();
        assert!(script.forget("sequence:2", true).await);
    });
    assert_eq!((kept.value(&block), kept.value(&list)), (None, None));
}

#[test]
fn what_is_derived_of_no_conversation_is_a_problem() {
    let kept = Kept::new(EngineKind::Fjall);
    assert_eq!(kept.problems(), [""; 0]);
    let stray = LineageId([0xfe; 16]);
    let name = BlockName { kind: Derived::Index, block: Block(3) };
    let (block_key, block) = records::pair::<Blocks>(&(stray, name), &BlockBytes(vec![7; 9]));
    let (list_key, list) = records::pair::<BlockLists>(&stray, &BlockList::default());
    kept.write(vec![(block_key, Some(block)), (list_key, Some(list))]);
    let found = kept.problems();
    let names = |record: &str| found.iter().any(|it| it.starts_with(record));
    assert!(found.iter().all(|it| it.ends_with(": it belongs to no conversation")), "{found:?}");
    assert!(
        found.len() == 2
            && names(&format!("block 3 of Index of {stray}"))
            && names(&format!("list of blocks {stray}")),
        "{found:?}"
    );
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
