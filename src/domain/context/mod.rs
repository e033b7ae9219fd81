//! BuildContext: what of a conversation goes to the model, in which order, within a budget.
//!
//! ```text
//! instructions · summary · pinned · [the turn's own user utterance] · recent units · newest
//!                                                            recalled before its user utterance ↑
//! ```
//!
//! - Units are indivisible: a result is never without its call, nor a call without its results,
//!   which follow it directly.
//! - What limits force out leaves in steps that depend on the conversation alone, so that one
//!   context begins as the one before did, until a step is taken.
//! - Tokens are those stored with the utterances; only what a rendering words anew is counted: see
//!   [`wording`]. Work grows with what is rendered, not with the window.
//! - The messages share the utterances; a format turns them into text.

mod assemble;
mod budget;
mod cut;
mod mask;
mod omitted;
mod pinned;
mod plan;
mod recalled;
mod recent;
mod summary;
#[cfg(test)]
pub(crate) mod tests;
mod trim;
mod turns;
mod unit;
pub mod wording;

use std::sync::Arc;

use crate::domain::{Conversation, Ranges, Refusal, Role, TokenCounter, ToolCall, Utterance};

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

/// What goes to the model.
#[derive(Clone, Debug, PartialEq)]
pub struct Context {
    /// What it is to be rendered as; its messages are worded for that.
    pub format: Format,
    /// The messages, in order. Each result follows its call, or another result of the same calls.
    pub messages: Vec<Message>,
    /// So many messages at the head are the system's: instructions, and the summary unless it is a
    /// user's message.
    pub head: usize,
    /// So many messages at the head will be the same in the next context of the same request, when
    /// utterances are only appended, and none is evicted, cut or masked.
    pub stable: usize,
    /// Tokens of all messages. For [`Format::Text`] an upper bound; rendering counts it.
    pub tokens: u32,
    /// The budget that held; `None` when it was unlimited.
    pub budget: Option<u32>,
    /// The utterances that a message recalls, ascending.
    pub recalled: Vec<Arc<Utterance>>,
    /// What was left out, and why.
    pub omitted: Vec<(Omission, Ranges)>,
}

/// One message.
#[derive(Clone, Debug, PartialEq)]
pub struct Message {
    /// Who speaks.
    pub role: Role,
    /// The utterance that it renders; `None` for the context's own words.
    pub utterance: Option<Arc<Utterance>>,
    /// What it says instead of the utterance's content.
    pub instead: Option<Box<str>>,
    /// For a tool's: which of the calls made last it answers, from 0.
    pub answers: usize,
    /// How it came about.
    pub how: How,
    /// Its cost; see [`wording`].
    pub tokens: u32,
}

/// How a message came about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum How {
    /// An utterance as it was said.
    Whole,
    /// A head instruction.
    Instruction,
    /// An important utterance, away from its place.
    Pinned,
    /// A tool result whose text is left out.
    Masked,
    /// A tool result that keeps its head and its tail.
    Trimmed,
    /// The summary.
    Summary,
    /// What was recalled.
    Recalled,
    /// Stands for what is missing: the result of a call, or a first user's message.
    Placeholder,
}

/// Why an utterance is left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Omission {
    /// It left the window; the summary stands for it.
    Evicted,
    /// It does not fit the budget.
    Budget,
    /// It is of an older turn than the last ones asked for.
    MaxTurns,
    /// A call of its unit has no result.
    UnansweredCall,
    /// It is soft-forgotten.
    Forgotten,
    /// It is a result that answers no call.
    Aside,
    /// It says nothing and calls nothing.
    Empty,
    /// The format has no place for it.
    Format,
}

impl Message {
    /// What it says; empty when it only calls tools.
    pub fn text(&self) -> &str {
        match (&self.instead, &self.utterance) {
            (Some(text), _) => text,
            (None, Some(utterance)) => &utterance.content,
            (None, None) => "",
        }
    }

    /// The tools that it calls.
    pub fn tool_calls(&self) -> &[ToolCall] {
        self.utterance.as_ref().map_or(&[], |utterance| utterance.tool_calls())
    }

    /// Who says it, where the role does not tell.
    pub fn name(&self) -> Option<&str> {
        self.utterance.as_ref()?.name()
    }

    /// The context's own words.
    fn own(role: Role, how: How, text: String, tokens: u32) -> Self {
        Self { role, utterance: None, instead: Some(text.into()), answers: 0, how, tokens }
    }
}

/// What a context may render that is not in the window.
#[derive(Clone, Copy, Debug, Default)]
pub struct Archived<'a> {
    /// The pinned utterances of the archive, whole units, ascending.
    pub pinned: &'a [Arc<Utterance>],
    /// The user utterance of the turn that [`asked_before`] names.
    pub asked: Option<&'a Arc<Utterance>>,
    /// What a search found, the best first; what the context has anyway is passed over.
    pub recalled: &'a [Arc<Utterance>],
}

/// The newest turn, when its user utterance has left the window. (A long loop of calls leaves what it
/// is for behind.)
pub fn asked_before(conversation: &Conversation) -> Option<u32> {
    let window = &conversation.window;
    let turn = window.last().map(|newest| newest.turn).filter(|turn| *turn > 0)?;
    let first = window.at(turns::start_of(window, turn))?;
    (first.role != Role::User).then_some(turn)
}

/// The context of `conversation` of what its window holds: see [`build_with`].
pub fn build(
    conversation: &Conversation,
    recalled: &[Arc<Utterance>],
    request: &Request,
    counter: &dyn TokenCounter,
) -> Result<Context, Refusal> {
    build_with(conversation, Archived { recalled, ..Archived::default() }, request, counter)
}

/// The context of `conversation`.
///
/// Refuses a budget in which the instructions, the newest unit and the user utterance of its turn
/// have no place, and names the tokens needed. The default budget gives way to these.
pub fn build_with(
    conversation: &Conversation,
    archived: Archived<'_>,
    request: &Request,
    counter: &dyn TokenCounter,
) -> Result<Context, Refusal> {
    let mut plan = plan::Plan::of(conversation, archived, request, counter);
    match (plan.context(), request.budget) {
        (Ok(context), _) => Ok(context),
        (Err(too_small), Some(budget)) => Err(too_small.refusal(budget)),
        (Err(too_small), None) => {
            plan.budget = too_small.needed;
            plan.context().map_err(|more| more.refusal(u32::try_from(too_small.needed).unwrap_or(u32::MAX)))
        }
    }
}
