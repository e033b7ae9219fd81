//! Fits a history into the limits as it is written.

use crate::{
    domain::{
        Refusal, Role, TokenCounter,
        context::wording::OPENING,
        history::{
            Dropped, Entry, Unit,
            alternation::{Alternation, merge},
            cut::{Cost, Kept, Measure, cut},
            recall::cut_and_recall,
        },
    },
    formats::history::{
        Format, Request, Warning, WarningKind, said,
        write::{self, Written, write},
    },
};

/// Put first if a format requires a user message there and what is kept begins with something else. If nothing
/// before that was left out, it is [`OPENING`], as in a context, which is shorter.
const PLACEHOLDER: &str = "[earlier messages are left out]";

/// A history that fits.
pub struct Fit {
    /// The messages.
    pub written: Written,
    /// Their token count.
    pub token_count: u32,
    /// The messages that did not fit.
    pub dropped: Vec<Dropped>,
    /// The places of the dropped messages that are quoted.
    pub recalled: Vec<usize>,
    /// The changes that were made.
    pub warnings: Vec<Warning>,
}

impl Fit {
    /// Cuts, merges and writes.
    ///
    /// The cut measures each message on its own, and joined messages can take a byte or a token more or less.
    /// So the written result is measured again, and the oldest unit is removed until it is within the limits.
    pub fn of(units: Vec<Unit>, request: &Request, counter: &dyn TokenCounter) -> Result<Self, Refusal> {
        let scale = Scale { request, counter };
        let (mut kept, mut dropped) = match &request.recall {
            Some(recall) => cut_and_recall(units, recall, &request.limits, &scale, counter)?,
            None => cut(units, &request.limits, &scale)?,
        };
        loop {
            let (entries, warnings) = request.finished(&kept);
            let written = write(&entries, request.format);
            let token_count =
                entries.iter().map(|entry| entry.draft.tokens(counter)).fold(0, u32::saturating_add);
            let bytes = written.messages_json.len() + written.system.len();
            let above = Cost { messages: 0, bytes, tokens: u64::from(token_count) }.above(&request.limits);
            let Some(above) = above else {
                let recalled = kept.recalled.map_or_else(Vec::new, |recalled| recalled.places);
                return Ok(Self { written, token_count, dropped, recalled, warnings });
            };
            if !kept.drop_oldest(above, &mut dropped) {
                return Err(above.refusal());
            }
        }
    }
}

impl Request {
    /// The messages as they will be written.
    fn finished(&self, kept: &Kept) -> (Vec<Entry>, Vec<Warning>) {
        let mut warnings = Vec::new();
        let mut entries: Vec<Entry> = kept.entries().cloned().collect();
        if self.format == Format::AnthropicMessages {
            // The sort is stable: messages stay in their order.
            entries.sort_by_key(|entry| entry.draft.role != Role::System);
            warnings.extend(put_lead(&mut entries));
        }
        if self.alternation == Alternation::Merge {
            let (merged, joined) = merge(entries);
            let text = format!("messages merged with the one of the same role before them: {joined}");
            warnings.extend((joined > 0).then_some(Warning { kind: WarningKind::MessagesMerged, text }));
            entries = merged;
        }
        if self.format == Format::AnthropicMessages {
            entries.last_mut().filter(|last| last.draft.role == Role::Assistant).map(trim_end);
        }
        (entries, warnings)
    }
}

/// Puts a user message first if there is none.
fn put_lead(entries: &mut Vec<Entry>) -> Option<Warning> {
    let first = entries.iter().position(|entry| entry.draft.role != Role::System)?;
    if entries[first].draft.role == Role::User {
        return None;
    }
    let lead = if is_whole_before(entries, first) { OPENING } else { PLACEHOLDER };
    entries.insert(first, Entry { index: None, draft: said(Role::User, lead) });
    let text = format!("the messages kept do not begin with a user's; {lead:?} was put before them");
    Some(Warning { kind: WarningKind::PlaceholderAdded, text })
}

/// Whether every message that came before the one at `place` is kept.
fn is_whole_before(entries: &[Entry], place: usize) -> bool {
    let Some(index) = entries[place].index else { return true };
    let mut before: Vec<usize> =
        entries.iter().filter_map(|entry| entry.index).filter(|it| *it < index).collect();
    before.sort_unstable();
    before.dedup();
    before.len() == index
}

/// Anthropic refuses white space at the end of an assistant's last text.
fn trim_end(last: &mut Entry) {
    last.draft.content = last.draft.content.trim_end().into();
}

/// Measures messages in their written form.
struct Scale<'a> {
    request: &'a Request,
    counter: &'a dyn TokenCounter,
}

impl Measure for Scale<'_> {
    fn frame(&self) -> Cost {
        // Two brackets, and one comma fewer than messages.
        Cost { bytes: 1, ..Cost::default() }
    }

    fn entry(&self, entry: &Entry) -> Cost {
        let tokens = self.request.limits.tokens.map_or(0, |_| entry.draft.tokens(self.counter));
        Cost {
            messages: usize::from(entry.index.is_some()),
            bytes: write::bytes(entry, self.request.format),
            tokens: u64::from(tokens),
        }
    }

    fn lead(&self, first: &Unit) -> Cost {
        match (self.request.format, first.role()) {
            (Format::AnthropicMessages, Role::Assistant) => {
                let entry = Entry { index: None, draft: said(Role::User, PLACEHOLDER) };
                Cost { messages: 1, ..self.entry(&entry) }
            }
            _ => Cost::default(),
        }
    }
}
