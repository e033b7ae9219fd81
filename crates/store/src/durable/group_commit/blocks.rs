//! Stores, lists and removes data derived from blocks of utterances.

use super::{
    super::{
        key_value::{Key, Value},
        records::{self, BlockList, BlockLists, BlockName, Blocks, Heads},
        request::BlockRemoval,
    },
    group::{Group, Writes},
};
use crate::Result;
use utterd_domain::{Block, LineageId, Revision};

impl Group<'_> {
    /// Whether the conversation exists, has had nothing erased since `erased_at`, and has an utterance in the
    /// block.
    pub(super) fn has(&self, lineage: LineageId, erased_at: Revision, block: Block) -> Result<bool> {
        let head = self.latest::<Heads>(&records::key::<Heads>(&lineage), &Writes::new())?;
        let head = head.map(|record| record.head).filter(|head| head.erased_at == erased_at);
        Ok(head.is_some_and(|head| head.kept().meets(&block.ranges())))
    }

    /// Stores a block and lists it.
    pub(super) fn keep_block(
        &self,
        lineage: LineageId,
        name: BlockName,
        erased_at: Revision,
        (key, value): (Key, Value),
        writes: &mut Writes,
    ) -> Result<()> {
        let mut list = match self.block_list(lineage, writes)? {
            Listed::Right(list) if list.erased_at == erased_at => list,
            Listed::Nothing => BlockList { erased_at, ..BlockList::default() },
            Listed::Right(_) | Listed::Damaged => {
                self.remove_every_block(lineage, writes)?;
                BlockList { erased_at, ..BlockList::default() }
            }
        };
        list.of(name.kind).union(&name.block.ranges());
        writes.push((key, Some(value)));
        put_list(lineage, &list, writes);
        Ok(())
    }

    /// Removes blocks, each by its key, or all blocks of the conversation if their list is unusable.
    pub(super) fn remove_blocks(&self, removal: BlockRemoval, writes: &mut Writes) -> Result<()> {
        let lineage = removal.lineage;
        let mut list = match self.block_list(lineage, writes)? {
            Listed::Nothing => return Ok(()),
            Listed::Right(list) if list.erased_at == removal.before => list,
            Listed::Right(_) | Listed::Damaged => return self.remove_every_block(lineage, writes),
        };
        for (kind, listed) in list.kinds() {
            for block in Block::holding(&listed.intersection(&removal.gone)) {
                writes.push((records::key::<Blocks>(&(lineage, BlockName { kind, block })), None));
                listed.subtract(&block.ranges());
            }
        }
        match removal.after {
            Some(erased_at) => put_list(lineage, &BlockList { erased_at, ..list }, writes),
            None => writes.push((records::key::<BlockLists>(&lineage), None)),
        }
        Ok(())
    }

    fn remove_every_block(&self, lineage: LineageId, writes: &mut Writes) -> Result<()> {
        let keys = self.keys(&records::of_lineage::<Blocks>(lineage))?;
        writes.extend(keys.into_iter().map(|key| (key, None)));
        writes.push((records::key::<BlockLists>(&lineage), None));
        Ok(())
    }

    /// Returns the list of a conversation's blocks, after the `writes` of a request.
    fn block_list(&self, lineage: LineageId, writes: &Writes) -> Result<Listed> {
        let key = records::key::<BlockLists>(&lineage);
        let Some(value) = self.value(&key, writes)? else { return Ok(Listed::Nothing) };
        let list = records::decode::<BlockLists>(&key, &value);
        Ok(list.map_or(Listed::Damaged, |(_, list)| Listed::Right(list)))
    }
}

/// The list of a conversation's blocks as stored.
enum Listed {
    Nothing,
    /// The list cannot be read.
    Damaged,
    Right(BlockList),
}

fn put_list(lineage: LineageId, list: &BlockList, writes: &mut Writes) {
    let (key, value) = records::pair::<BlockLists>(&lineage, list);
    writes.push((key, Some(value)));
}
