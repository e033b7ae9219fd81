//! The rows of conversations, assembled from the records of a backup.

use std::{collections::HashMap, sync::Arc};

use super::computed::Computed;
use crate::{
    backup::{Backup, RestoreError},
    records::{self, ConversationName, Description, Descriptions, Heads, Key, Kind, Record, Segments, Value},
};
use utterd_domain::{ConversationKey, Identity, LineageId, Timestamp};

/// The row of a conversation.
pub struct ConversationRow {
    pub key: ConversationKey,
    pub columns: Computed,
    pub identity: Value,
    pub head: Value,
    pub description: Option<Value>,
}

/// Returns the rows of all conversations, ascending by lineage. Takes memory in proportion to their number.
pub fn conversations(
    backup: &Backup,
) -> Result<impl Iterator<Item = Result<ConversationRow, RestoreError>>, RestoreError> {
    let mut parts = Parts::default();
    for kind in [ConversationName::NUMBER, Descriptions::NUMBER, Segments::NUMBER] {
        for record in backup.of_kind(kind)? {
            let (key, value) = record?;
            parts.add(Record::read(&key, &value)?, value);
        }
    }
    Ok(backup.of_kind(Heads::NUMBER)?.map(move |head| parts.row(head?)))
}

/// What makes a row besides the head.
#[derive(Default)]
struct Parts {
    names: HashMap<LineageId, (Arc<Identity>, Value)>,
    descriptions: HashMap<LineageId, (Description, Value)>,
    /// Since when the first segment of a conversation has been waiting for a model.
    waits: HashMap<LineageId, Timestamp>,
}

impl Parts {
    fn add(&mut self, record: Record, value: Value) {
        match record {
            Record::ConversationName(_, identity) => {
                self.names.insert(identity.lineage, (identity, value));
            }
            Record::Descriptions(lineage, description) => {
                self.descriptions.insert(lineage, (description, value));
            }
            Record::Segments((lineage, _), segment) => {
                if let Some(awaits) = &segment.awaits {
                    let first = self.waits.entry(lineage).or_insert(awaits.since);
                    *first = awaits.since.min(*first);
                }
            }
            _ => {}
        }
    }

    fn row(&mut self, (key, head): (Key, Value)) -> Result<ConversationRow, RestoreError> {
        let (lineage, record) = records::decode::<Heads>(&key, &head)?;
        let Some((identity, name)) = self.names.remove(&lineage) else {
            let subject = records::name::<Heads>(&lineage);
            return Err(RestoreError::Unfit(format!("{subject}: it has no conversation")));
        };
        let key = identity.key.clone();
        let (description, described) = self.descriptions.remove(&lineage).unzip();
        let closing = record.head.ended.as_ref().and_then(|ending| ending.awaits);
        let waits = closing.into_iter().chain(self.waits.remove(&lineage)).min();
        let record = record.complete(identity, description.unwrap_or_default());
        let columns = Computed::of(&record.head, waits);
        Ok(ConversationRow { key, columns, identity: name, head, description: described })
    }
}
