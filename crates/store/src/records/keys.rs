//! The keys of records.

use std::borrow::Cow;

use crate::{Derived, Due, OutcomeKey, RecipientKey};
use utterd_domain::{
    Block, ConversationId, ConversationKey, LineageId, Namespace, RecipientId, RequestId, Sequence, Timestamp,
};

use super::{
    Fault,
    key::{KeyPart, KeyReader, KeyWriter, RecordKey, id, numbered},
};

/// Two parts, one after the other.
impl<A: KeyPart, B: KeyPart> KeyPart for (A, B) {
    fn write(&self, to: &mut KeyWriter) {
        self.0.write(to);
        self.1.write(to);
    }

    fn read(from: &mut KeyReader<'_>) -> Result<Self, Fault> {
        Ok((A::read(from)?, B::read(from)?))
    }
}

/// Implements the readable form of keys.
macro_rules! shown {
    ($($(#[$doc:meta])* $type:ty: $show:expr;)*) => {$(
        $(#[$doc])*
        impl RecordKey for $type {
            fn show(&self) -> String {
                let show: fn(&Self) -> String = $show;
                show(self)
            }
        }
    )*};
}

shown! {
    Meta: |meta| match meta {
        Meta::Group => "of the last group".to_owned(),
        Meta::Unscrubbed => "of the last unscrubbed group".to_owned(),
        Meta::Copying => "of an unfinished copy".to_owned(),
    };
    /// A group of commits.
    u64: |group| format!("of group {group}");
    ConversationKey: |ConversationKey { namespace, id }| match id.of_whose_state() {
        Some(recipient) => format!("{namespace}/(state of {recipient})"),
        None => format!("{namespace}/{id}"),
    };
    RecipientKey: |key| format!("of {}/{}", key.namespace, key.id);
    NamespacePlace: |Place { owner, time, conversation }| format!("{owner}/{conversation} at {} µs", time.0);
    ListPlace: |Place { owner: (namespace, recipient), time, conversation }| {
        format!("{namespace}/{conversation} of {recipient} at {} µs", time.0)
    };
    OutcomeName: |OutcomeName { namespace, rpc, request }| format!("of {rpc} {request} of {namespace}");
    /// The age of an outcome.
    (Timestamp, OutcomeName): |(time, name)| format!("{} µs {}", time.0, name.show());
    /// Work due at a time.
    (Timestamp, Due): |(time, Due::Expired(key))| format!("at {} µs: expiry of {}", time.0, key.show());
    /// A conversation waiting since a time.
    (Timestamp, ConversationKey): |(since, key)| format!("since {} µs: {}", since.0, key.show());
    LineageId: |lineage| lineage.to_string();
    /// A lineage and its reader.
    (LineageId, LineageId): |(lineage, reader)| format!("{reader} of {lineage}");
    /// A lineage and a number in it.
    (LineageId, u32): |(lineage, number)| format!("{number} of {lineage}");
    /// A lineage and a block of its conversation.
    (LineageId, BlockName): |(lineage, BlockName { kind, block })| format!("{} of {kind:?} of {lineage}", block.0);
    /// A lineage and a name in its conversation's state.
    (LineageId, StateName): |(lineage, name)| format!("{:?} of {lineage}", name.0);
    /// A lineage and an utterance.
    (LineageId, Sequence): |(lineage, sequence)| format!("{lineage}-{sequence}");
    /// A lineage and the id that a client gave to an utterance.
    (LineageId, Box<str>): |(lineage, id)| format!("{id:?} of {lineage}");
}

/// The name of a value of a conversation's state; always the last part of a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateName(pub Box<str>);

impl KeyPart for StateName {
    fn write(&self, to: &mut KeyWriter) {
        to.bytes(self.0.as_bytes());
    }

    fn read(from: &mut KeyReader<'_>) -> Result<Self, Fault> {
        match from.last()? {
            "" => Err(Fault::wrong("the name", "is empty")),
            name => Ok(Self(name.into())),
        }
    }
}

/// The meaning of one of the store's own numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Meta {
    /// The last group of commits written; groups count from 1.
    Group = 1,
    /// The last group that removed data whose bytes may still be in the files; absent after a scrub.
    Unscrubbed,
    /// Present while the store is an unfinished copy.
    Copying,
}

impl KeyPart for Meta {
    fn write(&self, to: &mut KeyWriter) {
        (*self as u8).write(to);
    }

    fn read(from: &mut KeyReader<'_>) -> Result<Self, Fault> {
        let all = [Self::Group, Self::Unscrubbed, Self::Copying];
        numbered("the meaning of the number", from, all, |meta| meta as u8)
    }
}

impl KeyPart for ConversationKey {
    fn write(&self, to: &mut KeyWriter) {
        self.namespace.write(to);
        self.id.write(to);
    }

    fn read(from: &mut KeyReader<'_>) -> Result<Self, Fault> {
        Ok(Self { namespace: KeyPart::read(from)?, id: KeyPart::read(from)? })
    }
}

impl KeyPart for RecipientKey {
    fn write(&self, to: &mut KeyWriter) {
        self.namespace.write(to);
        to.bytes(self.id.as_str().as_bytes());
    }

    fn read(from: &mut KeyReader<'_>) -> Result<Self, Fault> {
        Ok(Self { namespace: KeyPart::read(from)?, id: id(from.last()?, RecipientId::new)? })
    }
}

/// The number of [`Due::Expired`] in keys. Numbers are never changed and never reused.
const EXPIRED: u8 = 1;

impl KeyPart for Due {
    fn write(&self, to: &mut KeyWriter) {
        let Self::Expired(conversation) = self;
        EXPIRED.write(to);
        conversation.write(to);
    }

    fn read(from: &mut KeyReader<'_>) -> Result<Self, Fault> {
        match u8::read(from)? {
            EXPIRED => Ok(Self::Expired(KeyPart::read(from)?)),
            what => Err(Fault::wrong("what is due", format_args!("is {what}; expected {EXPIRED}"))),
        }
    }
}

/// An entry of a list of conversations, ordered by time and then by id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place<O> {
    /// Whose list it is.
    pub owner: O,
    /// The time at which the conversation was created or ended, or the span of its last change, depending on
    /// the list.
    pub time: Timestamp,
    /// The conversation.
    pub conversation: ConversationId,
}

