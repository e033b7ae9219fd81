//! Removes the search index of an offline store.

use std::collections::BTreeSet;

use super::{
    disk::directory::Directory,
    error::unavailable,
    key_value::KeyValue,
    lists::Writes,
    records::{self, BlockList, BlockLists, BlockName, Blocks, ConversationName, Heads, Kind, OfLineage},
};
use crate::{
    domain::{ConversationKey, Identity, LineageId, Ranges},
    store::{Derived, RecipientKey, Result},
};

/// Records per batch.
const BATCH: usize = 100_000;

/// The conversations to reindex.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Scope {
    /// All conversations of all namespaces.
    All,
    /// A recipient's conversations.
    Recipient(RecipientKey),
    /// One conversation.
    Conversation(ConversationKey),
}

impl Scope {
    /// Whether the scope includes the conversation with this identity.
    fn names(&self, identity: &Identity) -> bool {
        match self {
            Self::All => true,
            Self::Recipient(RecipientKey { namespace, id }) => {
                identity.is_listed() && identity.key.namespace == *namespace && identity.recipient == *id
            }
            Self::Conversation(key) => identity.key == *key,
        }
    }
}

/// The result of a reindex.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reindexed {
    /// Conversations of the scope; with [`Scope::All`], only those with derived data.
    pub conversations: u64,
    /// Blocks that were removed.
    pub removed: u64,
    /// Rows of a database whose columns were corrected.
    pub mended: u64,
}

/// Removes the stored search index of conversations, which the next search rebuilds.
///
/// - Embeddings stay, unless their conversation no longer exists or the list of its blocks does not match its state.
pub fn reindex(directory: &mut Directory, scope: &Scope) -> Result<Reindexed> {
    directory.check_finished().map_err(unavailable)?;
    let (mut reindexed, mut writes) = (Reindexed::default(), Vec::new());
    for lineage in lineages(directory.pairs(), scope)? {
        reindexed.removed += remove_index(directory.pairs(), lineage, &mut writes)?;
        reindexed.conversations += 1;
    }
    for batch in writes.chunks(BATCH) {
        directory.write(batch.to_vec()).map_err(unavailable)?;
    }
    Ok(reindexed)
}

/// Adds the removal of a conversation's index to `writes`, or of all its derived data if the list of its
/// blocks does not match its state. Returns the number of blocks to remove.
fn remove_index(pairs: &dyn KeyValue, lineage: LineageId, writes: &mut Writes) -> Result<u64> {
    let head = records::get::<Heads>(pairs, &lineage).ok().flatten();
    let list = records::get::<BlockLists>(pairs, &lineage).ok().flatten();
    let stands = head.zip(list).filter(|(record, list)| record.head.erased_at == list.erased_at);
    let mut removed = 0;
    for pair in records::within(pairs, &records::of_lineage::<Blocks>(lineage)) {
        let (key, _) = pair.map_err(unavailable)?;
        let is_embedded = |(_, name): (LineageId, BlockName)| name.kind == Derived::Embeddings;
        if stands.is_none() || !records::decode_key::<Blocks>(&key).is_ok_and(is_embedded) {
            writes.push((key, None));
            removed += 1;
        }
    }
    let list = stands.map(|(_, list)| BlockList { index: Ranges::new(), ..list });
    let list = list.filter(|list| !list.embeddings.is_empty());
    let value = list.map(|list| records::pair::<BlockLists>(&lineage, &list).1);
    writes.push((records::key::<BlockLists>(&lineage), value));
    Ok(removed)
}

/// Returns the lineages of the conversations in a scope.
fn lineages(pairs: &dyn KeyValue, scope: &Scope) -> Result<BTreeSet<LineageId>> {
    if *scope == Scope::All {
        return with_blocks::<BlockLists>(pairs).chain(with_blocks::<Blocks>(pairs)).collect();
    }
    let mut lineages = BTreeSet::new();
    for pair in records::within(pairs, &records::all_of::<ConversationName>()) {
        let (key, value) = pair.map_err(unavailable)?;
        let name = records::decode::<ConversationName>(&key, &value).ok();
        let identity = name.map(|(_, identity)| identity).filter(|identity| scope.names(identity));
        lineages.extend(identity.map(|identity| identity.lineage));
    }
    Ok(lineages)
}

/// Returns the lineages with records of a kind.
fn with_blocks<K: Kind<Key: OfLineage>>(
    pairs: &dyn KeyValue,
) -> impl Iterator<Item = Result<LineageId>> + '_ {
    records::within(pairs, &records::all_of::<K>()).filter_map(|pair| match pair {
        Ok((key, _)) => records::decode_key::<K>(&key).ok().map(|key| Ok(key.lineage())),
        Err(error) => Some(Err(unavailable(error))),
    })
}
