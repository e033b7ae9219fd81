//! A conversation on its way out.

use std::{collections::BTreeMap, sync::Arc};

use serde_json::{Map, Value};

use crate::{
    domain::{Timestamp, Utterance},
    formats::{
        Format, Losses, Unanswered, anthropic,
        extras::Parts,
        openai_chat, openai_responses, persisted,
        repair::{self, Line},
    },
};

/// A conversation with its utterances, of the window and the archive.
#[derive(Clone, Debug)]
pub struct Whole<'a> {
    /// Its id.
    pub id: &'a str,
    /// Its title.
    pub title: Option<&'a str>,
    /// The summary that was made when it ended.
    pub summary: Option<&'a str>,
    /// When it started.
    pub start: Timestamp,
    /// When it ended; `None` while it goes on.
    pub end: Option<Timestamp>,
    /// Its labels.
    pub labels: &'a BTreeMap<String, String>,
    /// Ascending, without those that are forgotten.
    pub utterances: &'a [Arc<Utterance>],
}

/// How an export is repaired.
#[derive(Clone, Copy, Debug, Default)]
pub struct Repairs {
    /// What becomes of calls that were never answered.
    pub unanswered: Unanswered,
    /// Also what the same format brought in as it is.
    pub all: bool,
}

/// The conversation in `format`, and what that cannot carry. Null for a format that is only read.
pub fn export(whole: &Whole<'_>, format: Format, repairs: Repairs) -> (Value, Losses) {
    let mut losses = Losses::default();
    let value = match format {
        Format::OpenAiChat => openai_chat::export(whole, repairs, &mut losses),
        Format::OpenAiResponses => openai_responses::export(whole, repairs, &mut losses),
        Format::Anthropic => anthropic::export(whole, repairs, &mut losses),
        Format::Persisted => persisted::export(whole, &mut losses),
        Format::Legacy => Value::Null,
    };
    whole.note_uncarried(format, &mut losses);
    (value, losses)
}

/// The messages or items of an exported conversation, without what stands around them.
pub fn messages(value: Value, format: Format) -> Vec<Value> {
    match value {
        Value::Array(messages) => messages,
        Value::Object(mut fields) => match fields.remove(list(&fields, format)) {
            Some(Value::Array(messages)) => messages,
            other => other.into_iter().collect(),
        },
        other => vec![other],
    }
}

/// An exported conversation as an object that names it: one among others.
pub fn named(value: Value, format: Format, id: &str) -> Value {
    let mut named = Map::from_iter([("id".to_owned(), id.into())]);
    match value {
        Value::Object(fields) => named.extend(fields),
        messages => drop(named.insert(list(&named, format).to_owned(), messages)),
    }
    Value::Object(named)
}

/// The field that holds the messages.
fn list(fields: &Map<String, Value>, format: Format) -> &'static str {
    match format {
        Format::OpenAiResponses => openai_responses::list(fields),
        _ => "messages",
    }
}

impl<'a> Whole<'a> {
    /// What the model holds of each utterance.
    pub(super) fn parts(&self) -> Vec<Parts<'a>> {
        self.utterances.iter().map(|utterance| Parts::from(&**utterance)).collect()
    }

    /// What goes out, repaired as far as `format` did not bring it in as it is.
    pub(super) fn lines<'p>(
        &self,
        said: &[Parts<'p>],
        format: Format,
        repairs: Repairs,
        losses: &mut Losses,
    ) -> Vec<Line<'p>> {
        let as_it_came = |place: usize| !repairs.all && said[place].kept(format).is_some();
        let lost = |place: usize, field: &str, reason: &str| {
            losses.add(field, reason, Some(self.utterances[place].sequence));
        };
        repair::lines(said, format, repairs.unanswered, as_it_came, lost)
    }

    /// What an utterance became; notes when not all that was kept of it still fits.
    pub(super) fn rendered(&self, place: usize, (value, fits): (Value, bool), losses: &mut Losses) -> Value {
        if !fits {
            let reason = "what was kept no longer fits the content, which has changed";
            losses.add("extras_json", reason, Some(self.utterances[place].sequence));
        }
        value
    }

    fn note_uncarried(&self, format: Format, losses: &mut Losses) {
        let persists = format == Format::Persisted;
        for utterance in self.utterances {
            let mut lose = |field: &str, lost: bool| {
                if lost {
                    losses.add(field, "the format has no place for it", Some(utterance.sequence));
                }
            };
            lose(
                "utterance_id",
                !persists && utterance.given_id().is_some_and(|id| !id.starts_with(IMPORTED)),
            );
            lose("create_time", !persists);
            lose("pinned", utterance.pinned);
            let Some(more) = utterance.more.as_deref() else { continue };
            lose("name", format != Format::OpenAiChat && more.name.is_some());
            lose("tools_used", !persists && !more.tools_used.is_empty());
            lose("metadata", !more.metadata.is_empty());
            lose("awaits_answer", more.awaits_answer);
            for other in Parts::from(&**utterance).extras().unwrap_or_default().keys() {
                lose(&format!("extras_json.{other}"), other != format.name());
            }
        }
        let mut lose = |field: &str, lost: bool| {
            if lost {
                losses.add(field, "the format has no place for it", None);
            }
        };
        lose("title", !persists && self.title.is_some());
        lose("closing_summary", !persists && self.summary.is_some());
    }
}

/// How the ids start that an import makes for what has none.
pub const IMPORTED: &str = "import-";
