//! Data derived from utterances, which is stored with them and never outlives them.
//!
//! For a backend without [`derived`](crate::Capabilities::derived), the cases check that nothing is
//! stored.

use super::support::*;
use crate::{
    Derived::{self, Embeddings, Index},
    DerivedBlock,
};
use utterd_domain::{Block, Revision, limits::BLOCK_SEQUENCES, update::update_utterance};

/// Enough utterances to reach into block 2.
const SEVERAL: usize = 2 * BLOCK_SEQUENCES as usize + 10;

/// Offers the store data derived from a block of the current state; returns whether the data is stored.
async fn keep(script: &Script, kind: Derived, block: u64, bytes: &[u8]) -> bool {
    keep_at(script, kind, block, script.state.head.erased_at, bytes).await
}

async fn keep_at(script: &Script, kind: Derived, block: u64, erased_at: Revision, bytes: &[u8]) -> bool {
    let (conversation, block) = (script.key().clone(), Block(block));
    let derived = DerivedBlock { conversation, kind, block, erased_at, bytes: bytes.to_vec() };
    script.store.keep_derived(derived).await.expect("a block is handed over")
}

/// Stores the index and the embeddings of these blocks, if the backend stores derived data.
async fn keep_all(script: &Script, blocks: &[u64]) {
    for block in blocks {
        for kind in [Index, Embeddings] {
            let kept = keep(script, kind, *block, &[*block as u8]).await;
            assert_eq!(kept, script.store.capabilities().derived, "{kind:?} {block}");
        }
    }
}

async fn read(store: &Arc<dyn Store>, key: &ConversationKey, kind: Derived) -> Vec<(u64, Vec<u8>)> {
    let read = store.derived(key, kind, Block(0)..=Block(100)).await.expect("blocks are read");
    read.into_iter().map(|(block, bytes)| (block.0, bytes)).collect()
}

/// Checks that exactly these blocks are stored, as by [`keep_all`]; none if the backend stores no derived data.
async fn assert_kept(script: &Script, blocks: &[u64]) {
    let blocks = if script.store.capabilities().derived { blocks } else { &[] };
    let expected: Vec<_> = blocks.iter().map(|block| (*block, vec![*block as u8])).collect();
    for kind in [Index, Embeddings] {
        assert_eq!(read(&script.store, script.key(), kind).await, expected, "{kind:?}");
    }
}

async fn said(store: &Arc<dyn Store>, count: usize) -> Script {
    let mut script = Script::with(store, "derived", Policy::SESSION);
    script.say(users(count)).await;
    script
}

/// Derived data of any size is stored and read by block, and replaces the earlier data of its block.
pub async fn what_is_derived_is_kept_and_replaced(store: Arc<dyn Store>) {
    let script = said(&store, SEVERAL).await;
    keep_all(&script, &[1, 0]).await;
    assert_kept(&script, &[0, 1]).await;
    let long: Vec<u8> = (0..200_000u32).map(|number| (number % 251) as u8).collect();
    let keeps = store.capabilities().derived;
    assert_eq!(keep(&script, Index, 2, &long).await, keeps);
    assert_eq!(keep(&script, Index, 0, b"").await, keeps);
    let expected = if keeps { vec![(0, Vec::new()), (1, vec![1]), (2, long)] } else { Vec::new() };
    assert_eq!(read(&store, script.key(), Index).await, expected);
    let one = store.derived(script.key(), Index, Block(1)..=Block(1)).await;
    assert_eq!(one.expect("blocks are read").len(), usize::from(keeps));
}

/// Nothing is stored without the conversation, its utterances, or the right revision.
pub async fn what_is_derived_of_nothing_is_not_kept(store: Arc<dyn Store>) {
    let mut script = Script::new(&store, "derived");
    assert!(!keep(&script, Index, 0, b"of a conversation that is not there").await);
    script.say(users(3)).await;
    assert!(!keep(&script, Index, 1, b"of utterances that are not there").await);
    assert!(!keep_at(&script, Index, 0, Revision(7), b"of another revision").await);
    assert_kept(&script, &[]).await;
}

/// Storing derived data does not change the state: the next commit still applies.
pub async fn keeping_is_no_change(store: Arc<dyn Store>) {
    let mut script = said(&store, 3).await;
    keep_all(&script, &[0]).await;
    script.check().await;
    script.say(users(1)).await;
}

/// Appending and soft forgetting remove nothing, nor does a restore, a pin, or the end.
pub async fn what_is_said_or_forgotten_softly_takes_nothing(store: Arc<dyn Store>) {
    let mut script = said(&store, 9).await;
    keep_all(&script, &[0]).await;
    script.say(users(3)).await;
    assert!(script.forget("sequence:2", false).await);
    assert!(script.restore(&[2]).await);
    assert!(script.mark(3, true, "kept").await);
    script.end("asked").await;
    assert_kept(&script, &[0]).await;
}

/// An erasure removes the blocks with erased utterances, and no others; these can be stored again.
pub async fn what_is_erased_takes_its_blocks(store: Arc<dyn Store>) {
    let mut script = said(&store, SEVERAL).await;
    keep_all(&script, &[0, 1, 2]).await;
    assert!(script.forget("sequence:1030", true).await);
    assert_kept(&script, &[0, 2]).await;
    keep_all(&script, &[1]).await;
    assert_kept(&script, &[0, 1, 2]).await;
    let through = 2 * BLOCK_SEQUENCES;
    assert!(script.forget(&format!("sequence:1-3,{through}"), true).await);
    assert_kept(&script, &[1]).await;
}

