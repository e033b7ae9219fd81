//! Takes the search index of conversations out of a store at rest.

use std::{collections::BTreeSet, iter};

use super::{
    directory::Directory,
    error::unavailable,
    key_value::{Batch, Durability, Key, KeyValue, Value},
    records::{
        self, BlockLists, Blocks, ConversationName, Heads, Kind, ListPlace, Listed, OfLineage, Unread,
    },
};
use crate::{
    domain::{ConversationKey, LineageId},
    store::{Derived, RecipientKey, StoreError},
};

/// Writes of one batch, unless one conversation alone has more.
const BATCH: usize = 10_000;

/// Which conversations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Scope {
    /// All, of every namespace.
    All,
    /// Those of a recipient.
    Recipient(RecipientKey),
    /// One.
    Conversation(ConversationKey),
}

/// What was taken out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Unindexed {
    /// Conversations that were looked at: of all, those of which anything is kept.
    pub conversations: u64,
    /// Blocks that were removed.
    pub blocks: u64,
}

/// Removes what is kept of the search index of conversations; tells now and then how many were looked at.
///
/// - What is searched later is indexed anew. Embeddings stay, but for those that nobody could read.
/// - What cannot be read goes too, and so do the blocks of conversations that are not there.
pub fn unindex(
    directory: &Directory,
    scope: &Scope,
    progress: &mut dyn FnMut(u64),
) -> Result<Unindexed, StoreError> {
    directory.check_finished().map_err(unavailable)?;
    let pairs = directory.pairs();
    let (mut group, mut links) = (directory.group(), directory.links().to_vec());
    let (mut unindexed, mut writes) = (Unindexed::default(), Vec::new());
    let mut lineages = lineages(pairs, scope)?.into_iter().peekable();
    while let Some(lineage) = lineages.next() {
        unindexed.blocks += remove(pairs, lineage, &mut writes)?;
        unindexed.conversations += 1;
        if writes.len() >= BATCH || (lineages.peek().is_none() && !writes.is_empty()) {
            writes.extend(records::group_writes(group + 1, &links));
            let batch = Batch { writes: std::mem::take(&mut writes) };
            pairs.apply(batch, Durability::Disk).map_err(unavailable)?;
            (group, links) = (group + 1, vec![group + 1]);
            progress(unindexed.conversations);
        }
    }
    directory.mark(group).map_err(unavailable)?;
    Ok(unindexed)
}

/// The lineages of the identities of conversations in a scope.
fn lineages(pairs: &dyn KeyValue, scope: &Scope) -> Result<BTreeSet<LineageId>, StoreError> {
    match scope {
        Scope::All => with_blocks(pairs),
        Scope::Conversation(key) => Ok(lineage(pairs, key)?.into_iter().collect()),
        Scope::Recipient(recipient) => {
            let listed = records::read::<Listed>(pairs, &records::of_recipient::<Listed>(recipient));
            let lineage = |entry: Result<(ListPlace, ()), Unread>| {
                let (namespace, id) =
                    (recipient.namespace.clone(), entry.map_err(unavailable)?.0.conversation);
                lineage(pairs, &ConversationKey { namespace, id })
            };
            listed.map(lineage).filter_map(Result::transpose).collect()
        }
    }
}

fn lineage(pairs: &dyn KeyValue, key: &ConversationKey) -> Result<Option<LineageId>, StoreError> {
    let identity = records::get::<ConversationName>(pairs, key).map_err(unavailable)?;
    Ok(identity.map(|identity| identity.lineage))
}

/// Those of which there are blocks, or a list of them.
fn with_blocks(pairs: &dyn KeyValue) -> Result<BTreeSet<LineageId>, StoreError> {
    fn of<K: Kind<Key: OfLineage>>(
        pairs: &dyn KeyValue,
    ) -> impl Iterator<Item = Result<LineageId, StoreError>> + '_ {
        records::within(pairs, &records::all_of::<K>()).filter_map(|pair| match pair {
            Ok((key, _)) => records::decode_key::<K>(&key).ok().map(|key| Ok(key.lineage())),
            Err(error) => Some(Err(unavailable(error))),
        })
    }
    of::<BlockLists>(pairs).chain(of::<Blocks>(pairs)).collect()
}

/// Removes the index of one conversation; answers how many blocks. Where the list of blocks does not tell of the
/// conversation as it is, all goes that was derived from it.
fn remove(
    pairs: &dyn KeyValue,
    lineage: LineageId,
    writes: &mut Vec<(Key, Option<Value>)>,
) -> Result<u64, StoreError> {
    let list = records::get::<BlockLists>(pairs, &lineage).ok().flatten();
    let head = records::get::<Heads>(pairs, &lineage).ok().flatten();
    let list = list.filter(|list| head.is_some_and(|record| record.head.erased_at == list.erased_at));
    let mut blocks = 0;
    for pair in records::within(pairs, &records::of_lineage::<Blocks>(lineage)) {
        let (key, _) = pair.map_err(unavailable)?;
        let name = records::decode_key::<Blocks>(&key);
        if list.is_none() || name.is_ok_and(|(_, name)| name.kind == Derived::Index) {
            writes.push((key, None));
            blocks += 1;
        }
    }
    let rest = list.filter(|list| !list.embeddings.is_empty());
    let rest = rest.map(|list| records::BlockList { index: Default::default(), ..list });
    let value = rest.map(|list| records::pair::<BlockLists>(&lineage, &list).1);
    writes.extend(iter::once((records::key::<BlockLists>(&lineage), value)));
    Ok(blocks)
}
