//! Reads data derived from blocks of a conversation's utterances.

use std::ops::RangeInclusive;

use super::{ATTEMPTS, Reader, unreadable};
use crate::{
    Derived, DerivedBytes, Result,
    durable::pairs,
    records::{self, Blocks, Heads},
};
use utterd_domain::{Block, ConversationKey, LineageId, Revision};

impl Reader {
    /// See [`Store::derived`](crate::Store::derived).
    pub(in super::super) fn derived(
        &self,
        key: &ConversationKey,
        kind: Derived,
        blocks: &RangeInclusive<Block>,
    ) -> Result<DerivedBytes> {
        for _ in 0..ATTEMPTS {
            let Some(lineage) = self.lineage(key)? else { break };
            let Some(before) = self.erased_at(lineage)? else { break };
            let found = self.blocks(lineage, kind, blocks)?;
            if self.erased_at(lineage)? == Some(before) {
                return Ok(found);
            }
        }
        Ok(Vec::new())
    }

    fn erased_at(&self, lineage: LineageId) -> Result<Option<Revision>> {
        Ok(self.get::<Heads>(&lineage)?.map(|record| record.head.erased_at))
    }

    /// Returns the stored blocks; an unreadable one counts as missing.
    fn blocks(
        &self,
        lineage: LineageId,
        kind: Derived,
        blocks: &RangeInclusive<Block>,
    ) -> Result<DerivedBytes> {
        let mut found = Vec::new();
        for pair in pairs::within(self.pairs(), &records::blocks_among(lineage, kind, blocks)) {
            let (key, value) = pair.map_err(unreadable)?;
            let read = records::decode::<Blocks>(&key, &value);
            found.extend(read.ok().map(|((_, name), bytes)| (name.block, bytes.0)));
        }
        Ok(found)
    }
}
