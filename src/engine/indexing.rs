//! Indexing conversations for searches: when one is first searched, and what is new at each search after.
//!
//! What is whole of an index, [block](Block) by block, is kept in the store where it keeps such, so that a search after
//! a restart reads it instead of the utterances.

use std::{
    num::NonZeroUsize,
    panic::resume_unwind,
    sync::Arc,
    thread::{self, available_parallelism},
};

use crate::{
    domain::{
        Block, Conversation, Ranges, Sequence, Utterance,
        recall::{Index, IndexBlock, Said},
    },
    engine::{Engine, EngineError, aside},
    store::{Derived, DerivedBlock},
};

/// More utterances are indexed aside.
const INDEX_ASIDE: usize = 200;
/// Blocks that are read from the store at once: some 8 MiB.
const READ_BLOCKS: u64 = 64;

impl Engine {
    /// An index of all that `state` stores. It may hold more: what is newer than `state`, and
    /// what is no longer stored.
    pub(super) async fn index(self: &Arc<Self>, state: &Arc<Conversation>) -> Result<Index, EngineError> {
        let (lineage, erased_at) = (state.head.identity.lineage, state.head.erased_at);
        let shared = self.indexes.of(lineage, erased_at);
        let mut index = shared.lock().await;
        if first_missing(&index) < state.head.next {
            self.bring_up(&mut index, state).await?;
            self.indexes.keep(lineage, erased_at, shared.clone(), index.heap_bytes() as u64);
        }
        let found = index.clone();
        drop(index);
        self.give_up_if_erased(state).await?;
        Ok(found)
    }

    /// Adds what is missing: what the store keeps of it, then the utterances themselves.
    async fn bring_up(
        self: &Arc<Self>,
        index: &mut Index,
        state: &Arc<Conversation>,
    ) -> Result<(), EngineError> {
        index.retain_blocks(|block| holds_stored(state, Block(block)));
        let before = index.whole_blocks().last().map(|(number, _)| number);
        let whole = Block::of(state.head.next);
        if self.store.capabilities().derived {
            self.read_blocks(index, state, whole).await?;
        }
        let missing = Ranges::of(first_missing(index), state.head.next);
        let blocks: Vec<Block> = Block::holding(&missing).collect();
        for some in blocks.chunks(READ_BLOCKS as usize) {
            let mut utterances = Vec::with_capacity(some.len());
            for block in some {
                utterances.push(self.stored(state, &missing.intersection(&block.ranges())).await?);
            }
            add(index, utterances, whole);
        }
        if self.store.capabilities().derived {
            let new = index.whole_blocks().filter(|(number, _)| Some(*number) > before && *number < whole.0);
            self.keep_blocks(state, new.map(|(number, block)| (number, block.clone())).collect());
        }
        Ok(())
    }

    /// Adds the blocks that the store keeps, up to the first that it does not.
    async fn read_blocks(
        &self,
        index: &mut Index,
        state: &Arc<Conversation>,
        whole: Block,
    ) -> Result<(), EngineError> {
        loop {
            let first = Block::of(first_missing(index));
            let is_begun = index.newest().is_some_and(|newest| Block::of(Sequence(newest)) == first);
            if is_begun || first >= whole {
                return Ok(());
            }
            let last = Block((first.0 + READ_BLOCKS).min(whole.0) - 1);
            let kept = self.store.derived(state.key(), Derived::Index, first..=last).await?;
            if !aside(kept.len() > 1, || push(index, state, first..=last, kept)) {
                return Ok(());
            }
        }
    }

    /// Has the store keep blocks, behind the answer.
    fn keep_blocks(self: &Arc<Self>, state: &Arc<Conversation>, blocks: Vec<(u64, Arc<IndexBlock>)>) {
        if blocks.is_empty() {
            return;
        }
        let (engine, state) = (self.clone(), state.clone());
        tokio::spawn(async move {
            for (number, block) in blocks {
                let Some(bytes) = aside(true, || block.to_bytes()) else { continue };
                let conversation = state.key().clone();
                let (block, erased_at) = (Block(number), state.head.erased_at);
                let derived = DerivedBlock { conversation, kind: Derived::Index, block, erased_at, bytes };
                // What is not kept is made again.
                if !engine.store.keep_derived(derived).await.unwrap_or(false) {
                    return;
                }
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

/// Adds blocks as far as each of them that has anything stored is there; answers whether all are.
fn push(
    index: &mut Index,
    state: &Conversation,
    blocks: std::ops::RangeInclusive<Block>,
    kept: Vec<(Block, Vec<u8>)>,
) -> bool {
    let mut kept = kept.into_iter().peekable();
    for number in blocks.start().0..=blocks.end().0 {
        let bytes = kept.next_if(|(block, _)| block.0 == number);
        let block = bytes.and_then(|(_, bytes)| IndexBlock::from_bytes(number, &bytes));
        match block {
            Some(block) => drop(index.push(Arc::new(block))),
            None if holds_stored(state, Block(number)) => return false,
            None => {}
        }
    }
    true
}

/// Adds utterances, block by block: of several whole ones, some at a time on threads of their own.
fn add(index: &mut Index, mut blocks: Vec<Vec<Arc<Utterance>>>, whole: Block) {
    blocks.retain(|block| !block.is_empty());
    let begun = index.newest().map(|newest| Block::of(Sequence(newest)));
    let is_whole = |block: &[Arc<Utterance>]| {
        let number = block.first().map(|first| Block::of(first.sequence));
        number != begun && number < Some(whole)
    };
    aside(is_long(&blocks), || {
        for run in blocks.chunk_by(|one, next| is_whole(one) == is_whole(next)) {
            match is_whole(&run[0]) {
                true => side_by_side(run).into_iter().for_each(|block| {
                    index.push(block);
                }),
                false => run.iter().for_each(|block| index.extend(said(block))),
            }
        }
    });
}

fn is_long(blocks: &[Vec<Arc<Utterance>>]) -> bool {
    let bytes: usize = blocks.iter().flatten().map(|utterance| utterance.content.len()).sum();
    blocks.iter().map(Vec::len).sum::<usize>() > INDEX_ASIDE || bytes > INDEX_ASIDE * 200
}

fn said(block: &[Arc<Utterance>]) -> impl Iterator<Item = Said<'_>> {
    block.iter().map(|utterance| Said::from(&**utterance))
}

/// The blocks of an index, in their order, made by as many threads as there are processors.
fn side_by_side(blocks: &[Vec<Arc<Utterance>>]) -> Vec<Arc<IndexBlock>> {
    let make = |block: &Vec<Arc<Utterance>>| Index::block(said(block));
    let threads = available_parallelism().map_or(1, NonZeroUsize::get).min(blocks.len());
    if threads < 2 {
        return blocks.iter().filter_map(make).collect();
    }
    let each = blocks.len().div_ceil(threads);
    thread::scope(|scope| {
        let parts: Vec<_> = blocks
            .chunks(each)
            .map(|part| scope.spawn(move || part.iter().filter_map(make).collect::<Vec<_>>()))
            .collect();
        parts.into_iter().flat_map(|part| part.join().unwrap_or_else(|panic| resume_unwind(panic))).collect()
    })
}
