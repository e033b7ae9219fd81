//! What context is asked for.

use crate::domain::{Conversation, Marks, Policy, limits::DEFAULT_MAX_TOKENS};

/// What is to be built.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Request {
    /// What the messages are to be rendered as.
    pub format: Format,
    /// A system prompt that is not stored: the first of the system's messages. White space alone is none.
    pub instructions: Option<Box<str>>,
    /// The most tokens; `None` is [`Request::default_budget`], or what must be rendered if that is more.
    pub budget: Option<u32>,
    /// The most turns, 0 being all; `None` is the policy's (seed 003, `maxRecentTurns`).
    pub max_turns: Option<u32>,
    /// Whether what a limit forces out leaves in steps of two fifths of it, so that one context begins
    /// as the one before; else as little leaves as must. `None` is yes unless turns are asked for.
    pub stable_steps: Option<bool>,
    /// Where the summary stands.
    pub summary: SummaryPlacement,
    /// How much may be recalled; `None` recalls nothing.
    pub recall: Option<RecallLimits>,
    /// Tool results that are at least so many turns old are masked, as many turns at a time (two at
    /// least); `None` is never.
    pub mask_after_turns: Option<u32>,
    /// What becomes of units with unanswered calls.
    pub unanswered: Unanswered,
}

/// How much may be recalled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RecallLimits {
    /// Matches at most; `None` is as many as fit.
    pub matches: Option<usize>,
    /// Per cent of the budget at most; `None` is [`RECALL_PERCENT`], and what the recent units leave.
    pub percent: Option<u32>,
}

/// The share of what is recalled by default, in per cent of the budget.
pub const RECALL_PERCENT: u32 = 50;
/// The budget whose share is recalled where there is none.
pub(super) const UNLIMITED_RECALL_TOKENS: u64 = DEFAULT_MAX_TOKENS as u64;
/// Added to the default budget for what a rendering says itself.
const OWN_WORDS_TOKENS: u32 = 64;

impl Request {
    /// The tokens that a conversation's own limits allow: the window's, the summary's, and 64 for
    /// what a rendering says itself; `None` when one of them is unlimited. Given instructions come on top.
    pub fn default_budget(conversation: &Conversation) -> Option<u32> {
        let policy = &conversation.head.policy;
        let window = policy.tokens?.max();
        Some(window.saturating_add(policy.summary_token_limit?).saturating_add(OWN_WORDS_TOKENS))
    }

    /// The most turns under `policy`; `None` is all of them.
    pub(super) fn most_turns(&self, policy: &Policy) -> Option<u32> {
        self.max_turns.or(policy.turns.map(Marks::max)).filter(|most| *most > 0)
    }

    /// Whether what a limit forces out leaves in steps.
    pub(super) fn in_steps(&self) -> bool {
        self.stable_steps.unwrap_or(self.max_turns.is_none_or(|most| most == 0))
    }
}

/// What messages are rendered as.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Format {
    /// OpenAI's chat messages.
    #[default]
    OpenAiChat,
    /// Anthropic's messages, with the system apart.
    AnthropicMessages,
    /// Text for people and prompts (seed 000, `getContextPrompt`). Tool results have no place in it.
    Text,
}

/// Where the summary stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum SummaryPlacement {
    /// In a system message (seed 003, "not inline").
    #[default]
    System,
    /// In a marked user message (seed 004, "Summary Message Format").
    UserMessage,
}

/// What becomes of a unit with calls that have no result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Unanswered {
    /// It is left out.
    #[default]
    Omit,
    /// A placeholder stands for each result.
    Placeholder,
}
