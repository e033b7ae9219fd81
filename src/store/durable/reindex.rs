//! Rebuilds the search index of a store at rest.

use std::{collections::BTreeSet, sync::Arc};

use super::{
    directory::Directory,
    error::unavailable,
    key_value::{Batch, Durability, Key, KeyValue, Value},
    reader::Reader,
    records::{
        self, BlockBytes, BlockList, BlockLists, Blocks, ConversationName, Heads, Kind, ListPlace, Listed,
        OfLineage, Unread,
    },
};
use crate::{
    domain::{
        Block, ConversationKey, Head, LineageId, Ranges, Role,
        recall::{Index, Said},
    },
    store::{Derived, RecipientKey, StoreError},
};

/// Bytes per batch.
const BATCH_BYTES: usize = 4 << 20;

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

/// The result of a reindex.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reindexed {
    /// Conversations that were processed; with [`Scope::All`], only those with derived data.
    pub conversations: u64,
    /// Blocks that were rebuilt.
    pub made: u64,
    /// Blocks that were removed.
    pub removed: u64,
}

/// Rebuilds the stored search index of conversations; now and then reports how many blocks it has processed.
///
/// - Conversations that were never searched have no index, and get none.
/// - Index blocks that cannot be read or rebuilt are removed; the next search builds them. Data derived from
///   conversations that no longer exist is removed too. Embeddings stay.
pub fn reindex(
    directory: Directory,
    scope: &Scope,
    progress: &mut dyn FnMut(u64),
) -> Result<Reindexed, StoreError> {
    directory.check_finished().map_err(unavailable)?;
    let (group, links) = (directory.group(), directory.links().to_vec());
    let reader = Reader(Arc::new(directory));
    let lineages = lineages(reader.0.pairs(), scope)?;
    let reindexed = Reindexed::default();
    let mut work = Work { reader, group, links, writes: Vec::new(), bytes: 0, reindexed, progress };
    for lineage in lineages {
        work.conversation(lineage)?;
    }
    work.write()?;
    work.reader.0.mark(work.group).map_err(unavailable)?;
    Ok(work.reindexed)
}

/// Progress, and the writes still pending.
struct Work<'a> {
    reader: Reader,
    group: u64,
    links: Vec<u64>,
    writes: Vec<(Key, Option<Value>)>,
    bytes: usize,
    reindexed: Reindexed,
    progress: &'a mut dyn FnMut(u64),
}

impl Work<'_> {
    /// Rebuilds the index of one conversation. Removes everything derived from the conversation if the list
    /// of its blocks does not match its current state.
    fn conversation(&mut self, lineage: LineageId) -> Result<(), StoreError> {
        let pairs = self.reader.0.clone();
        let head = records::get::<Heads>(pairs.pairs(), &lineage).ok().flatten().map(|record| record.head);
        let list = records::get::<BlockLists>(pairs.pairs(), &lineage).ok().flatten();
        let stands = head.zip(list).filter(|(head, list)| head.erased_at == list.erased_at);
        let mut index = Ranges::new();
        for pair in records::within(pairs.pairs(), &records::of_lineage::<Blocks>(lineage)) {
            let (key, _) = pair.map_err(unavailable)?;
            match (&stands, records::decode_key::<Blocks>(&key)) {
                (Some(_), Ok((_, name))) if name.kind != Derived::Index => {}
                (Some((head, _)), Ok((_, name))) => {
                    let made = self.made(head, name.block)?;
                    made.iter().for_each(|_| index.union(&name.block.ranges()));
                    self.put(key, made.map(|made| records::pair::<Blocks>(&(lineage, name), &made).1))?;
                }
                _ => self.put(key, None)?,
            }
        }
        let list = stands.map(|(_, list)| BlockList { index, ..list });
        let list = list.filter(|list| !(list.index.is_empty() && list.embeddings.is_empty()));
        let value = list.map(|list| records::pair::<BlockLists>(&lineage, &list).1);
        self.writes.push((records::key::<BlockLists>(&lineage), value));
        self.reindexed.conversations += 1;
        Ok(())
    }

    /// Builds the index of a conversation's block; `None` if it is empty.
    fn made(&self, head: &Head, block: Block) -> Result<Option<BlockBytes>, StoreError> {
        let utterances = self.reader.utterances(head, &block.ranges().intersection(&head.kept()))?;
        let mut index = Index::new();
        index.extend(utterances.iter().map(|utterance| Said::from(&**utterance)));
        // a block is complete once another follows
        index.extend([Said {
            sequence: block.sequences().end().next().get(),
            role: Role::User,
            name: "",
            minute: 0,
            content: "",
            calls: Vec::new(),
        }]);
        let made = index.whole_blocks().find(|(number, _)| *number == block.0);
        Ok(made.and_then(|(_, made)| made.to_bytes()).map(BlockBytes))
    }

    fn put(&mut self, key: Key, value: Option<Value>) -> Result<(), StoreError> {
        match &value {
            Some(_) => self.reindexed.made += 1,
            None => self.reindexed.removed += 1,
        }
        self.bytes += key.len() + value.as_ref().map_or(0, Vec::len);
        self.writes.push((key, value));
        match self.bytes >= BATCH_BYTES {
            true => self.write(),
            false => Ok(()),
        }
    }

    fn write(&mut self) -> Result<(), StoreError> {
        if self.writes.is_empty() {
            return Ok(());
        }
        let mut writes = std::mem::take(&mut self.writes);
        writes.extend(records::group_writes(self.group + 1, &self.links));
        let pairs = self.reader.0.pairs();
        pairs.apply(Batch { writes }, Durability::Disk).map_err(unavailable)?;
        (self.group, self.bytes) = (self.group + 1, 0);
        self.links = vec![self.group];
        (self.progress)(self.reindexed.made + self.reindexed.removed);
        Ok(())
    }
}

/// Returns the lineages of the conversations in a scope.
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

/// Returns the lineages with blocks or a list of blocks.
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
