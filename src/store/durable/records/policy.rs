//! A conversation's limits.

use std::time::Duration;

use prost::Message;

use crate::domain::{LineageId, Marks, Policy};

use super::{
    Fault, KeyReader, KeyWriter, Kind,
    kind::{append, message},
    number::{Numbered, numbered},
};

/// The kind of policies, by the lineage that the conversation writes to.
#[derive(Clone, Copy, Debug)]
pub struct Policies;

#[derive(Clone, PartialEq, Message)]
struct Stored {
    #[prost(message, optional, tag = "1")]
    utterances: Option<StoredMarks>,
    #[prost(message, optional, tag = "2")]
    tokens: Option<StoredMarks>,
    #[prost(message, optional, tag = "3")]
    turns: Option<StoredMarks>,
    #[prost(bool, tag = "4")]
    summarization_enabled: bool,
    #[prost(uint32, optional, tag = "5")]
    summary_token_limit: Option<u32>,
    #[prost(uint32, tag = "6")]
    oversize: u32,
    #[prost(uint32, tag = "7")]
    archive_limit: u32,
    #[prost(message, optional, tag = "8")]
    expire_after: Option<StoredDuration>,
    #[prost(bool, optional, tag = "9")]
    llm_summaries: Option<bool>,
    #[prost(string, optional, tag = "10")]
    summary_model: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Message)]
struct StoredMarks {
    #[prost(uint32, tag = "1")]
    max: u32,
    #[prost(uint32, optional, tag = "2")]
    keep: Option<u32>,
}

#[derive(Clone, Copy, PartialEq, Message)]
struct StoredDuration {
    #[prost(uint64, tag = "1")]
    seconds: u64,
    #[prost(uint32, tag = "2")]
    nanoseconds: u32,
}

impl Kind for Policies {
    const NUMBER: u8 = 4;
    const VERSION: u8 = 1;
    const NAME: &'static str = "policy";
    type Key = LineageId;
    type Value = Policy;

    fn write_key(key: &LineageId, to: &mut KeyWriter) {
        to.lineage(*key);
    }

    fn read_key(parts: &mut KeyReader<'_>) -> Result<LineageId, Fault> {
        parts.lineage()
    }

    fn show(key: &LineageId) -> String {
        key.to_string()
    }

    fn write(_: &LineageId, value: &Policy, to: &mut Vec<u8>) {
        let stored = Stored {
            utterances: value.utterances.map(StoredMarks::of),
            tokens: value.tokens.map(StoredMarks::of),
            turns: value.turns.map(StoredMarks::of),
            summarization_enabled: value.summarization_enabled,
            summary_token_limit: value.summary_token_limit,
            oversize: value.oversize.number().into(),
            archive_limit: value.archive_limit,
            expire_after: value.expire_after.map(StoredDuration::of),
            llm_summaries: value.llm_summaries,
            summary_model: value.summary_model.as_deref().map(str::to_owned),
        };
        append(&stored, to);
    }

    fn read(_: &LineageId, payload: &[u8]) -> Result<Policy, Fault> {
        let stored: Stored = message(payload)?;
        let marks = |part, marks: Option<StoredMarks>| marks.map(|marks| marks.marks(part)).transpose();
        Ok(Policy {
            utterances: marks("the marks of utterances", stored.utterances)?,
            tokens: marks("the marks of tokens", stored.tokens)?,
            turns: marks("the marks of turns", stored.turns)?,
            summarization_enabled: stored.summarization_enabled,
            summary_token_limit: stored.summary_token_limit,
            oversize: numbered(stored.oversize)?,
            archive_limit: stored.archive_limit,
            expire_after: stored.expire_after.map(StoredDuration::duration).transpose()?,
            llm_summaries: stored.llm_summaries,
            summary_model: stored.summary_model.map(Into::into),
        })
    }
}

impl StoredMarks {
    fn of(marks: Marks) -> Self {
        Self { max: marks.max(), keep: marks.given_keep() }
    }

    fn marks(self, part: &'static str) -> Result<Marks, Fault> {
        let max = self.max;
        match self.keep {
            _ if max == 0 => Err(Fault::wrong(part, "have the maximum 0")),
            None => Ok(Marks::of(max)),
            Some(keep) => {
                let marks = Marks::with_keep(max, keep);
                marks.ok_or_else(|| Fault::wrong(part, format_args!("keep {keep} of {max}")))
            }
        }
    }
}

impl StoredDuration {
    fn of(duration: Duration) -> Self {
        Self { seconds: duration.as_secs(), nanoseconds: duration.subsec_nanos() }
    }

    fn duration(self) -> Result<Duration, Fault> {
        match self.nanoseconds {
            0..1_000_000_000 => Ok(Duration::new(self.seconds, self.nanoseconds)),
            more => Err(Fault::wrong("the time to expiry", format_args!("has {more} nanoseconds"))),
        }
    }
}
