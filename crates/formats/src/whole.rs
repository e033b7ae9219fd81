//! A conversation being exported, and what its export cannot carry.

use std::{collections::BTreeMap, sync::Arc};

use serde_json::Value;

use crate::{
    Format, Unanswered,
    extras::Parts,
    message::has_halves,
    provider::{LeftOut, Provider},
    repair::{self, Line},
};
use utterd_domain::{Ranges, Sequence, Timestamp, Utterance, segment::ImportedSummary, state::StateValue};

/// A conversation with its utterances from the window and the archive.
#[derive(Clone, Debug)]
pub struct Whole<'a> {
    /// Its id.
    pub id: &'a str,
    /// Its title.
    pub title: Option<&'a str>,
    /// The summary that was made when it ended.
    pub summary: Option<&'a str>,
    /// The start time.
    pub start: Timestamp,
    /// The end time; `None` while it goes on.
    pub end: Option<Timestamp>,
    /// Its labels.
    pub labels: &'a BTreeMap<String, String>,
    /// The state values kept with it, by name.
    pub state: &'a [Arc<StateValue>],
    /// The imported summaries of what was said before it.
    pub summaries: &'a [ImportedSummary],
    /// Ascending, without forgotten ones.
    pub utterances: &'a [Arc<Utterance>],
}

/// How an export is repaired.
#[derive(Clone, Copy, Debug, Default)]
pub struct Repairs {
    /// What happens to unanswered calls.
    pub unanswered: Unanswered,
    /// Also repairs what came in unchanged in the same format.
    pub all: bool,
}

/// An utterance as it goes out.
pub(super) struct Written<'p> {
    pub(super) line: Line<'p>,
    /// What is kept of it for the format.
    pub(super) kept: Option<Value>,
    /// Its messages, or the blocks or items of its message.
    pub(super) values: Vec<Value>,
}

/// Why kept details are not written.
pub(super) const CHANGED: &str = "what was kept no longer fits the content, which has changed";

impl<'a> Whole<'a> {
    /// What the model holds of each utterance.
    pub(super) fn parts(&self) -> Vec<Parts<'a>> {
        self.utterances.iter().map(|utterance| Parts::from(&**utterance)).collect()
    }

    /// What goes out: `said`, repaired unless the provider's format brought it in as it is.
    pub(super) fn written<'p>(
        &self,
        said: &[Parts<'p>],
        provider: &Provider,
        repairs: Repairs,
        losses: &mut Losses,
    ) -> Vec<Written<'p>> {
        let as_it_came = |place: usize| !repairs.all && said[place].kept(provider.format).is_some();
        let mut lose = |place: usize, field: &str, reason: &str| {
            losses.add(field, reason, Some(self.utterances[place].sequence));
        };
        let pairing = repair::pairing(said);
        let lines = repair::lines(said, &pairing, provider, repairs.unanswered, as_it_came, &mut lose);
        let write = |line: Line<'p>| {
            let parts = line.parts();
            let kept = parts.kept(provider.format);
            let (mut values, fits) = provider.write(&parts, kept.as_ref());
            if !fits {
                lose(line.place, "extras_json", CHANGED);
            }
            if repairs.all {
                let mut left_out = LeftOut::new();
                values = (provider.sent)(&parts, values, &mut left_out);
                for name in left_out {
                    let reason = format!("{name} is not accepted by the API and left out");
                    lose(line.place, "extras_json", &reason);
                }
            }
            Written { line, kept, values }
        };
        lines.into_iter().map(write).collect()
    }

    pub(super) fn note_uncarried(&self, format: Format, losses: &mut Losses) {
        let persists = format == Format::Persisted;
        for utterance in self.utterances {
            let (parts, at) = (Parts::from(&**utterance), Some(utterance.sequence));
            let is_given = utterance.given_id().is_some_and(|id| !id.starts_with(IMPORTED));
            losses.lack("utterance_id", !persists && is_given, at);
            losses.lack("create_time", !persists, at);
            losses.lack("pinned", utterance.pinned, at);
            let Some(more) = parts.more else { continue };
            losses.lack("name", format != Format::OpenAiChat && more.name.is_some(), at);
            losses.lack("tools_used", !persists && !more.tools_used.is_empty(), at);
            losses.lack("metadata", !more.metadata.is_empty(), at);
            losses.lack("awaits_answer", more.awaits_answer, at);
            for other in parts.extras().unwrap_or_default().keys() {
                losses.lack(&format!("extras_json.{other}"), other != format.name(), at);
            }
            if has_halves(&parts) {
                losses.add("content", "halves of surrogate pairs become U+FFFD", at);
            }
        }
        losses.lack("title", !persists && self.title.is_some(), None);
        losses.lack("closing_summary", !persists && self.summary.is_some(), None);
        losses.lack("state", !persists && !self.state.is_empty(), None);
        losses.lack("summaries", !persists && !self.summaries.is_empty(), None);
    }
}

/// The prefix of the ids that an import makes up.
pub const IMPORTED: &str = "import-";

/// Something that a format cannot carry.
#[derive(Clone, Debug, PartialEq)]
pub struct Loss {
    /// What the export lacks, such as `metadata`.
    pub field: String,
    /// The reason.
    pub reason: String,
    /// The utterances that lack it; empty if the conversation does.
    pub sequences: Ranges,
}

/// The losses of an export, each listed once.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Losses(Vec<Loss>);

impl Losses {
    /// Records a loss for an utterance, or for the conversation.
    pub fn add(&mut self, field: &str, reason: &str, sequence: Option<Sequence>) {
        let same = |loss: &&mut Loss| loss.field == field && loss.reason == reason;
        let sequences = sequence.into_iter().collect();
        match self.0.iter_mut().find(same) {
            Some(loss) => loss.sequences.union(&sequences),
            None => self.push(field, reason, sequences),
        }
    }

    fn push(&mut self, field: &str, reason: &str, sequences: Ranges) {
        self.0.push(Loss { field: field.to_owned(), reason: reason.to_owned(), sequences });
    }

    /// Records that the format has no place for something that an utterance, or the conversation, has.
    fn lack(&mut self, field: &str, has: bool, sequence: Option<Sequence>) {
        if has {
            self.add(field, "the format has no place for it", sequence);
        }
    }

    /// Records a loss for several utterances, if there are any.
    pub fn add_all(&mut self, field: &str, reason: &str, sequences: Ranges) {
        if !sequences.is_empty() {
            self.push(field, reason, sequences);
        }
    }

    /// All losses, in the order in which they were found.
    pub fn into_vec(self) -> Vec<Loss> {
        self.0
    }
}
