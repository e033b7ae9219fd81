//! Indexes conversations for searches: everything at the first search, and only new utterances at later ones.
//!
//! Complete [blocks](Block) of an index are kept in the store, if it supports that, so that a search after a
//! restart reads them instead of the utterances.

use std::{collections::BTreeMap, num::NonZeroUsize, sync::Arc, thread::available_parallelism};

use futures::{FutureExt, StreamExt, TryStreamExt, stream};

use crate::{Engine, EngineError, Result, offload};
use utterd_domain::{
    Block, Conversation, Ranges, Sequence, Utterance,
    limits::BLOCK_SEQUENCES,
    recall::{Index, IndexBlock, Said},
};
use utterd_store::{Derived, DerivedBlock};
use utterd_telemetry::panics::{Within, joined};

/// Indexing more utterances than this, or more than 200 times as many bytes, is long.
const LONG_TO_INDEX: usize = 200;
/// The number of blocks read from the store at a time: some 8 MiB.
const READ_BLOCKS: usize = 64;
/// The bytes of utterances that are read at a time, about; a block of short ones has less.
const READ_BYTES: u64 = 8 << 20;

impl Engine {
    /// Returns an index of all utterances that `state` stores. It may also contain newer ones, and ones that
    /// are no longer stored.
    pub(crate) async fn index(self: &Arc<Self>, state: &Arc<Conversation>) -> Result<Index> {
        let (lineage, erased_at) = (state.head.identity.lineage, state.head.erased_at);
        let shared = self.indexes.of(lineage, erased_at);
        let mut index = shared.lock().await;
        if first_missing(&index) >= state.head.next {
            return Ok(index.clone());
        }
        self.bring_up(&mut index, state).await?;
        self.indexes.keep(lineage, erased_at, shared.clone(), index.heap_bytes() as u64);
        let found = index.clone();
        drop(index);
        self.give_up_if_erased(state).await?;
        Ok(found)
    }

    /// Adds the missing utterances, block by block: complete blocks from the store if it has them, and the
    /// utterances of all other blocks.
    async fn bring_up(self: &Arc<Self>, index: &mut Index, state: &Arc<Conversation>) -> Result<()> {
        index.retain_blocks(|block| holds_stored(state, Block(block)));
        let missing = Ranges::of(first_missing(index), state.head.next);
        let begun = index.newest().map(|newest| Block::of(Sequence(newest)));
        let is_whole = |block: &Block| Some(*block) != begun && *block < Block::of(state.head.next);
        let blocks: Vec<Block> =
            Block::holding(&missing).filter(|block| holds_stored(state, *block)).collect();
        for some in blocks.chunk_by(|one, next| is_whole(one) && is_whole(next)) {
            if is_whole(&some[0]) {
                for some in some.chunks(READ_BLOCKS) {
                    self.add_whole(index, state, some).await?;
                }
            } else {
                self.add_stored(index, state, missing.intersection(&some[0].ranges())).await?;
            }
        }
        Ok(())
    }

    /// Adds complete blocks, and stores the ones that the store does not have yet.
    async fn add_whole(
        self: &Arc<Self>,
        index: &mut Index,
        state: &Arc<Conversation>,
        blocks: &[Block],
    ) -> Result<()> {
        let mut whole = self.kept_blocks(state, blocks).await?;
        let missing: Vec<Block> = blocks.iter().copied().filter(|block| !whole.contains_key(block)).collect();
        let making = stream::iter(missing).map(|block| {
            let making = tokio::spawn(self.clone().made_block(state.clone(), block));
            making.map(|made| joined(made).unwrap_or(Err(EngineError::Interrupted)))
        });
        // One more than can be made at a time, so that the utterances of the next block are read meanwhile.
        let at_once = available_parallelism().map_or(1, NonZeroUsize::get) + 1;
        let made: Vec<Option<_>> = making.buffered(at_once).try_collect().await?;
        let made: Vec<(Block, Arc<IndexBlock>)> = made.into_iter().flatten().collect();
        whole.extend(made.iter().cloned());
        whole.into_values().for_each(|block| _ = index.push(block));
        self.keep_blocks(state, made);
        Ok(())
    }

    /// Returns a complete block, made from all its stored utterances.
    async fn made_block(
        self: Arc<Self>,
        state: Arc<Conversation>,
        block: Block,
    ) -> Result<Option<(Block, Arc<IndexBlock>)>> {
        let mut index = Index::new();
        self.add_stored(&mut index, &state, block.ranges()).await?;
        Ok(index.into_block().map(|made| (block, made)))
    }

