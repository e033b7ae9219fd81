//! How a conversation ended.

use std::sync::Arc;

use prost::Message;

use crate::domain::{Ending, LineageId, Timestamp};

use super::{
    Fault, KeyReader, KeyWriter, Kind,
    kind::{append, message},
};

/// The kind of endings, by the lineages of conversations that have ended.
#[derive(Clone, Copy, Debug)]
pub struct Endings;

#[derive(Clone, PartialEq, Message)]
struct Stored {
    #[prost(sint64, tag = "1")]
    time: i64,
    #[prost(string, tag = "2")]
    reason: String,
    #[prost(string, optional, tag = "3")]
    title: Option<String>,
    #[prost(string, optional, tag = "4")]
    summary: Option<String>,
}

impl Kind for Endings {
    const NUMBER: u8 = 15;
    const VERSION: u8 = 1;
    const NAME: &'static str = "ending";
    type Key = LineageId;
    type Value = Ending;

    fn write_key(key: &LineageId, to: &mut KeyWriter) {
        to.lineage(*key);
    }

    fn read_key(parts: &mut KeyReader<'_>) -> Result<LineageId, Fault> {
        parts.lineage()
    }

    fn show(key: &LineageId) -> String {
        key.to_string()
    }

    fn write(_: &LineageId, value: &Ending, to: &mut Vec<u8>) {
        let text = |text: &Option<Arc<str>>| text.as_deref().map(str::to_owned);
        let stored = Stored {
            time: value.time.0,
            reason: value.reason.as_ref().to_owned(),
            title: text(&value.title),
            summary: text(&value.summary),
        };
        append(&stored, to);
    }

    fn read(_: &LineageId, payload: &[u8]) -> Result<Ending, Fault> {
        let stored: Stored = message(payload)?;
        Ok(Ending {
            time: Timestamp(stored.time),
            reason: stored.reason.into(),
            title: stored.title.map(Arc::from),
            summary: stored.summary.map(Arc::from),
        })
    }
}
