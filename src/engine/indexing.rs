//! Indexing conversations for searches: when one is first searched, and what is new at each search after.
//!
//! What is whole of an index, [block](Block) by block, is kept in the store where it keeps such, so that a search after
//! a restart reads it instead of the utterances.

use std::{
    collections::BTreeMap,
    num::NonZeroUsize,
    panic::resume_unwind,
    sync::Arc,
    thread::{self, available_parallelism},
};

use crate::{
    domain::{
        Block, Conversation, Ranges, Sequence, Utterance,
        recall::{BlockMaker, Index, IndexBlock, Said},
    },
    engine::{Engine, EngineError, aside},
    store::{Derived, DerivedBlock},
};

/// More utterances are indexed aside.
const INDEX_ASIDE: usize = 200;
/// Blocks that are read from the store at once: some 8 MiB.
const READ_BLOCKS: usize = 64;

impl Engine {
    /// An index of all that `state` stores. It may hold more: what is newer than `state`, and
    /// what is no longer stored.
    pub(super) async fn index(self: &Arc<Self>, state: &Arc<Conversation>) -> Result<Index, EngineError> {
        let (lineage, erased_at) = (state.head.identity.lineage, state.head.erased_at);
        let shared = self.indexes.of(lineage, erased_at);
        let mut index = shared.lock().await;
        match first_missing(&index) < state.head.next {
            true => {
                self.bring_up(&mut index, state).await?;
                self.indexes.keep(lineage, erased_at, shared.clone(), index.heap_bytes() as u64);
            }
            // It is searched more often than something is said.
            false => index.settle(),
        }
        let found = index.clone();
        drop(index);
        self.give_up_if_erased(state).await?;
        Ok(found)
    }

    /// Adds what is missing, block by block: what the store keeps of it, and the utterances of the others.
    async fn bring_up(
        self: &Arc<Self>,
        index: &mut Index,
        state: &Arc<Conversation>,
    ) -> Result<(), EngineError> {
        index.retain_blocks(|block| holds_stored(state, Block(block)));
        let missing = Ranges::of(first_missing(index), state.head.next);
        let begun = index.newest().map(|newest| Block::of(Sequence(newest)));
        let whole = |block: Block| Some(block) != begun && block < Block::of(state.head.next);
        let blocks: Vec<Block> =
            Block::holding(&missing).filter(|block| holds_stored(state, *block)).collect();
        for some in blocks.chunks(READ_BLOCKS) {
            let mut kept = self.kept_blocks(state, some).await?;
            let mut parts = Vec::with_capacity(some.len());
            for &block in some {
                parts.push(match kept.remove(&block).filter(|_| whole(block)) {
                    Some(kept) => Part::Kept(kept),
                    None => {
                        let said = self.stored(state, &missing.intersection(&block.ranges())).await?;
                        if whole(block) { Part::Whole(block, said) } else { Part::Open(said) }
                    }
                });
            }
            let made = add(index, parts);
            self.keep_blocks(state, made);
        }
        Ok(())
    }

    /// What the store keeps of these blocks, and of a few between them.
    async fn kept_blocks(
        &self,
        state: &Conversation,
        blocks: &[Block],
    ) -> Result<BTreeMap<Block, Arc<IndexBlock>>, EngineError> {
        let (Some(&first), Some(&last), true) =
            (blocks.first(), blocks.last(), self.store.capabilities().derived)
        else {
            return Ok(BTreeMap::new());
        };
        let kept = self.store.derived(state.key(), Derived::Index, first..=last).await?;
        let read = |(block, bytes): (Block, Vec<u8>)| {
            Some((block, Arc::new(IndexBlock::from_bytes(block.0, &bytes)?)))
        };
        Ok(aside(kept.len() > 1, || kept.into_iter().filter_map(read).collect()))
    }

