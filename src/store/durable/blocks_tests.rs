//! Derived data in files: after a restart, after writes of another program, damaged, verified and copied.

use std::{path::Path, sync::Arc};

use tempfile::TempDir;

use super::{
    Directory, DurableStore, EngineKind, Options, Reindexed, Scope, copy,
    key_value::{Batch, Durability, Key, Value},
    records::{self, BlockBytes, BlockList, BlockLists, BlockName, Blocks, Heads, Kind as _, Utterances},
    reindex, scrub,
    tests::holds,
    verify,
};
use crate::{
    domain::{Block, Conversation, LineageId, Policy, RecipientId, Revision, Sequence},
    store::{
        Derived, DerivedBlock, RecipientKey, Store,
        conformance::{
            self,
            support::{
                script::Script,
                values::{key, users},
            },
        },
    },
};

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
        let report = verify(&self.open(), &mut |_| {}).unwrap();
        report.problems.iter().map(ToString::to_string).collect()
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
    let expected = ["block", "list of blocks"]
        .map(|kind| format!("lineage {stray}: without a conversation: 1 of the kind {kind:?}"));
    assert_eq!(kept.problems(), expected);
}

#[test]
fn a_copy_is_without_what_is_derived() {
    for (from, to) in [(EngineKind::Fjall, EngineKind::Sled), (EngineKind::Sled, EngineKind::Fjall)] {
        let kept = Kept::new(from);
        let files = tempfile::tempdir().unwrap();
        let target = Directory::open_or_create(to, files.path()).unwrap();
        copy(&kept.open().pairs(), &target, &mut |_| {}).unwrap();
        for kind in [Blocks::NUMBER, BlockLists::NUMBER] {
            let from = kept.open();
            let count = |directory: &Directory| {
                let of_kind =
                    (std::ops::Bound::Included(&[kind][..]), std::ops::Bound::Excluded(&[kind + 1][..]));
                directory.pairs().range(of_kind.0, of_kind.1).count()
            };
            assert_eq!((count(&from), count(&target)), (1, 0));
        }
        let utterance = records::get::<Utterances>(target.pairs(), &(kept.lineage(), Sequence(1)));
        assert!(utterance.unwrap().is_some());
        assert_eq!(verify(&target, &mut |_| {}).unwrap().problems, []);
    }
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

/// Reindexing removes index blocks, of all or of the named conversations; embeddings stay, and unowned
/// blocks are removed.
#[test]
fn an_index_is_removed() {
    for engine in EngineKind::ALL {
        let kept = Kept::new(engine);
        kept.run(async |store| {
            let derived = DerivedBlock {
                conversation: key("kept"),
                kind: Derived::Embeddings,
                block: Block(0),
                erased_at: kept.state.head.erased_at,
                bytes: b"a vector".to_vec(),
            };
            assert!(store.keep_derived(derived).await.unwrap());
            let mut other = Script::with(&store, "other", Policy::SESSION);
            other.say(users(3)).await;
            assert!(keep(&store, &other.state, b"of another").await);
        });
        let reindexed = |scope: &Scope| {
            let Reindexed { conversations, removed, mended: 0 } = reindex(&mut kept.open(), scope).unwrap()
            else {
                panic!("files have no columns")
            };
            [conversations, removed]
        };
        let recipient = |id| {
            let namespace = kept.state.key().namespace.clone();
            Scope::Recipient(RecipientKey { namespace, id: RecipientId::new(id).unwrap() })
        };
        assert_eq!(reindexed(&Scope::Conversation(key("nothing"))), [0, 0]);
        assert_eq!(reindexed(&recipient("bob")), [0, 0]);
        assert_eq!(kept.read(), [b"derived: xylophone"]);
        assert_eq!(reindexed(&Scope::Conversation(key("kept"))), [1, 1]);
        assert_eq!(kept.read(), [b""; 0]);
        assert_eq!(reindexed(&recipient("ann")), [2, 1]);
        kept.run(async |store| {
            let blocks = Block(0)..=Block(9);
            let embeddings = store.derived(&key("kept"), Derived::Embeddings, blocks).await.unwrap();
            assert_eq!(embeddings, [(Block(0), b"a vector".to_vec())]);
        });
        let name = BlockName { kind: Derived::Embeddings, block: Block(3) };
        let (stray, block) = records::pair::<Blocks>(&(LineageId([0xfe; 16]), name), &BlockBytes(vec![7; 9]));
        kept.write(vec![(stray, Some(block))]);
        assert_eq!(reindexed(&Scope::All), [2, 1], "of nobody");
        assert_eq!(kept.problems(), [""; 0]);
    }
}
