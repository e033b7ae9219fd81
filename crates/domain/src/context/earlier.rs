//! How the recipient's earlier conversations ended, as a message.

use crate::{
    ConversationId, Role,
    context::{Earlier, Format, How, Message, SummaryPlacement, wording::Costs},
};

/// The share of the budget for it, in percent, while the conversation is new.
pub(super) const EARLIER_PERCENT: u64 = 15;
/// The last turns with the whole share and with half of it; after that, a quarter remains.
const WHOLE_AND_HALF_TURNS: [u32; 2] = [8, 32];

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
    told.first()?;
    text.push_str(after);
    let tokens = costs.of_words(&text);
    Some((Message::own(role, How::Earlier, text, tokens), told))
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
