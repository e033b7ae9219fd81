//! The request for a context.

use crate::{Conversation, Marks, Policy, context::mask, limits::DEFAULT_MAX_TOKENS};

/// What to build.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Request {
    /// The format to render the messages in.
    pub format: Format,
    /// A system prompt that is not stored: the first system message. White space alone means none.
    pub instructions: Option<Box<str>>,
    /// The maximum tokens; `None` means [`Request::default_budget`], or what must be rendered if that is
    /// more.
    pub budget: Option<u32>,
    /// The maximum number of turns, 0 for all; `None` means the policy's (seed 003, `maxRecentTurns`).
    pub max_turns: Option<u32>,
    /// Whether units that do not fit are left out in steps of two fifths of the limit, so that a context
    /// begins like the one before it; otherwise as few as possible are left out. `None` means yes, unless
    /// `max_turns` is given.
    pub stable_steps: Option<bool>,
    /// Where the summary is placed.
    pub summary: SummaryPlacement,
    /// How much can be recalled; `None` recalls nothing.
    pub recall: Option<RecallLimits>,
    /// Tool results that are at least this many turns old are masked, this many turns at a time (at least
    /// two); `None` means never.
    pub mask_after_turns: Option<u32>,
    /// The same for images; 0 means that all of them are masked.
    pub mask_images_after_turns: Option<u32>,
    /// What happens to units with unanswered calls.
    pub unanswered: Unanswered,
    /// Whether turns of the archive fill what the window leaves of the budget.
    pub include_archive: bool,
    /// Whether only tool results are trimmed: a budget that is too small for what was said is refused.
    pub whole_messages: bool,
    /// Whether the caller gives the model its own stored messages in the place of those that are unchanged: then these
    /// count what they do as they are stored.
    pub as_stored: bool,
}

/// The limits of what is recalled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RecallLimits {
    /// The maximum number of matches; `None` means as many as fit.
    pub matches: Option<usize>,
    /// The maximum percentage of the budget; `None` means [`RECALL_PERCENT`], plus what the recent units
    /// leave.
    pub percent: Option<u32>,
}

/// The default share for recalled utterances, in percent of the budget.
pub const RECALL_PERCENT: u32 = 50;
/// The budget from which the recalled share is computed if the budget is unlimited.
pub(super) const UNLIMITED_RECALL_TOKENS: u64 = DEFAULT_MAX_TOKENS as u64;
/// Added to the default budget for a rendering's own words.
const OWN_WORDS_TOKENS: u32 = 64;

impl Request {
    /// The tokens that a conversation's own limits allow: the window's, the summary's, and 64 for a
    /// rendering's own words; `None` if one of them is unlimited. Given instructions come on top.
    pub fn default_budget(conversation: &Conversation) -> Option<u32> {
        let policy = &conversation.head.policy;
        let window = policy.tokens?.max();
        Some(window.saturating_add(policy.summary_token_limit?).saturating_add(OWN_WORDS_TOKENS))
    }

    /// The maximum number of turns under `policy`; `None` means all of them. What the archive adds is not limited
    /// by what the window holds.
    pub(super) fn most_turns(&self, policy: &Policy) -> Option<u32> {
        let of_policy = || policy.turns.filter(|_| !self.include_archive).map(Marks::max);
        self.max_turns.or_else(of_policy).filter(|most| *most > 0)
    }

    /// The first turn whose results are not masked, if the newest turn is `now`.
    pub(super) fn first_whole_turn(&self, now: u32) -> u32 {
        self.mask_after_turns.map_or(0, |turns| mask::first_whole_turn(turns, now))
    }

    /// The first turn whose images are not masked, if the newest turn is `now`.
    pub fn first_turn_with_images(&self, now: u32) -> u32 {
        match self.mask_images_after_turns {
            None => 0,
            Some(0) => u32::MAX,
            Some(turns) => mask::first_whole_turn(turns, now),
        }
    }

    /// Whether units that do not fit are left out in steps.
    pub(super) fn in_steps(&self) -> bool {
        self.stable_steps.unwrap_or(self.max_turns.is_none_or(|most| most == 0))
    }
}

/// The format to render messages in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Format {
    /// OpenAI's chat messages.
    #[default]
    OpenAiChat,
    /// Anthropic's messages, with the system prompt apart.
    AnthropicMessages,
    /// Text for people and prompts (seed 000, `getContextPrompt`). Tool results have no place in it.
    Text,
}

/// Where the summary is placed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum SummaryPlacement {
    /// In a system message (seed 003, "not inline").
    #[default]
    System,
    /// In a marked user message (seed 004, "Summary Message Format").
    UserMessage,
}

/// What happens to a unit with calls that have no result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Unanswered {
    /// It is left out.
    #[default]
    Omit,
    /// A placeholder replaces each result.
    Placeholder,
}
