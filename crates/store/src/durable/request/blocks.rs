//! Stores data derived from blocks of utterances, and removes it with the utterances.

use std::sync::Arc;

use super::{BlockRemoval, Check, Request, Step};
use crate::{
    Conflict, DerivedBlock,
    durable::records::{self, BlockBytes, BlockName, Blocks},
    underived::underived,
};
use utterd_domain::{Change, Head, LineageId, Ranges, Sequence};

impl Request {
    /// Returns the request to store data derived from a block of the conversation with this lineage.
    pub(in super::super) fn keeping(lineage: LineageId, derived: DerivedBlock) -> Self {
        let DerivedBlock { conversation, kind, block, erased_at, bytes } = derived;
        let name = BlockName { kind, block };
        let pair = records::pair::<Blocks>(&(lineage, name), &BlockBytes(bytes));
        Self {
            checks: vec![(Check::Has(lineage, erased_at, block), Conflict::State(conversation))],
            steps: vec![Step::KeepBlock(lineage, name, erased_at, pair)],
            may_be_lost: true,
            ..Self::default()
        }
    }

    /// Removes the data derived from text that no longer exists, and from blocks without stored utterances.
    pub(super) fn remove_blocks(&mut self, before: &Head, head: &Head, changes: &[Arc<Change>]) {
        let gone = underived(before, head, changes);
        if before.erased_at != head.erased_at || !gone.is_empty() {
            self.steps.push(Step::RemoveBlocks(BlockRemoval {
                lineage: head.identity.lineage,
                before: before.erased_at,
                after: Some(head.erased_at),
                gone,
            }));
        }
    }

    /// Removes all data derived from a conversation that is deleted.
    pub(super) fn remove_all_blocks(&mut self, head: &Head) {
        self.steps.push(Step::RemoveBlocks(BlockRemoval {
            lineage: head.identity.lineage,
            before: head.erased_at,
            after: None,
            gone: Ranges::of(Sequence::FIRST, Sequence(i64::MAX as u64)),
        }));
    }
}