/// An edit removes the block with the old text.
pub async fn what_is_edited_takes_its_block(store: Arc<dyn Store>) {
    let mut script = said(&store, SEVERAL).await;
    keep_all(&script, &[0, 1]).await;
    let command = script.editing(1_500, "It says something else.");
    let updated = script.decide(|before, context| update_utterance(before, &command, context)).await;
    assert!(script.apply_if(updated.transition).await);
    assert_kept(&script, &[0]).await;
}

/// Data derived before an erasure is refused after it, for every block.
pub async fn what_is_derived_before_an_erasure_is_not_kept_after(store: Arc<dyn Store>) {
    let mut script = said(&store, SEVERAL).await;
    let before = script.state.head.erased_at;
    assert!(script.forget("sequence:1", true).await);
    assert!(!keep_at(&script, Index, 0, before, b"it holds what was erased").await);
    assert!(!keep_at(&script, Index, 1, before, b"nobody knows what it holds").await);
    assert_kept(&script, &[]).await;
    keep_all(&script, &[0]).await;
    assert_kept(&script, &[0]).await;
}

/// An erasure of utterances that were dropped from the archive removes their block, as it might still contain
/// them.
pub async fn remnants_take_their_blocks(store: Arc<dyn Store>) {
    let mut script = Script::with(&store, "derived", Policy { archive_limit: 2, ..Policy::ROLLING });
    for number in 1..=40 {
        script.say(vec![user(&format!("see /a{number}.txt"))]).await;
    }
    assert!(script.stored().all(|utterance| utterance.sequence.get() > 3), "they have left the archive");
    keep_all(&script, &[0]).await;
    assert!(script.forget("sequence:1-3", true).await);
    assert_kept(&script, &[]).await;
}

/// A block is stored as long as any of its utterances is.
pub async fn blocks_go_with_the_last_that_is_dropped(store: Arc<dyn Store>) {
    let mut script = said(&store, SEVERAL).await;
    keep_all(&script, &[0, 1]).await;
    let shorter = async |script: &mut Script, archive_limit: u32| {
        let policy = PolicyUpdate {
            max_utterances: Some(100),
            archive_limit: Some(archive_limit),
            ..PolicyUpdate::default()
        };
        script.limit(policy).await;
    };
    shorter(&mut script, SEVERAL as u32).await;
    assert_kept(&script, &[0, 1]).await;
    shorter(&mut script, 700).await;
    assert_kept(&script, &[1]).await;
    assert!(!keep(&script, Index, 0, b"of what was dropped").await);
}

/// A fork has derived data of its own. Erasing a shared utterance removes the data from all that share it.
pub async fn forks_have_their_own(store: Arc<dyn Store>) {
    let mut family = Family::of(&store, "parent", Policy::SESSION);
    family.member("parent").say(users(9)).await;
    keep_all(&family.members["parent"], &[0]).await;
    family.fork("parent", "fork").await;
    assert_kept(&family.members["parent"], &[0]).await;
    assert_kept(&family.members["fork"], &[]).await;
    keep_all(&family.members["fork"], &[0]).await;
    assert!(family.erase("fork", 2).await);
    assert_kept(&family.members["parent"], &[]).await;
    assert_kept(&family.members["fork"], &[]).await;
    keep_all(&family.members["parent"], &[0]).await;
    keep_all(&family.members["fork"], &[0]).await;
    family.delete(&["parent"]).await;
    assert_kept(&family.members["fork"], &[0]).await;
}

/// A deletion removes the derived data, and a new conversation with the same id inherits none.
pub async fn a_deletion_leaves_nothing_derived(store: Arc<dyn Store>) {
    let mut script = said(&store, SEVERAL).await;
    keep_all(&script, &[0, 1, 2]).await;
    script.delete().await;
    assert_kept(&script, &[]).await;
    assert!(!keep(&script, Index, 0, b"of what was deleted").await);
    script.say(users(3)).await;
    assert_kept(&script, &[]).await;
    keep_all(&script, &[0]).await;
    assert_kept(&script, &[0]).await;
}

/// If an erasure and the storing of derived data race, no data derived from the erased text remains.
pub async fn keeping_races_with_erasing(store: Arc<dyn Store>) {
    let mut script = said(&store, 40).await;
    for round in 1..=20 {
        let step = script.forgetting(&format!("sequence:{round}"), true).await.expect("it is stored");
        let erasing = step.commit();
        keeping_during(&script, erasing, round).await;
        script.advance(&step);
        assert_kept(&script, &[]).await;
        keep_all(&script, &[0]).await;
        assert_kept(&script, &[0]).await;
    }
}

/// If a deletion and the storing of derived data race, no data derived from the conversation remains.
pub async fn keeping_races_with_deleting(store: Arc<dyn Store>) {
    for round in 1..=20 {
        let mut script = said(&store, 3).await;
        let deleting = Commit { writes: vec![script.deleting()], ..Commit::default() };
        keeping_during(&script, deleting, round).await;
        script.renew();
        script.say(users(3)).await;
        assert_kept(&script, &[]).await;
        script.delete().await;
    }
}

/// Stores blocks of the current state concurrently with a commit: before, while or after it takes effect.
async fn keeping_during(script: &Script, commit: Commit, round: u64) {
    let keeper = |block: &'static [u8]| {
        let script = script.clone();
        tokio::spawn(async move { keep(&script, Index, 0, block).await })
    };
    let mut keepers = vec![keeper(b"a"), keeper(b"b")];
    if round.is_multiple_of(2) {
        tokio::task::yield_now().await;
    }
    let committed = script.store.commit(commit);
    keepers.push(keeper(b"c"));
    committed.await.expect("nobody else changes the conversation");
    for keeper in keepers {
        keeper.await.expect("a keeper ends");
    }
}
