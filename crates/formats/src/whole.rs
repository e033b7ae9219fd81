//! A conversation being exported.

use std::{collections::BTreeMap, sync::Arc};

use serde_json::Value;

use crate::{
    Format, Losses, Unanswered,
    extras::Parts,
    provider::Provider,
    refused::LeftOut,
    repair::{self, Line},
};
use utterd_domain::{
    Timestamp, Utterance, fork::origin::Provenance, segment::ImportedSummary, state::StateValue,
};

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
    /// For each utterance, where it was first said; empty for formats that cannot tell.
    pub origins: &'a [Vec<Provenance>],
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
        let lines = repair::lines(said, &pairing, provider.format, repairs.unanswered, as_it_came, &mut lose);
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
        lose("state", !persists && !self.state.is_empty());
        lose("summaries", !persists && !self.summaries.is_empty());
    }
}

/// The prefix of the ids that an import makes up.
pub const IMPORTED: &str = "import-";
