//! What records are found by.

use std::borrow::Cow;

use crate::{
    domain::{
        ConversationId, ConversationKey, Head, Identity, LineageId, Namespace, RecipientId, RequestId,
        Sequence, Timestamp, UtteranceId,
    },
    store::{Due, OutcomeKey, RecipientKey},
};

use super::{
    Fault,
    key::{KeyReader, KeyWriter, RecordKey},
    number::{Numbered, number, numbered},
};

/// What a number of the store's own is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Meta {
    /// The group of commits that was written last: they count from 1.
    Group,
    /// Not 0 while the files may hold bytes of what was erased or deleted.
    Unscrubbed,
    /// There while the store is a copy that is not finished.
    Copying,
}

number! { Meta { Group = 1, Unscrubbed = 2, Copying = 3 } }

impl RecordKey for Meta {
    fn write(&self, to: &mut KeyWriter) {
        to.byte(self.number());
    }

    fn read(from: &mut KeyReader<'_>) -> Result<Self, Fault> {
        numbered("what the number is about", from.byte()?.into())
    }

    fn show(&self) -> String {
        match self {
            Self::Group => "of the last group".to_owned(),
            Self::Unscrubbed => "of what is unscrubbed".to_owned(),
            Self::Copying => "of an unfinished copy".to_owned(),
        }
    }
}

/// A group of commits.
impl RecordKey for u64 {
    fn write(&self, to: &mut KeyWriter) {
        to.long(*self);
    }

    fn read(from: &mut KeyReader<'_>) -> Result<Self, Fault> {
        from.long()
    }

    fn show(&self) -> String {
        format!("of group {self}")
    }
}

impl RecordKey for ConversationKey {
    fn write(&self, to: &mut KeyWriter) {
        to.text(self.namespace.as_str()).last(self.id.as_str());
    }

    fn read(from: &mut KeyReader<'_>) -> Result<Self, Fault> {
        Ok(Self { namespace: from.id(Namespace::new)?, id: from.last_id(ConversationId::new)? })
    }

    fn show(&self) -> String {
        format!("{}/{}", self.namespace, self.id)
    }
}

impl RecordKey for RecipientKey {
    fn write(&self, to: &mut KeyWriter) {
        to.text(self.namespace.as_str()).last(self.id.as_str());
    }

    fn read(from: &mut KeyReader<'_>) -> Result<Self, Fault> {
        Ok(Self { namespace: from.id(Namespace::new)?, id: from.last_id(RecipientId::new)? })
    }

    fn show(&self) -> String {
        format!("of {}/{}", self.namespace, self.id)
    }
}

/// A place in a list of a recipient's conversations, which is by time and then by id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListPlace {
    /// The recipient.
    pub recipient: RecipientKey,
    /// When the conversation was created; among those that ended, when it did.
    pub time: Timestamp,
    /// The conversation.
    pub conversation: ConversationId,
}

impl ListPlace {
    /// A conversation's place in its recipient's list.
    pub fn of(identity: &Identity) -> Self {
        let recipient =
            RecipientKey { namespace: identity.key.namespace.clone(), id: identity.recipient.clone() };
        Self { recipient, time: identity.start_time, conversation: identity.key.id.clone() }
    }

    /// A conversation's place in the list of what ended, if it has.
    pub fn of_ended(head: &Head) -> Option<Self> {
        Some(Self { time: head.ended.as_ref()?.time, ..Self::of(&head.identity) })
    }
}

impl RecordKey for ListPlace {
    fn write(&self, to: &mut KeyWriter) {
        to.text(self.recipient.namespace.as_str()).text(self.recipient.id.as_str());
        to.time(self.time).last(self.conversation.as_str());
    }

    fn read(from: &mut KeyReader<'_>) -> Result<Self, Fault> {
        Ok(Self {
            recipient: RecipientKey { namespace: from.id(Namespace::new)?, id: from.id(RecipientId::new)? },
            time: from.time()?,
            conversation: from.last_id(ConversationId::new)?,
        })
    }

    fn show(&self) -> String {
        let Self { recipient, time: Timestamp(micros), conversation } = self;
        format!("{}/{conversation} of {} at {micros} µs", recipient.namespace, recipient.id)
    }
}

/// An [`OutcomeKey`], as it is read back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutcomeName {
    /// The tenant.
    pub namespace: Namespace,
    /// The call's name; it has 1 to 255 bytes.
    pub rpc: Cow<'static, str>,
    /// The id that the caller gave.
    pub request: RequestId,
}

impl OutcomeName {
    /// The name that a key stands for.
    pub fn of(key: &OutcomeKey) -> Self {
        let (namespace, request) = (key.namespace.clone(), key.request.clone());
        Self { namespace, rpc: Cow::Borrowed(key.rpc), request }
    }
}

impl RecordKey for OutcomeName {
    fn write(&self, to: &mut KeyWriter) {
        to.text(self.namespace.as_str()).text(&self.rpc).last(self.request.as_str());
    }

