//! The rows of conversations, assembled from the records of any store.

use std::{collections::HashMap, mem, ops::Bound, sync::Arc};

use super::computed::Computed;
use crate::{
    domain::{ConversationKey, Identity, LineageId},
    store::durable::{
        CopyError, Lineages, Parts,
        key_value::{Key, KeyValueError, Ordered, Value},
        records::{self, ConversationName, Heads, Unread},
    },
};

/// The row of a conversation.
pub struct ConversationRow {
    pub key: ConversationKey,
    pub columns: Computed,
    pub identity: Value,
    pub head: Value,
    pub policy: Value,
    pub description: Option<Value>,
    pub ending: Option<Value>,
}

/// The rows of all conversations, ascending by lineage. Takes memory in proportion to their number.
pub struct Conversations<'a> {
    names: HashMap<LineageId, (Identity, Value)>,
    /// The first error in reading a name.
    unread: Option<Unread>,
    lineages: Lineages<'a>,
}

impl<'a> Conversations<'a> {
    /// Reads the names of all conversations.
    pub fn of(pairs: &'a dyn Ordered) -> Self {
        let (mut names, mut unread) = (HashMap::new(), None);
        let keys = records::all_of::<ConversationName>();
        let pairs_of_names = pairs.ascending(Bound::Included(&keys.start), Bound::Excluded(&keys.end));
        for name in pairs_of_names.map(named) {
            match name {
                Ok((identity, value)) => drop(names.insert(identity.lineage, (identity, value))),
                Err(error) => drop(unread.get_or_insert(error)),
            }
        }
        Self { names, unread, lineages: Lineages::of(pairs, Parts::KINDS) }
    }

    /// Fails if a name could not be read, as the row of its conversation is then missing.
    pub fn check_names(&mut self) -> Result<(), Unread> {
        self.unread.take().map_or(Ok(()), Err)
    }

    /// Returns the row of the conversation that writes to `lineage`; `None` if the lineage has no head.
    fn row(&mut self, lineage: LineageId) -> Result<Option<ConversationRow>, CopyError> {
        let parts = Parts::take(&mut self.lineages, lineage);
        if let Some((_, error)) = mem::take(&mut self.lineages.unread).pop() {
            return Err(error.into());
        }
        let missing = |subject: String, what: &str| CopyError::Unfit(format!("{subject}: {what}"));
        if parts.head.is_none() {
            return Ok(None);
        }
        let Some((identity, name)) = self.names.remove(&lineage) else {
            return Err(missing(records::name::<Heads>(&lineage), "it has no conversation"));
        };
        let key = identity.key.clone();
        let record = parts.whole_head(Arc::new(identity));
        let record = record.map_err(|what| missing(records::name::<ConversationName>(&key), what))?;
        let columns = Computed::of(&record.head, parts.awaits_since());
        let Parts { head, policy, description, ending, .. } = parts;
        let (head, policy) = (stored(head).unwrap_or_default(), stored(policy).unwrap_or_default());
        let (description, ending) = (stored(description), stored(ending));
        Ok(Some(ConversationRow { key, columns, identity: name, head, policy, description, ending }))
    }
}

fn stored<T>(record: Option<(T, Value)>) -> Option<Value> {
    record.map(|(_, stored)| stored)
}

impl Iterator for Conversations<'_> {
    type Item = Result<ConversationRow, CopyError>;

    fn next(&mut self) -> Option<Self::Item> {
        while let Some(lineage) = self.lineages.next_lineage() {
            if let Some(row) = self.row(lineage).transpose() {
                return Some(row);
            }
        }
        self.lineages.unread.pop().map(|(_, error)| Err(error.into()))
    }
}

fn named(pair: Result<(Key, Value), KeyValueError>) -> Result<(Identity, Value), Unread> {
    let (key, value) = pair?;
    Ok((records::decode::<ConversationName>(&key, &value)?.1, value))
}
