//! What people call a conversation.

use std::{collections::BTreeMap, sync::Arc};

use prost::Message;

use crate::domain::{Head, LineageId};

use super::{
    Fault, KeyReader, KeyWriter, Kind,
    kind::{append, message},
};

/// A conversation's title and its labels.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Description {
    /// See [`Head::title`].
    pub title: Option<Arc<str>>,
    /// See [`Head::labels`].
    pub labels: Arc<BTreeMap<String, String>>,
}

impl Description {
    /// That of a conversation.
    pub fn of(head: &Head) -> Self {
        Self { title: head.title.clone(), labels: head.labels.clone() }
    }

    /// Whether there is nothing to store.
    pub fn is_empty(&self) -> bool {
        self.title.is_none() && self.labels.is_empty()
    }
}

/// The kind of descriptions, by the lineage that the conversation writes to.
#[derive(Clone, Copy, Debug)]
pub struct Descriptions;

#[derive(Clone, PartialEq, Message)]
struct Stored {
    #[prost(string, optional, tag = "1")]
    title: Option<String>,
    #[prost(btree_map = "string, string", tag = "2")]
    labels: BTreeMap<String, String>,
}

impl Kind for Descriptions {
    const NUMBER: u8 = 5;
    const VERSION: u8 = 1;
    const NAME: &'static str = "description";
    type Key = LineageId;
    type Value = Description;

    fn write_key(key: &LineageId, to: &mut KeyWriter) {
        to.lineage(*key);
    }

    fn read_key(parts: &mut KeyReader<'_>) -> Result<LineageId, Fault> {
        parts.lineage()
    }

    fn show(key: &LineageId) -> String {
        key.to_string()
    }

    fn write(_: &LineageId, value: &Description, to: &mut Vec<u8>) {
        let title = value.title.as_deref().map(str::to_owned);
        append(&Stored { title, labels: (*value.labels).clone() }, to);
    }

    fn read(_: &LineageId, payload: &[u8]) -> Result<Description, Fault> {
        let stored: Stored = message(payload)?;
        Ok(Description { title: stored.title.map(Arc::from), labels: Arc::new(stored.labels) })
    }
}
