//! What people call a conversation, with whom they share it, and what it came from.

use std::{collections::BTreeMap, sync::Arc};

use prost::Message;

use crate::domain::{
    ConversationId, ForkedFrom, Head, LineageId, Sequence, ShareId, Timestamp,
    share::{Share, ShareDigest},
};

use super::{
    Fault, KeyReader, KeyWriter, Kind,
    kind::{append, message},
    number::sequence,
};

/// A conversation's title, its labels, its shares and its parent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Description {
    /// See [`Head::title`].
    pub title: Option<Arc<str>>,
    /// See [`Head::labels`].
    pub labels: Arc<BTreeMap<String, String>>,
    /// See [`Head::shares`].
    pub shares: Arc<[Share]>,
    /// See [`Head::forked_from`].
    pub forked_from: Option<Arc<ForkedFrom>>,
}

impl Description {
    /// That of a conversation.
    pub fn of(head: &Head) -> Self {
        Self {
            title: head.title.clone(),
            labels: head.labels.clone(),
            shares: head.shares.clone(),
            forked_from: head.forked_from.clone(),
        }
    }

    /// Whether there is nothing to store.
    pub fn is_empty(&self) -> bool {
        let named = self.title.is_some() || !self.labels.is_empty();
        !named && self.shares.is_empty() && self.forked_from.is_none()
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
    #[prost(message, optional, tag = "30")]
    forked_from: Option<StoredOrigin>,
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

#[derive(Clone, PartialEq, Message)]
struct StoredOrigin {
    #[prost(string, tag = "1")]
    conversation: String,
    #[prost(uint64, tag = "2")]
    sequence: u64,
    #[prost(bool, tag = "3")]
    approximate: bool,
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
        let forked_from = value.forked_from.as_deref().map(StoredOrigin::of);
        append(&Stored { title, labels: (*value.labels).clone(), shares, forked_from }, to);
    }

    fn read(_: &LineageId, payload: &[u8]) -> Result<Description, Fault> {
        let stored: Stored = message(payload)?;
        Ok(Description {
            title: stored.title.map(Arc::from),
            labels: Arc::new(stored.labels),
            shares: stored.shares.into_iter().map(share).collect::<Result<_, _>>()?,
            forked_from: stored.forked_from.map(StoredOrigin::forked_from).transpose()?.map(Arc::new),
        })
    }
}

impl StoredOrigin {
    fn of(from: &ForkedFrom) -> Self {
        let ForkedFrom { conversation, sequence, approximate } = from;
        Self {
            conversation: conversation.as_str().to_owned(),
            sequence: sequence.0,
            approximate: *approximate,
        }
    }

    fn forked_from(self) -> Result<ForkedFrom, Fault> {
        let conversation = ConversationId::new(&self.conversation);
        Ok(ForkedFrom {
            conversation: conversation.map_err(|error| Fault::wrong("the parent", error))?,
            // 0 when nothing is shared
            sequence: match self.sequence {
                0 => Sequence(0),
                shared => sequence("the sequence of the fork", shared)?,
            },
            approximate: self.approximate,
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
