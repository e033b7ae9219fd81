//! What a named attempt of a call came to.

use std::borrow::Cow;

use prost::Message;

use crate::{
    domain::{
        ConversationId, Namespace, RequestId, Sequence, Timestamp, capacity::Capacity, compaction::Advice,
    },
    store::{Outcome, OutcomeKey},
};

use super::{
    Fault, KeyReader, KeyWriter, Kind,
    kind::{append, message},
    number::{Numbered, numbered, revision, sequence},
    ranges::{stepped, steps},
};

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

/// The kind of outcomes, by their attempts.
#[derive(Clone, Copy, Debug)]
pub struct Outcomes;

#[derive(Clone, PartialEq, Message)]
struct Stored {
    #[prost(fixed64, tag = "1")]
    body_high: u64,
    #[prost(fixed64, tag = "2")]
    body_low: u64,
    #[prost(sint64, tag = "3")]
    time: i64,
    #[prost(string, tag = "4")]
    conversation: String,
    #[prost(uint64, tag = "5")]
    revision: u64,
    #[prost(bool, tag = "6")]
    started: bool,
    #[prost(uint64, repeated, tag = "7")]
    memorized: Vec<u64>,
    #[prost(uint64, repeated, tag = "8")]
    evicted: Vec<u64>,
    #[prost(uint64, repeated, tag = "9")]
    forgotten: Vec<u64>,
    #[prost(uint64, repeated, tag = "10")]
    restored: Vec<u64>,
    #[prost(uint64, optional, tag = "11")]
    target: Option<u64>,
    #[prost(uint32, tag = "12")]
    rebuilt_segments: u32,
    #[prost(message, optional, tag = "13")]
    capacity: Option<StoredCapacity>,
    #[prost(string, optional, tag = "14")]
    ended: Option<String>,
}

#[derive(Clone, PartialEq, Message)]
struct StoredCapacity {
    #[prost(uint64, tag = "1")]
    utterances: u64,
    #[prost(uint64, tag = "2")]
    forgotten: u64,
    #[prost(uint64, tag = "3")]
    turns: u64,
    #[prost(uint64, tag = "4")]
    tokens: u64,
    #[prost(uint32, optional, tag = "5")]
    max_utterances: Option<u32>,
    #[prost(uint32, optional, tag = "6")]
    max_tokens: Option<u32>,
    #[prost(uint32, optional, tag = "7")]
    max_turns: Option<u32>,
    #[prost(uint32, repeated, tag = "8")]
    over_limit: Vec<u32>,
    #[prost(uint64, tag = "9")]
    archived: u64,
    #[prost(uint64, tag = "10")]
    summary_tokens: u64,
    #[prost(uint32, optional, tag = "11")]
    summary_limit: Option<u32>,
    #[prost(uint64, tag = "12")]
    segments: u64,
    #[prost(uint64, tag = "13")]
    covered: u64,
    #[prost(uint64, tag = "14")]
    provisional: u64,
    #[prost(message, optional, tag = "15")]
    advice: Option<StoredAdvice>,
}

#[derive(Clone, Copy, PartialEq, Message)]
struct StoredAdvice {
    #[prost(uint32, tag = "1")]
    threshold: u32,
    #[prost(uint64, tag = "2")]
    utterances: u64,
}

impl Kind for Outcomes {
    const NUMBER: u8 = 11;
    const VERSION: u8 = 1;
    const NAME: &'static str = "outcome";
    type Key = OutcomeName;
    type Value = Outcome;

    fn write_key(key: &OutcomeName, to: &mut KeyWriter) {
        to.text(key.namespace.as_str()).text(&key.rpc).last(key.request.as_str());
    }

    fn read_key(parts: &mut KeyReader<'_>) -> Result<OutcomeName, Fault> {
        let (namespace, rpc) = (parts.id(Namespace::new)?, parts.text()?.to_owned());
        match rpc.is_empty() {
            true => Err(Fault::wrong("the call's name", "is empty")),
            false => Ok(OutcomeName { namespace, rpc: rpc.into(), request: parts.last_id(RequestId::new)? }),
        }
    }

