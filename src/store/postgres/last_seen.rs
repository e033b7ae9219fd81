//! Finds changes that no hint announced: a process can die between its commit and the notification.
//!
//! Compares what this process watches with the stored rows, by key. The alternative, reading all new rows of
//! `changes`, would need an index that every commit has to write, and each server would read changes that it
//! does not watch.

use super::{read::Reader, types::Uuid};
use crate::store::{Hint, LastSeen, Result};

const CHANGED: &str = "SELECT w.place
    FROM unnest($1::text[], $2::text[], $3::uuid[]) WITH ORDINALITY AS w(namespace, id, change, place)
    WHERE NOT EXISTS (
        SELECT FROM conversations c WHERE c.namespace = w.namespace AND c.id = w.id AND c.change = w.change
    )";

const MOVED: &str = "SELECT w.place
    FROM unnest($1::text[], $2::text[], $3::text[]) WITH ORDINALITY
        AS w(namespace, recipient, conversation, place)
        LEFT JOIN active a ON a.namespace = w.namespace AND a.recipient = w.recipient
    WHERE a.conversation IS DISTINCT FROM w.conversation";

impl Reader {
    /// Returns a hint for each conversation and recipient that is no longer as it was last seen.
    pub(super) async fn outdated(&self, seen: &LastSeen) -> Result<Vec<Hint>> {
        let mut hints = self.changed(seen).await?;
        hints.extend(self.moved(seen).await?);
        Ok(hints)
    }

    async fn changed(&self, LastSeen { conversations, .. }: &LastSeen) -> Result<Vec<Hint>> {
        let namespaces: Vec<_> = conversations.iter().map(|(key, _)| key.namespace.as_str()).collect();
        let ids: Vec<_> = conversations.iter().map(|(key, _)| key.id.as_str()).collect();
        let changes: Vec<_> = conversations.iter().map(|(_, change)| Uuid(change.0)).collect();
        let places = match conversations.is_empty() {
            true => Vec::new(),
            false => self.database.query(CHANGED, &[&namespaces, &ids, &changes]).await?,
        };
        let at = |place: i64| conversations.get(usize::try_from(place).ok()?.checked_sub(1)?);
        let changed = places.iter().filter_map(|row| at(row.get(0)));
        Ok(changed.map(|(key, _)| Hint::Changed(key.clone())).collect())
    }

    async fn moved(&self, LastSeen { recipients, .. }: &LastSeen) -> Result<Vec<Hint>> {
        let namespaces: Vec<_> = recipients.iter().map(|(key, _)| key.namespace.as_str()).collect();
        let ids: Vec<_> = recipients.iter().map(|(key, _)| key.id.as_str()).collect();
        let active: Vec<_> = recipients.iter().map(|(_, id)| id.as_ref().map(|id| id.as_str())).collect();
        let places = match recipients.is_empty() {
            true => Vec::new(),
            false => self.database.query(MOVED, &[&namespaces, &ids, &active]).await?,
        };
        let at = |place: i64| recipients.get(usize::try_from(place).ok()?.checked_sub(1)?);
        let moved = places.iter().filter_map(|row| at(row.get(0)));
        Ok(moved.map(|(recipient, _)| Hint::Active(recipient.clone())).collect())
    }
}
