//! The rows of conversations, assembled from the records of a backup.

use std::{collections::HashMap, iter::Peekable, sync::Arc};

use super::computed::Computed;
use crate::{
    backup::{Backup, BackupError, RestoreError},
    durable::{
        key_value::{Key, Value},
        records::{
            self, ConversationName, Descriptions, Endings, Heads, Kind, OfLineage, Policies, Segments,
        },
    },
};
use utterd_domain::{ConversationKey, Identity, LineageId};

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
        policies: Records::of::<Policies>(backup)?,
        descriptions: Records::of::<Descriptions>(backup)?,
        endings: Records::of::<Endings>(backup)?,
        segments: Records::of::<Segments>(backup)?,
    };
    Ok(backup.of_kind(Heads::NUMBER)?.map(move |head| parts.row(head?)))
}

/// What makes a row besides the head.
struct Parts {
    names: HashMap<LineageId, (Identity, Value)>,
    policies: Records,
    descriptions: Records,
    endings: Records,
    segments: Records,
}

impl Parts {
    fn row(&mut self, (key, head): (Key, Value)) -> Result<ConversationRow, RestoreError> {
        let (lineage, record) = records::decode::<Heads>(&key, &head)?;
        let unfit = |subject: String, what: &str| RestoreError::Unfit(format!("{subject}: {what}"));
        let Some((identity, name)) = self.names.remove(&lineage) else {
            return Err(unfit(records::name::<Heads>(&lineage), "it has no conversation"));
        };
        let key = identity.key.clone();
        let Some((policy, policy_value)) = self.policies.next::<Policies>(lineage)? else {
            return Err(unfit(records::name::<ConversationName>(&key), "it has no policy"));
        };
        let (description, description_value) = self.descriptions.next::<Descriptions>(lineage)?.unzip();
        let (ending, ending_value) = self.endings.next::<Endings>(lineage)?.unzip();
        let mut waits = ending.as_ref().and_then(|ending| ending.awaits);
        while let Some((segment, _)) = self.segments.next::<Segments>(lineage)? {
            let since = segment.awaits.as_ref().map(|awaits| awaits.since);
            waits = waits.into_iter().chain(since).min();
        }
        let head_record =
            record.complete(Arc::new(identity), policy, description.unwrap_or_default(), ending);
        let columns = Computed::of(&head_record.head, waits);
        let (policy, description, ending) = (policy_value, description_value, ending_value);
        Ok(ConversationRow { key, columns, identity: name, head, policy, description, ending })
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
