//! The values of the smaller records.

use std::time::Duration;

use crate::Derived;
use utterd_domain::{
    ConversationId, ConversationKey, Ending, Identity, LineageId, Marks, Policy, Ranges, Revision, Sequence,
    Trunk,
    conversation::Teller,
    state::{StateContent, StateEntry, StateValue},
};

use super::{
    BlockName, Fault, StateName,
    field::{Field, Message, One, message, sequence_or_0},
    fields::Fields,
    kind::RecordValue,
    payload::{Payload, Stored},
};

/// A record that is only a key.
impl Message for () {
    fn write(&self, _: &mut Fields<'_>) {}

    fn read(_: &Payload<'_>) -> Result<Self, Fault> {
        Ok(())
    }
}

/// Implements values with a single field, given the field's name in faults.
macro_rules! only_field {
    ($($type:ty: $part:literal;)*) => {$(
        impl<K> RecordValue<K> for $type {
            fn write(&self, _: &K, to: &mut Fields<'_>) {
                self.put(1, to);
            }

            fn read(_: &K, from: &Payload<'_>) -> Result<Self, Fault> {
                Field::get($part, 1, from)
            }
        }
    )*};
}

only_field! {
    u64: "the number";
    Sequence: "the sequence";
    ConversationId: "the conversation";
}

impl RecordValue<ConversationKey> for Identity {
    fn write(&self, _: &ConversationKey, to: &mut Fields<'_>) {
        self.recipient.put(1, to);
        self.lineage.put(2, to);
        self.start_time.put(3, to);
        self.encoding.put(4, to);
    }

    fn read(key: &ConversationKey, from: &Payload<'_>) -> Result<Self, Fault> {
        Ok(Self {
            key: key.clone(),
            recipient: Field::get("the recipient", 1, from)?,
            lineage: Field::get("the lineage", 2, from)?,
            start_time: Field::get("the start", 3, from)?,
            encoding: Field::get("the encoding", 4, from)?,
        })
    }
}

impl RecordValue<LineageId> for Ending {
    fn write(&self, _: &LineageId, to: &mut Fields<'_>) {
        self.time.put(1, to);
        self.reason.put(2, to);
        self.title.put(3, to);
        self.summary.put(4, to);
        self.awaits.put(5, to);
        self.teller.put(6, to);
    }

    fn read(_: &LineageId, from: &Payload<'_>) -> Result<Self, Fault> {
        Ok(Self {
            time: Field::get("the end", 1, from)?,
            reason: Field::get("the reason", 2, from)?,
            title: Field::get("the title", 3, from)?,
            summary: Field::get("the summary", 4, from)?,
            awaits: Field::get("the start of the wait", 5, from)?,
            teller: Field::get("the author", 6, from)?,
        })
    }
}

message! {
    Teller {
        1 model: "the model that wrote it",
        2 prompt: "the version of the prompt",
    }
}

message! {
    Policy {
        1 utterances: "the marks of utterances",
        2 tokens: "the marks of tokens",
        3 turns: "the marks of turns",
        4 summarization_enabled: "whether there are summaries",
        5 summary_token_limit: "the limit of the summary",
        6 oversize: "the oversize rule",
        7 archive_limit: "the limit of the archive",
        8 expire_after: "the time to expiry",
        9 llm_summaries: "whether a model writes summaries",
        10 summary_model: "the model",
    }
}

/// Field 1 holds the maximum, field 2 the given number to keep.
impl One for Marks {
    fn put_one(&self, number: u32, to: &mut Fields<'_>) {
        to.message(number, |to| {
            self.max().put(1, to);
            self.given_keep().put(2, to);
        });
    }

    fn get_one(part: &'static str, stored: Stored<'_>) -> Result<Self, Fault> {
        let from = stored.message(part)?;
        let (max, keep) = (u32::get(part, 1, &from)?, Option::<u32>::get(part, 2, &from)?);
        match keep {
            _ if max == 0 => Err(Fault::wrong(part, "have the maximum 0")),
            None => Ok(Self::of(max)),
            Some(keep) => {
                let marks = Self::with_keep(max, keep);
                marks.ok_or_else(|| Fault::wrong(part, format_args!("keep {keep} of {max}")))
            }
        }
    }
}

/// Field 1 holds the seconds, field 2 the nanoseconds.
impl One for Duration {
    fn put_one(&self, number: u32, to: &mut Fields<'_>) {
        to.message(number, |to| {
            self.as_secs().put(1, to);
            self.subsec_nanos().put(2, to);
        });
    }

