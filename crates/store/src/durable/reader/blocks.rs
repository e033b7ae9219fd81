//! Reads data derived from blocks of a conversation's utterances.

use std::ops::RangeInclusive;

use super::{ATTEMPTS, Reader};
use crate::{
    Derived, DerivedBytes, Result,
    durable::records::{self, BlockLists, BlockName, Blocks, Heads},
};
use utterd_domain::{Block, ConversationKey, LineageId, Ranges, Revision};

impl Reader {
    /// See [`Store::derived`](crate::Store::derived). Unreadable data counts as missing.
    pub(in super::super) fn derived(
        &self,
        key: &ConversationKey,
        kind: Derived,
        blocks: &RangeInclusive<Block>,
    ) -> Result<DerivedBytes> {
        for _ in 0..ATTEMPTS {
            let Some(lineage) = self.lineage(key)? else { break };
            let Some((erased_at, listed)) = self.listed_blocks(lineage, kind)? else { break };
            let found = self.blocks(lineage, kind, &listed.intersection(&sequences(blocks)))?;
            if self.listed_blocks(lineage, kind)?.is_some_and(|(now, _)| now == erased_at) {
                return Ok(found);
            }
        }
        Ok(Vec::new())
    }

    /// Returns the sequences of the stored blocks, and the revision of the last erasure; `None` if the list
    /// is missing, unreadable or outdated.
    fn listed_blocks(&self, lineage: LineageId, kind: Derived) -> Result<Option<(Revision, Ranges)>> {
        let key = records::key::<BlockLists>(&lineage);
        let Some(value) = self.value(&key)? else { return Ok(None) };
        let Ok((_, mut list)) = records::decode::<BlockLists>(&key, &value) else { return Ok(None) };
        let head = self.get::<Heads>(&lineage)?;
        let stands = head.is_some_and(|record| record.head.erased_at == list.erased_at);
        Ok(stands.then(|| (list.erased_at, std::mem::take(list.of(kind)))))
    }

    fn blocks(&self, lineage: LineageId, kind: Derived, sequences: &Ranges) -> Result<DerivedBytes> {
        let mut found = Vec::new();
        for block in Block::holding(sequences) {
            let key = records::key::<Blocks>(&(lineage, BlockName { kind, block }));
            if let Some(value) = self.value(&key)?
                && let Ok((_, bytes)) = records::decode::<Blocks>(&key, &value)
            {
                found.push((block, bytes.0));
            }
        }
        Ok(found)
    }
}

fn sequences(blocks: &RangeInclusive<Block>) -> Ranges {
    match blocks.is_empty() {
        true => Ranges::new(),
        false => Ranges::of(*blocks.start().sequences().start(), *blocks.end().sequences().end()),
    }
}