    fn read(from: &mut KeyReader<'_>) -> Result<Self, Fault> {
        let (namespace, rpc) = (from.id(Namespace::new)?, from.text()?.to_owned());
        match rpc.is_empty() {
            true => Err(Fault::wrong("the call's name", "is empty")),
            false => Ok(Self { namespace, rpc: rpc.into(), request: from.last_id(RequestId::new)? }),
        }
    }

    fn show(&self) -> String {
        format!("of {} {} of {}", self.rpc, self.request, self.namespace)
    }
}

/// The age of an outcome.
impl RecordKey for (Timestamp, OutcomeName) {
    fn write(&self, to: &mut KeyWriter) {
        to.time(self.0);
        self.1.write(to);
    }

    fn read(from: &mut KeyReader<'_>) -> Result<Self, Fault> {
        Ok((from.time()?, OutcomeName::read(from)?))
    }

    fn show(&self) -> String {
        format!("{} µs {}", self.0.0, self.1.show())
    }
}

/// What waits since a time.
impl RecordKey for (Timestamp, ConversationKey) {
    fn write(&self, to: &mut KeyWriter) {
        to.time(self.0);
        self.1.write(to);
    }

    fn read(from: &mut KeyReader<'_>) -> Result<Self, Fault> {
        Ok((from.time()?, ConversationKey::read(from)?))
    }

    fn show(&self) -> String {
        format!("since {} µs: {}", self.0.0, self.1.show())
    }
}

/// The number of [`Due::Expired`] in keys. Numbers are never changed and never reused.
const EXPIRED: u8 = 1;

/// What becomes due at a time.
impl RecordKey for (Timestamp, Due) {
    fn write(&self, to: &mut KeyWriter) {
        let Due::Expired(conversation) = &self.1;
        to.time(self.0).byte(EXPIRED);
        conversation.write(to);
    }

    fn read(from: &mut KeyReader<'_>) -> Result<Self, Fault> {
        let time = from.time()?;
        match from.byte()? {
            EXPIRED => Ok((time, Due::Expired(ConversationKey::read(from)?))),
            what => Err(Fault::wrong("what is due", format_args!("is {what}; known is {EXPIRED}"))),
        }
    }

    fn show(&self) -> String {
        let Due::Expired(conversation) = &self.1;
        format!("at {} µs: expiry of {}", self.0.0, conversation.show())
    }
}

impl RecordKey for LineageId {
    fn write(&self, to: &mut KeyWriter) {
        to.lineage(*self);
    }

    fn read(from: &mut KeyReader<'_>) -> Result<Self, Fault> {
        from.lineage()
    }

    fn show(&self) -> String {
        self.to_string()
    }
}

/// A lineage, and who reads it.
impl RecordKey for (LineageId, LineageId) {
    fn write(&self, to: &mut KeyWriter) {
        to.lineage(self.0).lineage(self.1);
    }

    fn read(from: &mut KeyReader<'_>) -> Result<Self, Fault> {
        Ok((from.lineage()?, from.lineage()?))
    }

    fn show(&self) -> String {
        format!("{} of {}", self.1, self.0)
    }
}

/// A lineage, and what is numbered in it from 1.
impl RecordKey for (LineageId, u32) {
    fn write(&self, to: &mut KeyWriter) {
        to.lineage(self.0).number(self.1);
    }

    fn read(from: &mut KeyReader<'_>) -> Result<Self, Fault> {
        match (from.lineage()?, from.number()?) {
            (_, 0) => Err(Fault::wrong("the key's number", "is 0; numbers count from 1")),
            key => Ok(key),
        }
    }

    fn show(&self) -> String {
        format!("{} of {}", self.1, self.0)
    }
}

/// A lineage, and the sequence of an utterance.
impl RecordKey for (LineageId, Sequence) {
    fn write(&self, to: &mut KeyWriter) {
        to.lineage(self.0).sequence(self.1);
    }

    fn read(from: &mut KeyReader<'_>) -> Result<Self, Fault> {
        Ok((from.lineage()?, from.sequence()?))
    }

    fn show(&self) -> String {
        format!("{}-{}", self.0, self.1)
    }
}

/// A lineage, and the id that a client gave to an utterance.
impl RecordKey for (LineageId, Box<str>) {
    fn write(&self, to: &mut KeyWriter) {
        to.lineage(self.0).last(&self.1);
    }

    fn read(from: &mut KeyReader<'_>) -> Result<Self, Fault> {
        let lineage = from.lineage()?;
        match from.last_id(UtteranceId::given)? {
            UtteranceId::Given(id) => Ok((lineage, id)),
            UtteranceId::Assigned(_) => Err(Fault::wrong("the id", "was not given")),
        }
    }

    fn show(&self) -> String {
        format!("{:?} of {}", self.1, self.0)
    }
}

/// A key that begins with the lineage that it is of.
pub trait OfLineage: RecordKey {
    /// The lineage.
    fn lineage(&self) -> LineageId;
}

impl OfLineage for LineageId {
    fn lineage(&self) -> LineageId {
        *self
    }
}

impl<T> OfLineage for (LineageId, T)
where
    Self: RecordKey,
{
    fn lineage(&self) -> LineageId {
        self.0
    }
}
