//! The derived data that a commit makes invalid.

use std::sync::Arc;

use utterd_domain::{Block, Change, Head, Ranges};

/// Returns the sequences whose derived data a commit makes invalid: those of text that no longer exists, and
/// those of blocks without any stored utterances left.
pub(super) fn underived(before: &Head, head: &Head, changes: &[Arc<Change>]) -> Ranges {
    let mut gone = emptied(head, changes);
    if before.erased_at != head.erased_at {
        for change in changes {
            [&change.erased, &change.remnants, &change.updated].into_iter().for_each(|them| gone.union(them));
        }
    }
    gone
}

/// Returns the sequences of the blocks that lost utterances to a drop and have none left.
fn emptied(head: &Head, changes: &[Arc<Change>]) -> Ranges {
    let mut dropped = Ranges::new();
    changes.iter().for_each(|change| dropped.union(&change.dropped));
    if dropped.is_empty() {
        return dropped;
    }
    let kept = head.kept();
    let mut emptied = Ranges::new();
    for block in Block::holding(&dropped).map(Block::ranges).filter(|block| !kept.meets(block)) {
        emptied.union(&block);
    }
    emptied
}
