//! How the recipient's earlier conversations ended, as a message.

use std::sync::Arc;

use crate::domain::{
    ConversationId, Head, Role, Timestamp,
    context::{Format, How, Message, Source, SummaryPlacement, wording::Costs},
};

/// The share of the budget for it, in percent, while the conversation is new.
pub(super) const EARLIER_PERCENT: u64 = 15;
/// The last turns with the whole share and with half of it; after that, a quarter remains.
const WHOLE_AND_HALF_TURNS: [u32; 2] = [8, 32];

/// How another conversation of the recipient ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Earlier {
    source: Source,
    /// When it ended.
    pub end_time: Timestamp,
    summary: Option<Arc<str>>,
}

impl Earlier {
    /// How the conversation of `head` ended; `None` if it has not, or if nothing is known of it.
    pub fn of(head: &Head) -> Option<Self> {
        let ended = head.ended.as_ref()?;
        let (source, summary) = (Source::of(head), ended.summary.clone());
        let says = source.title.is_some() || summary.is_some();
        says.then_some(Self { source, end_time: ended.time, summary })
    }

    /// Its line: with the summary, or with its name alone. A line end within would look like another
    /// conversation.
    fn line(&self, whole: bool) -> String {
        let mut line = format!("- {}", self.source.name());
        if let Some(summary) = self.summary.as_ref().filter(|_| whole) {
            line.push(':');
            summary.split_whitespace().for_each(|word| line.extend([" ", word]));
        }
        line.push('\n');
        line
    }
}

/// The part of `most` tokens that a conversation of this many turns has for it. It shrinks at two turns only, so
/// that a context begins like the one before.
pub(super) fn room(most: u64, turns: u32) -> u64 {
    let halvings = WHOLE_AND_HALF_TURNS.iter().filter(|last| turns > **last).count();
    most >> halvings
}

/// The message about `earlier`, the newest first, in at most `room` tokens, and the conversations in it. What has
/// no room with its summary is named alone.
pub(super) fn message(
    earlier: &[Earlier],
    placement: SummaryPlacement,
    room: u64,
    costs: Costs<'_>,
) -> Option<(Message, Vec<ConversationId>)> {
    let (role, before, after) = frame(placement, costs.format);
    let mut text = before.to_owned();
    let mut told = Vec::new();
    for one in earlier {
        let fits = |line: &String| u64::from(costs.of_words(&format!("{text}{line}{after}"))) <= room;
        let Some(line) = [true, false].map(|whole| one.line(whole)).into_iter().find(fits) else { break };
        text.push_str(&line);
        told.push(one.source.id.clone());
    }
    text.push_str(after);
    let tokens = costs.of_words(&text);
    (!told.is_empty()).then(|| (Message::own(role, How::Earlier, text, tokens), told))
}

fn frame(placement: SummaryPlacement, format: Format) -> (Role, &'static str, &'static str) {
    match (format, placement) {
        (Format::Text, _) => (Role::System, "## Earlier conversations, the newest first\n", ""),
        (_, SummaryPlacement::System) => {
            (Role::System, "Earlier conversations with the user, the newest first:\n", "")
        }
        (_, SummaryPlacement::UserMessage) => {
            (Role::User, "[EARLIER CONVERSATIONS, the newest first]\n\n", "\n[END OF EARLIER CONVERSATIONS]")
        }
    }
}
