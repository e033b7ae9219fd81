//! What people call a conversation, and with whom they share it.

use std::{collections::BTreeMap, sync::Arc};

use prost::Message;

use crate::domain::{
    Head, LineageId, ShareId, Timestamp,
    share::{Share, ShareDigest},
};

use super::{
    Fault, KeyReader, KeyWriter, Kind,
    kind::{append, message},
};

/// A conversation's title, its labels and its shares.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Description {
    /// See [`Head::title`].
    pub title: Option<Arc<str>>,
    /// See [`Head::labels`].
    pub labels: Arc<BTreeMap<String, String>>,
    /// See [`Head::shares`].
    pub shares: Arc<[Share]>,
}

impl Description {
    /// That of a conversation.
    pub fn of(head: &Head) -> Self {
        Self { title: head.title.clone(), labels: head.labels.clone(), shares: head.shares.clone() }
    }

    /// Whether there is nothing to store.
    pub fn is_empty(&self) -> bool {
        self.title.is_none() && self.labels.is_empty() && self.shares.is_empty()
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
    #[prost(message, repeated, tag = "10")]
    shares: Vec<StoredShare>,
}

#[derive(Clone, PartialEq, Message)]
struct StoredShare {
    #[prost(string, tag = "1")]
    id: String,
    #[prost(bytes = "vec", tag = "2")]
    digest: Vec<u8>,
    #[prost(sint64, tag = "3")]
    create_time: i64,
    #[prost(sint64, tag = "4")]
    expire_time: i64,
    #[prost(bool, tag = "5")]
    include_archive: bool,
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
        let shares = value.shares.iter().map(stored).collect();
        append(&Stored { title, labels: (*value.labels).clone(), shares }, to);
    }

    fn read(_: &LineageId, payload: &[u8]) -> Result<Description, Fault> {
        let stored: Stored = message(payload)?;
        Ok(Description {
            title: stored.title.map(Arc::from),
            labels: Arc::new(stored.labels),
            shares: stored.shares.into_iter().map(share).collect::<Result<_, _>>()?,
        })
    }
}

fn stored(share: &Share) -> StoredShare {
    StoredShare {
        id: share.id.to_string(),
        digest: share.digest.0.to_vec(),
        create_time: share.create_time.0,
        expire_time: share.expire_time.0,
        include_archive: share.include_archive,
    }
}

fn share(stored: StoredShare) -> Result<Share, Fault> {
    let wrong = |_| Fault::wrong("a share's digest", "has not 32 bytes");
    Ok(Share {
        id: ShareId::new(&stored.id).map_err(|error| Fault::wrong("a share's id", error))?,
        digest: ShareDigest(stored.digest.try_into().map_err(wrong)?),
        create_time: Timestamp(stored.create_time),
        expire_time: Timestamp(stored.expire_time),
        include_archive: stored.include_archive,
    })
}