    fn get_one(part: &'static str, stored: Stored<'_>) -> Result<Self, Fault> {
        let from = stored.message(part)?;
        match (u64::get(part, 1, &from)?, u32::get(part, 2, &from)?) {
            (seconds, nanoseconds @ 0..1_000_000_000) => Ok(Self::new(seconds, nanoseconds)),
            (_, more) => Err(Fault::wrong(part, format_args!("has {more} nanoseconds"))),
        }
    }
}

impl Message for Trunk {
    fn write(&self, to: &mut Fields<'_>) {
        self.lineage.put(1, to);
        self.through.0.put(2, to);
    }

    fn read(from: &Payload<'_>) -> Result<Self, Fault> {
        Ok(Self {
            lineage: Field::get("the lineage of a trunk", 1, from)?,
            through: sequence_or_0("the last sequence of a trunk", 2, from)?,
        })
    }
}

/// A conversation that reads a lineage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineageReader {
    /// The conversation's name.
    pub conversation: ConversationKey,
    /// The last sequence that it reads in the lineage; 0 if it only has copies of the lineage's utterances.
    pub through: Sequence,
}

impl RecordValue<(LineageId, LineageId)> for LineageReader {
    fn write(&self, _: &(LineageId, LineageId), to: &mut Fields<'_>) {
        self.conversation.namespace.put(1, to);
        self.conversation.id.put(2, to);
        self.through.0.put(3, to);
    }

    fn read(_: &(LineageId, LineageId), from: &Payload<'_>) -> Result<Self, Fault> {
        let namespace = Field::get("the conversation", 1, from)?;
        let conversation = ConversationKey { namespace, id: Field::get("the conversation", 2, from)? };
        Ok(Self { conversation, through: sequence_or_0("the last sequence", 3, from)? })
    }
}

message! {
    StateEntry {
        1 name: "a name of the state",
        2 version: "the version of a name",
        3 bytes: "the bytes of a value",
    }
}

impl RecordValue<(LineageId, StateName)> for StateValue {
    fn room(&self) -> usize {
        self.content.as_bytes().len() + 24
    }

    fn write(&self, _: &(LineageId, StateName), to: &mut Fields<'_>) {
        self.version.put(1, to);
        let number = match &self.content {
            StateContent::Bytes(_) => 2,
            StateContent::Json(_) => 3,
        };
        to.put(number, Stored::Bytes(self.content.as_bytes()));
    }

    fn read((_, name): &(LineageId, StateName), from: &Payload<'_>) -> Result<Self, Fault> {
        let content = match (from.one(2), from.one(3)) {
            (bytes, Stored::Nothing) => StateContent::Bytes(bytes.bytes("the value")?.into()),
            (_, json) => StateContent::Json(json.text("the value")?.into()),
        };
        Ok(Self { name: name.0.clone(), version: Field::get("the version", 1, from)?, content })
    }
}

/// The bytes of a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockBytes(pub Vec<u8>);

impl RecordValue<(LineageId, BlockName)> for BlockBytes {
    fn room(&self) -> usize {
        self.0.len() + 8
    }

    fn write(&self, _: &(LineageId, BlockName), to: &mut Fields<'_>) {
        to.put(1, Stored::Bytes(&self.0));
    }

    fn read(_: &(LineageId, BlockName), from: &Payload<'_>) -> Result<Self, Fault> {
        Ok(Self(from.one(1).bytes("the block")?.to_vec()))
    }
}

/// The stored blocks of a conversation. Valid only while the conversation's head has the same `erased_at`, so
/// that nothing derived from erased text is read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BlockList {
    /// [`Head::erased_at`](utterd_domain::Head::erased_at).
    pub erased_at: Revision,
    /// The sequences of the blocks of an index.
    pub index: Ranges,
    /// The sequences of the blocks of embeddings.
    pub embeddings: Ranges,
}

impl BlockList {
    /// Returns each kind with the sequences of its blocks.
    pub fn kinds(&mut self) -> [(Derived, &mut Ranges); 2] {
        [(Derived::Index, &mut self.index), (Derived::Embeddings, &mut self.embeddings)]
    }

    /// Returns the sequences of the blocks of a kind.
    pub fn of(&mut self, kind: Derived) -> &mut Ranges {
        match kind {
            Derived::Index => &mut self.index,
            Derived::Embeddings => &mut self.embeddings,
        }
    }
}

message! {
    BlockList {
        1 erased_at: "the revision that erased",
        2 index: "the blocks of the index",
        3 embeddings: "the blocks of embeddings",
    }
}
