//! Reads data derived from blocks of a conversation's utterances.

use std::ops::RangeInclusive;

use super::{Reader, unreadable};
use crate::{
    Derived, DerivedBytes, Result,
    durable::pairs,
    records::{self, Blocks},
};
use utterd_domain::{Block, ConversationKey, LineageId};

impl Reader {
    /// See [`Store::derived`](crate::Store::derived).
    pub(in super::super) fn derived(
        &self,
        key: &ConversationKey,
        kind: Derived,
        blocks: &RangeInclusive<Block>,
    ) -> Result<DerivedBytes> {
        let found =
            self.consistent(key, |reader, record| reader.blocks(record.head.identity.lineage, kind, blocks));
        Ok(found?.unwrap_or_default())
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
