//! Fits a history into the limits as it is written.

use crate::history::{
    Prepared, Request, Warning, WarningKind,
    units::{bytes, cost, write},
};
use utterd_domain::{
    Draft, More, Result, Role, TokenCounter,
    context::wording::OPENING,
    history::{
        Entry, Unit,
        alternation::{Alternation, merge},
        cut::{Cost, Frame, Kept, Limit, cut, too_small},
        recall::{Scale, cut_and_recall},
        shorten::shorten,
    },
};

/// A history that fits.
pub struct Fit {
    /// What goes to the model, without what is told of the messages that do not.
    pub prepared: Prepared,
    /// The places of the units that did not fit, each with the limit.
    pub left_out: Vec<(usize, Limit)>,
}

impl Fit {
    /// Cuts, merges and writes.
    ///
    /// The cut measures each message on its own, and joined messages can take a byte or a token more or less.
    /// So the written result is measured again, and the oldest unit is removed until it is within the limits.
    pub fn of(units: &[Unit], request: &Request, counter: &dyn TokenCounter) -> Result<Self> {
        let most = Cost::from(request.limits);
        let frame = request.frame(counter);
        let bytes = |draft: &Draft| bytes(draft, request);
        let mut kept = match &request.recall {
            Some(recall) => cut_and_recall(units, recall, most, frame, &Scale { bytes: &bytes, counter })?,
            None => cut(units, most, frame)?,
        };
        loop {
            let (entries, warnings) = request.finished(&kept);
            let mut prepared = Prepared { warnings, ..write(&entries, request) };
            let tokens = entries.iter().map(|entry| entry.draft.tokens(counter));
            prepared.token_count = tokens.fold(0, u32::saturating_add);
            let bytes = (prepared.messages_json.len() + prepared.system.len()) as u64;
            let cost = Cost { messages: 0, bytes, tokens: prepared.token_count.into() };
            let Some(limit) = cost.above(most) else {
                prepared.recalled = kept.recalled.map_or_else(Vec::new, |recalled| recalled.places);
                return Ok(Self { prepared, left_out: kept.left_out });
            };
            if !kept.drop_oldest(limit) {
                return Err(too_small(limit, most, cost));
            }
        }
    }
}

/// Put first if the format requires a user's message there, as in a context.
fn opening() -> Entry {
    Entry { index: None, draft: Draft::of(Role::User, OPENING, More::default()) }
}

impl Request {
    /// Cuts the newest unit if it exceeds a limit by itself.
    pub fn shorten_newest(&self, units: &mut [Unit], counter: &dyn TokenCounter) -> Option<Warning> {
        let newest =
            units.last_mut().filter(|newest| !self.whole_messages && newest.role() != Role::System)?;
        let Frame { around, lead } = self.frame(counter);
        let lead = if newest.role() == Role::Assistant { lead } else { Cost::default() };
        let most = Cost { messages: u64::MAX, ..Cost::from(self.limits) }.minus(around.plus(lead))?;
        let text = match newest.message.index {
            Some(index) => format!("the message at {index} is"),
            None => "the prompt is".to_owned(),
        };
        let text = format!("{text} longer than the limits, and was cut to its head and tail");
        let cost = |entry: &Entry| cost(entry, self, counter);
        let is_cut = shorten(newest, most, &cost, counter);
        is_cut.then_some(Warning { kind: WarningKind::MessagesTrimmed, text })
    }

    fn frame(&self, counter: &dyn TokenCounter) -> Frame {
        // Two brackets, and one comma fewer than messages.
        let around = Cost { bytes: 1, ..Cost::default() };
        let lead = match self.system_apart() {
            true => Cost { messages: 1, ..cost(&opening(), self, counter) },
            false => Cost::default(),
        };
        Frame { around, lead }
    }

    /// The messages as they will be written.
    fn finished(&self, kept: &Kept<'_>) -> (Vec<Entry>, Vec<Warning>) {
        let mut warnings = Vec::new();
        let mut entries: Vec<Entry> = kept.entries().cloned().collect();
        if self.system_apart() {
            // The sort is stable: messages stay in their order.
            entries.sort_by_key(|entry| entry.draft.role != Role::System);
            warnings.extend(open(&mut entries));
        }
        if self.alternation == Alternation::Merge {
            let (merged, joined) = merge(entries);
            let text = format!("messages merged with the one of the same role before them: {joined}");
            warnings.extend((joined > 0).then_some(Warning { kind: WarningKind::MessagesMerged, text }));
            entries = merged;
        }
        if self.system_apart() {
            entries.last_mut().filter(|last| last.draft.role == Role::Assistant).map(trim_end);
        }
        (entries, warnings)
    }
}

/// Puts a user message first if there is none.
fn open(entries: &mut Vec<Entry>) -> Option<Warning> {
    let first = entries.iter().position(|entry| entry.draft.role != Role::System)?;
    if entries[first].draft.role == Role::User {
        return None;
    }
    entries.insert(first, opening());
    let text = format!("the messages kept do not begin with a user's; {OPENING:?} was put before them");
    Some(Warning { kind: WarningKind::PlaceholderAdded, text })
}

/// Anthropic refuses white space at the end of an assistant's last text.
fn trim_end(last: &mut Entry) {
    last.draft.content = last.draft.content.trim_end().into();
}