    /// Adds the stored utterances among `wanted`. Reads them in parts: a block of pictures does not fit in memory.
    async fn add_stored(
        self: &Arc<Self>,
        index: &mut Index,
        state: &Conversation,
        wanted: Ranges,
    ) -> Result<()> {
        let head = &state.head;
        let average = head.stored_bytes.checked_div(head.stored);
        let at_a_time = average.map_or(BLOCK_SEQUENCES, |average| (READ_BYTES / average.max(1)).max(1));
        let mut wanted = head.kept().intersection(&wanted);
        while !wanted.is_empty() {
            let utterances = self.stored(state, &wanted.take_first(at_a_time)).await?;
            self.add(index, utterances).await;
        }
        Ok(())
    }

    /// Adds utterances. If the caller is dropped meanwhile, the index stays as it is.
    async fn add(self: &Arc<Self>, index: &mut Index, utterances: Vec<Arc<Utterance>>) {
        if !is_long(&utterances) {
            return self.indexes.with_maker(|maker| maker.extend(index, said(&utterances)));
        }
        let (engine, mut longer) = (self.clone(), index.clone());
        *index = offload(true, move || {
            engine.indexes.with_maker(|maker| maker.extend(&mut longer, said(&utterances)));
            longer
        })
        .await;
    }

    /// Returns the stored blocks among `blocks`.
    async fn kept_blocks(
        &self,
        state: &Conversation,
        blocks: &[Block],
    ) -> Result<BTreeMap<Block, Arc<IndexBlock>>> {
        let (Some(&first), Some(&last), true) =
            (blocks.first(), blocks.last(), self.store.capabilities().derived)
        else {
            return Ok(BTreeMap::new());
        };
        let kept = self.store.derived(state.key(), Derived::Index, first..=last).await?;
        let is_long = kept.len() > 1;
        let blocks = blocks.to_vec();
        let read = move |(block, bytes): (Block, Vec<u8>)| {
            // The store also returns all blocks in between.
            blocks.binary_search(&block).ok()?;
            Some((block, Arc::new(IndexBlock::from_bytes(block.0, &bytes)?)))
        };
        Ok(offload(is_long, move || kept.into_iter().filter_map(read).collect()).await)
    }

    /// Stores blocks in the background. A block that could not be stored is made again when needed.
    fn keep_blocks(self: &Arc<Self>, state: &Arc<Conversation>, blocks: Vec<(Block, Arc<IndexBlock>)>) {
        if blocks.is_empty() || !self.store.capabilities().derived {
            return;
        }
        let (engine, state) = (self.clone(), state.clone());
        tokio::spawn(Within::Background.catching(async move {
            for (block, whole) in blocks {
                let Some(bytes) = offload(true, move || whole.to_bytes()).await else { continue };
                let (conversation, erased_at) = (state.key().clone(), state.head.erased_at);
                let derived = DerivedBlock { conversation, kind: Derived::Index, block, erased_at, bytes };
                // The store refuses it if the text was erased, or while much else is being written.
                let _ = engine.store.keep_derived(derived).await;
            }
        }));
    }

    /// Drops the index of `state` if text was erased from the conversation while the index was made.
    async fn give_up_if_erased(self: &Arc<Self>, state: &Conversation) -> Result<()> {
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

fn is_long(utterances: &[Arc<Utterance>]) -> bool {
    let bytes: usize = utterances.iter().map(|utterance| utterance.text_bytes()).sum();
    utterances.len() > LONG_TO_INDEX || bytes > LONG_TO_INDEX * 200
}

fn said(utterances: &[Arc<Utterance>]) -> impl Iterator<Item = Said<'_>> {
    utterances.iter().map(|utterance| Said::from(&**utterance))
}

#[cfg(test)]
mod tests {
    use super::*;
    use utterd_domain::{LineageId, More, Role, Timestamp, ToolCall, UtteranceId};

    fn calling(arguments: usize) -> Arc<Utterance> {
        let arguments_json = "x".repeat(arguments).into();
        let call = ToolCall { id: "1".into(), name: "write".into(), arguments_json };
        Arc::new(Utterance {
            sequence: Sequence::FIRST,
            unit: Sequence::FIRST,
            create_time: Timestamp(0),
            turn: 0,
            tokens: 0,
            id: UtteranceId::Assigned(LineageId([0; 16])),
            role: Role::Assistant,
            forgotten: false,
            pinned: false,
            instruction: false,
            aside: false,
            content: "".into(),
            more: Some(Box::new(More { tool_calls: vec![call], ..More::default() })),
        })
    }

    #[test]
    fn many_utterances_and_much_text_are_long_to_index() {
        assert!(!is_long(&vec![calling(10); LONG_TO_INDEX]));
        assert!(is_long(&vec![calling(10); LONG_TO_INDEX + 1]));
        assert!(is_long(&[calling(LONG_TO_INDEX * 200)]), "what a tool is called with is indexed too");
    }
}
