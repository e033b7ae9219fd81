//! What context is asked for.

use crate::domain::Conversation;

/// What is to be built.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// What the messages are to be rendered as.
    pub format: Format,
    /// The most tokens; `None` is [`Request::default_budget`], or what must be rendered if that is more.
    pub budget: Option<u32>,
    /// The most turns; `None` is all of them. Turns leave in steps of two fifths of it.
    pub max_turns: Option<u32>,
    /// Where the summary stands.
    pub summary: SummaryPlacement,
    /// Whether a quarter of what is left is for recalled utterances.
    pub recall: bool,
    /// Tool results that are at least so many turns old are masked, as many turns at a time (two at
    /// least); `None` is never.
    pub mask_after_turns: Option<u32>,
    /// What becomes of units with unanswered calls.
    pub unanswered: Unanswered,
}

/// Turns in a context, by default (seed 003, `maxRecentTurns`).
pub const DEFAULT_TURNS: u32 = 10;
/// Added to the default budget for what a rendering says itself.
const OWN_WORDS_TOKENS: u32 = 64;

impl Default for Request {
    fn default() -> Self {
        Self {
            format: Format::default(),
            budget: None,
            max_turns: Some(DEFAULT_TURNS),
            summary: SummaryPlacement::default(),
            recall: false,
            mask_after_turns: None,
            unanswered: Unanswered::default(),
        }
    }
}

impl Request {
    /// The tokens that a conversation's own limits allow: the window's, the summary's, and 64 for
    /// what a rendering says itself; `None` when one of them is unlimited.
    pub fn default_budget(conversation: &Conversation) -> Option<u32> {
        let policy = &conversation.head.policy;
        let window = policy.tokens?.max();
        Some(window.saturating_add(policy.summary_token_limit?).saturating_add(OWN_WORDS_TOKENS))
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