    fn show(key: &OutcomeName) -> String {
        format!("of {} {} of {}", key.rpc, key.request, key.namespace)
    }

    fn room(_: &Outcome) -> usize {
        128
    }

    fn write(_: &OutcomeName, value: &Outcome, to: &mut Vec<u8>) {
        let stored = Stored {
            body_high: (value.body >> 64) as u64,
            body_low: value.body as u64,
            time: value.time.0,
            conversation: value.conversation.as_str().to_owned(),
            revision: value.revision.0,
            started: value.started,
            memorized: steps(&value.memorized).collect(),
            evicted: steps(&value.evicted).collect(),
            forgotten: steps(&value.forgotten).collect(),
            restored: steps(&value.restored).collect(),
            target: value.target.map(Sequence::get),
            rebuilt_segments: value.rebuilt_segments,
            capacity: Some(StoredCapacity::of(&value.capacity)),
            ended: value.ended.as_ref().map(|id| id.as_str().to_owned()),
        };
        append(&stored, to);
    }

    fn read(_: &OutcomeName, payload: &[u8]) -> Result<Outcome, Fault> {
        let stored: Stored = message(payload)?;
        let conversation =
            |id: &str| ConversationId::new(id).map_err(|error| Fault::wrong("the conversation", error));
        let capacity = stored.capacity.ok_or_else(|| Fault::wrong("the capacity", "is missing"))?;
        Ok(Outcome {
            body: u128::from(stored.body_high) << 64 | u128::from(stored.body_low),
            time: Timestamp(stored.time),
            conversation: conversation(&stored.conversation)?,
            revision: revision("the revision", stored.revision)?,
            started: stored.started,
            ended: stored.ended.as_deref().map(conversation).transpose()?,
            memorized: stepped("the memorized ranges", &stored.memorized)?,
            evicted: stepped("the evicted ranges", &stored.evicted)?,
            forgotten: stepped("the forgotten ranges", &stored.forgotten)?,
            restored: stepped("the restored ranges", &stored.restored)?,
            target: stored.target.map(|target| sequence("the target", target)).transpose()?,
            rebuilt_segments: stored.rebuilt_segments,
            capacity: capacity.capacity()?,
        })
    }
}

impl StoredCapacity {
    fn of(capacity: &Capacity) -> Self {
        Self {
            utterances: capacity.utterances,
            forgotten: capacity.forgotten,
            turns: capacity.turns,
            tokens: capacity.tokens,
            max_utterances: capacity.max_utterances,
            max_tokens: capacity.max_tokens,
            max_turns: capacity.max_turns,
            over_limit: capacity.over_limit.iter().map(|cause| cause.number().into()).collect(),
            archived: capacity.archived,
            summary_tokens: capacity.summary_tokens,
            summary_limit: capacity.summary_limit,
            segments: capacity.segments,
            covered: capacity.covered,
            provisional: capacity.provisional,
            advice: capacity.advice.map(StoredAdvice::of),
        }
    }

    fn capacity(self) -> Result<Capacity, Fault> {
        let over_limit: Result<_, Fault> = self.over_limit.into_iter().map(numbered).collect();
        Ok(Capacity {
            utterances: self.utterances,
            forgotten: self.forgotten,
            turns: self.turns,
            tokens: self.tokens,
            max_utterances: self.max_utterances,
            max_tokens: self.max_tokens,
            max_turns: self.max_turns,
            over_limit: over_limit?,
            archived: self.archived,
            summary_tokens: self.summary_tokens,
            summary_limit: self.summary_limit,
            segments: self.segments,
            covered: self.covered,
            provisional: self.provisional,
            advice: self.advice.map(StoredAdvice::advice),
        })
    }
}

impl StoredAdvice {
    fn of(Advice { threshold, utterances }: Advice) -> Self {
        Self { threshold, utterances }
    }

    fn advice(self) -> Advice {
        Advice { threshold: self.threshold, utterances: self.utterances }
    }
}
