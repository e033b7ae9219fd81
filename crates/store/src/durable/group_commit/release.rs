//! Removes parts of a trunk that a conversation no longer reads or has dropped.

use super::{
    super::{key_value::Writes, pairs, request::Release},
    group::Group,
};
use crate::{
    Result, StoreError,
    records::{self, Heads, Readers},
};
use utterd_domain::{LineageId, Ranges};

impl Group<'_> {
    /// Removes the released utterances, except those that another reader of the trunk still has. Considers
    /// readers and their heads as of this group and the request's `writes`.
    ///
    /// Stops looking at readers as soon as nothing is left to remove.
    pub(super) fn release(&self, release: Release, writes: &mut Writes) -> Result<()> {
        let Release { trunk, reader, mut gone } = release;
        let readers = records::of_lineage::<Readers>(trunk);
        let written = writes.iter().map(|(key, _)| key).filter(|key| readers.contains(*key));
        let written = written.chain(self.written(&readers)).cloned().map(Ok);
        let stored = pairs::within(self.pairs, &readers).map(|pair| pair.map(|(key, _)| key));
        for key in written.chain(stored) {
            let key = key.map_err(StoreError::unavailable)?;
            if let Some(kept) = self.kept_by_reader(&key, reader, writes)? {
                gone.subtract(&kept);
            }
            if gone.is_empty() {
                return Ok(());
            }
        }
        self.remove_utterances(trunk, &gone, writes)
    }

    /// Returns the utterances that the reader with this key still has in its trunk; `None` for the releasing
    /// reader itself, or for one that is no longer a reader.
    fn kept_by_reader(&self, key: &[u8], releasing: LineageId, writes: &Writes) -> Result<Option<Ranges>> {
        let Some(record) = self.latest::<Readers>(key, writes)? else { return Ok(None) };
        let (_, reader) = records::decode_key::<Readers>(key).map_err(StoreError::unavailable)?;
        if reader == releasing {
            return Ok(None);
        }
        let read = Ranges::before(record.through.next());
        let head = self.latest::<Heads>(&records::key::<Heads>(&reader), writes)?;
        Ok(Some(head.map_or_else(|| read.clone(), |record| record.head.kept().intersection(&read))))
    }
}