    /// Has the store keep blocks, behind the answer. What it does not keep is made again.
    fn keep_blocks(self: &Arc<Self>, state: &Arc<Conversation>, blocks: Vec<(Block, Arc<IndexBlock>)>) {
        if blocks.is_empty() || !self.store.capabilities().derived {
            return;
        }
        let (engine, state) = (self.clone(), state.clone());
        tokio::spawn(async move {
            for (block, whole) in blocks {
                let Some(bytes) = aside(true, || whole.to_bytes()) else { continue };
                let (conversation, erased_at) = (state.key().clone(), state.head.erased_at);
                let derived = DerivedBlock { conversation, kind: Derived::Index, block, erased_at, bytes };
                // Refused where the text is gone or much else is written; nobody waits for it.
                let _ = engine.store.keep_derived(derived).await;
            }
        });
    }

    /// An index made from a state that text was erased from meanwhile is not kept.
    async fn give_up_if_erased(self: &Arc<Self>, state: &Conversation) -> Result<(), EngineError> {
        let now = self.published(state.key()).await?;
        if now.is_none_or(|now| now.head.erased_at != state.head.erased_at) {
            self.indexes.remove(state.head.identity.lineage);
        }
        Ok(())
    }
}

fn first_missing(index: &Index) -> Sequence {
    index.newest().map_or(Sequence::FIRST, |newest| Sequence(newest).next())
}

fn holds_stored(state: &Conversation, block: Block) -> bool {
    let (first, last) = block.sequences().into_inner();
    last >= state.head.next || !state.head.kept().intersection(&Ranges::of(first, last)).is_empty()
}

/// A block that an index misses.
enum Part {
    Kept(Arc<IndexBlock>),
    /// To be made of all its utterances.
    Whole(Block, Vec<Arc<Utterance>>),
    /// Of which there is a part, or more will be said.
    Open(Vec<Arc<Utterance>>),
}

/// Adds blocks: those that are to be made, on as many threads as there are processors. Answers these.
fn add(index: &mut Index, parts: Vec<Part>) -> Vec<(Block, Arc<IndexBlock>)> {
    aside(is_long(&parts), || {
        let mut made = side_by_side(&parts).into_iter();
        let mut new = Vec::new();
        for part in &parts {
            match part {
                Part::Kept(block) => _ = index.push(block.clone()),
                Part::Open(utterances) => index.extend(said(utterances)),
                Part::Whole(number, _) => {
                    if let Some(block) = made.next().flatten() {
                        index.push(block.clone());
                        new.push((*number, block));
                    }
                }
            }
        }
        new
    })
}

fn is_long(parts: &[Part]) -> bool {
    let utterances = parts.iter().flat_map(|part| match part {
        Part::Kept(_) => &[],
        Part::Whole(_, utterances) | Part::Open(utterances) => utterances.as_slice(),
    });
    let sizes = utterances.map(|utterance| utterance.content.len());
    let (count, bytes) = sizes.fold((0, 0), |(count, bytes), size| (count + 1, bytes + size));
    count > INDEX_ASIDE || bytes > INDEX_ASIDE * 200
}

fn said(utterances: &[Arc<Utterance>]) -> impl Iterator<Item = Said<'_>> {
    utterances.iter().map(|utterance| Said::from(&**utterance))
}

/// The blocks that are to be made, in their order.
fn side_by_side(parts: &[Part]) -> Vec<Option<Arc<IndexBlock>>> {
    let whole = parts.iter().filter_map(|part| match part {
        Part::Whole(_, utterances) => Some(utterances.as_slice()),
        _ => None,
    });
    let whole: Vec<&[Arc<Utterance>]> = whole.collect();
    let make = |utterances: &[&[Arc<Utterance>]]| {
        let mut maker = BlockMaker::default();
        utterances.iter().map(|utterances| maker.make(said(utterances))).collect::<Vec<_>>()
    };
    let threads = available_parallelism().map_or(1, NonZeroUsize::get).min(whole.len());
    if threads < 2 {
        return make(&whole);
    }
    thread::scope(|scope| {
        let parts = whole.chunks(whole.len().div_ceil(threads));
        let parts: Vec<_> = parts.map(|part| scope.spawn(move || make(part))).collect();
        parts.into_iter().flat_map(|part| part.join().unwrap_or_else(|panic| resume_unwind(panic))).collect()
    })
}