/// An entry of a list of a namespace's conversations.
pub type NamespacePlace = Place<Namespace>;

/// An entry of a list of a recipient's conversations.
pub type ListPlace = Place<(Namespace, RecipientId)>;

impl<O: KeyPart> KeyPart for Place<O> {
    fn write(&self, to: &mut KeyWriter) {
        self.owner.write(to);
        self.time.write(to);
        self.conversation.write(to);
    }

    fn read(from: &mut KeyReader<'_>) -> Result<Self, Fault> {
        Ok(Self {
            owner: KeyPart::read(from)?,
            time: KeyPart::read(from)?,
            conversation: KeyPart::read(from)?,
        })
    }
}

/// An owned [`OutcomeKey`], as read from a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutcomeName {
    /// The namespace.
    pub namespace: Namespace,
    /// The name of the call, 1 to 255 bytes long.
    pub rpc: Cow<'static, str>,
    /// The request id that the caller gave.
    pub request: RequestId,
}

impl OutcomeName {
    /// Returns the name for a key.
    pub fn of(key: &OutcomeKey) -> Self {
        let (namespace, request) = (key.namespace.clone(), key.request.clone());
        Self { namespace, rpc: Cow::Borrowed(key.rpc), request }
    }
}

impl KeyPart for OutcomeName {
    fn write(&self, to: &mut KeyWriter) {
        self.namespace.write(to);
        to.text(&self.rpc);
        self.request.write(to);
    }

    fn read(from: &mut KeyReader<'_>) -> Result<Self, Fault> {
        let (namespace, rpc) = (KeyPart::read(from)?, from.text()?.to_owned());
        match rpc.is_empty() {
            true => Err(Fault::wrong("the call's name", "is empty")),
            false => Ok(Self { namespace, rpc: rpc.into(), request: KeyPart::read(from)? }),
        }
    }
}

/// A block of a conversation's utterances, and the kind of data derived from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockName {
    /// The kind of derived data.
    pub kind: Derived,
    /// The block.
    pub block: Block,
}

impl KeyPart for BlockName {
    fn write(&self, to: &mut KeyWriter) {
        (self.kind as u8).write(to);
        self.block.0.write(to);
    }

    fn read(from: &mut KeyReader<'_>) -> Result<Self, Fault> {
        let kind = numbered("the kind of derived data", from, Derived::ALL, |kind| kind as u8)?;
        Ok(Self { kind, block: Block(u64::read(from)?) })
    }
}

/// A key that begins with a lineage.
pub trait OfLineage: RecordKey {}

impl OfLineage for LineageId {}
impl<T> OfLineage for (LineageId, T) where Self: RecordKey {}
