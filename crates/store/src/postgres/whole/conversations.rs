//! The rows of conversations, assembled from the records of a backup.

use std::{collections::HashMap, iter::Peekable, sync::Arc};

use super::computed::Computed;
use crate::{
    backup::{Backup, BackupError, RestoreError},
    records::{self, ConversationName, Descriptions, Heads, Key, Kind, OfLineage, Segments, Value},
};
use utterd_domain::{ConversationKey, Identity, LineageId};

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
    let mut names = HashMap::new();
    for name in backup.of_kind(ConversationName::NUMBER)? {
        let (key, value) = name?;
        let (_, identity) = records::decode::<ConversationName>(&key, &value)?;
        names.insert(identity.lineage, (identity, value));
    }
    let mut parts = Parts {
        names,
        descriptions: Records::of::<Descriptions>(backup)?,
        segments: Records::of::<Segments>(backup)?,
    };
    Ok(backup.of_kind(Heads::NUMBER)?.map(move |head| parts.row(head?)))
}

/// What makes a row besides the head.
struct Parts {
    names: HashMap<LineageId, (Arc<Identity>, Value)>,
    descriptions: Records,
    segments: Records,
}

impl Parts {
    fn row(&mut self, (key, head): (Key, Value)) -> Result<ConversationRow, RestoreError> {
        let (lineage, record) = records::decode::<Heads>(&key, &head)?;
        let Some((identity, name)) = self.names.remove(&lineage) else {
            let subject = records::name::<Heads>(&lineage);
            return Err(RestoreError::Unfit(format!("{subject}: it has no conversation")));
        };
        let key = identity.key.clone();
        let (description, description_value) = self.descriptions.next::<Descriptions>(lineage)?.unzip();
        let mut waits = record.head.ended.as_ref().and_then(|ending| ending.awaits);
        while let Some((segment, _)) = self.segments.next::<Segments>(lineage)? {
            let since = segment.awaits.as_ref().map(|awaits| awaits.since);
            waits = waits.into_iter().chain(since).min();
        }
        let record = record.complete(identity, description.unwrap_or_default());
        let columns = Computed::of(&record.head, waits);
        Ok(ConversationRow { key, columns, identity: name, head, description: description_value })
    }
}

/// The records of a kind, by ascending lineage.
struct Records(Peekable<Box<dyn Iterator<Item = Stored>>>);

type Stored = Result<(Key, Value), BackupError>;

impl Records {
    fn of<K: Kind<Key: OfLineage>>(backup: &Backup) -> Result<Self, BackupError> {
        let records: Box<dyn Iterator<Item = Stored>> = Box::new(backup.of_kind(K::NUMBER)?);
        Ok(Self(records.peekable()))
    }

    /// Returns the next record of a lineage, decoded and as it is stored; skips those of earlier lineages.
    fn next<K: Kind<Key: OfLineage>>(
        &mut self,
        lineage: LineageId,
    ) -> Result<Option<(K::Value, Value)>, RestoreError> {
        let is_up_to =
            |key: &[u8]| records::decode_key::<K>(key).map_or(true, |key| key.lineage() <= lineage);
        while let Some(record) = self.0.next_if(|it| it.as_ref().map_or(true, |(key, _)| is_up_to(key))) {
            let (stored_key, stored) = record?;
            let (key, value) = records::decode::<K>(&stored_key, &stored)?;
            if key.lineage() == lineage {
                return Ok(Some((value, stored)));
            }
        }
        Ok(None)
    }
}
