//! PrepareHistory: a history as a caller brought it becomes messages that a model accepts.
//!
//! The steps, each with its rule in [`domain::history`](crate::domain::history): messages are read
//! ([`read`]), calls and results paired, rows of one role mended, the newest kept within the
//! limits, and what is left is written ([`write`]). Nothing in a history is an error but that it is
//! no JSON array: what cannot be used is left out, and the answer says why.

mod fit;
mod normal;
pub mod read;
mod write;

use crate::{
    domain::{
        Draft, Refusal, Role, TokenCounter,
        history::{
            DropReason, Dropped, Entry, Unit,
            alternation::{Alternation, Clash, first_clash, keep_newest},
            call_ids::{self, CallIds},
            cut::Limits,
            pairing::{Paired, pair},
        },
        limits::DEFAULT_MAX_CONTENT_BYTES,
    },
    formats::history::fit::Fit,
};

/// Messages kept of a history, by default (seed 002, "Safety Limit").
pub const DEFAULT_MAX_MESSAGES: usize = 20;
/// Bytes of what goes out, by default (seed 002, "Request Size").
pub const DEFAULT_MAX_BYTES: usize = 100 << 10;
/// Most messages of a history that comes in.
pub const MAX_MESSAGES_READ: usize = 10_000;

/// The format that messages are written in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// OpenAI's chat completions.
    #[default]
    OpenAiChat,
    /// Anthropic's messages: system messages stand apart.
    AnthropicMessages,
}

/// What is asked for.
#[derive(Clone, Copy, Debug)]
pub struct Request {
    /// How much may go out.
    pub limits: Limits,
    /// What becomes of messages of one role in a row.
    pub alternation: Alternation,
    /// The format to write.
    pub format: Format,
    /// Bytes of one message's text and calls at most; a larger one is left out.
    pub max_content_bytes: usize,
}

impl Default for Request {
    fn default() -> Self {
        let limits = Limits { messages: DEFAULT_MAX_MESSAGES, bytes: DEFAULT_MAX_BYTES, tokens: None };
        Self {
            limits,
            alternation: Alternation::Merge,
            format: Format::OpenAiChat,
            max_content_bytes: DEFAULT_MAX_CONTENT_BYTES,
        }
    }
}

/// A history as it came in: what could be read of it, and what could not.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Incoming {
    /// The field of the request that it came in.
    pub field: &'static str,
    /// What was read.
    pub entries: Vec<Entry>,
    /// What was not.
    pub dropped: Vec<Dropped>,
    /// What was read in part.
    pub warnings: Vec<Warning>,
    /// How many messages came.
    pub count: usize,
    /// Bytes of what came.
    pub bytes: usize,
}

/// Something that the caller should know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// What it is about, for machines.
    pub kind: WarningKind,
    /// What it is.
    pub text: String,
}

/// What a warning is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WarningKind {
    /// Three quarters of the messages that may be kept, or more (seed 002: from 15 of 20).
    ManyMessages,
    /// Three quarters of the bytes, or more.
    LargeRequest,
    /// Three quarters of the token budget, or more.
    NearTokenBudget,
    /// Parts of a message that are no text were left out.
    PartsLeftOut,
    /// Results were moved behind their calls.
    ResultsMoved,
    /// Messages of one role in a row became one.
    MessagesMerged,
    /// Ids of calls were changed to what the format accepts.
    CallIdsChanged,
    /// The format wants a user's message first, so a marked one was put there.
    PlaceholderAdded,
}

/// What goes to the model.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Prepared {
    /// A JSON array of messages.
    pub messages_json: String,
    /// The text of the system messages, in a format that has them apart; empty where there is none.
    pub system: String,
    /// Messages of the array.
    pub message_count: usize,
    /// What the messages, and the system text, would count as utterances; see
    /// [`Draft::tokens`].
    pub token_count: u32,
    /// What was left out, in the order of the request.
    pub dropped: Vec<Dropped>,
    /// What the caller should know.
    pub warnings: Vec<Warning>,
}

/// Makes messages that a model accepts of a history and a prompt.
///
/// - Every call that goes out has its result directly behind it, and every result its call.
/// - The prompt goes out last and whole, whatever leaves for it.
/// - Nothing of a message goes out but role, text, name, calls and results.
///
/// Refuses a prompt that alone is above a limit, and, where alternation is to be rejected, messages
/// of one role in a row.
pub fn prepare(
    incoming: Incoming,
    prompt: Option<Draft>,
    request: &Request,
    counter: &dyn TokenCounter,
) -> Result<Prepared, Refusal> {
    let Incoming { field, entries, mut dropped, mut warnings, count, bytes } = incoming;
    let prompt = prompt.map(|draft| Entry { index: None, draft });
    let bytes = bytes + prompt.as_ref().map_or(0, |prompt| prompt.draft.content.len());
    let entries = entries.into_iter().chain(prompt);
    let (entries, unusable) = normal::all(entries, request, field);
    dropped.extend(unusable);
    let Paired { mut units, dropped: unpaired, moved } = pair(entries);
    dropped.extend(unpaired.into_iter().map(|dropped| at_its_place(field, dropped)));
    let changed = call_ids::accept(&mut units, request.format.call_ids());
    let units = in_turn(units, request, field, &mut dropped)?;
    let fit = Fit::of(units, request, counter)?;
    dropped.extend(fit.dropped.into_iter().map(|dropped| at_its_place(field, dropped)));
    dropped.sort_by_key(|dropped| dropped.index);
    warnings.extend(moved_warning(field, &moved));
    warnings.extend(changed_warning(changed));
    warnings.extend(fit.warnings);
    warnings.extend(request.size_warnings(count, bytes, fit.token_count));
    Ok(Prepared {
        messages_json: fit.written.messages_json,
        system: fit.written.system,
        message_count: fit.written.message_count,
        token_count: fit.token_count,
        dropped,
        warnings,
    })
}

impl Format {
    fn call_ids(self) -> CallIds {
        match self {
            Self::OpenAiChat => CallIds::OnceInMessage,
            Self::AnthropicMessages => CallIds::OnceInRequest,
        }
    }

    /// Whether system messages stand apart from the others.
    fn system_apart(self) -> bool {
        self == Self::AnthropicMessages
    }
}

/// Mends or refuses rows of one role; [`Alternation::Merge`] merges what the limits have left.
fn in_turn(
    units: Vec<Unit>,
    request: &Request,
    field: &str,
    dropped: &mut Vec<Dropped>,
) -> Result<Vec<Unit>, Refusal> {
    let apart = request.format.system_apart();
    match request.alternation {
        Alternation::Merge => Ok(units),
        Alternation::Drop => {
            let (kept, superseded) = keep_newest(units, apart);
            dropped.extend(superseded.into_iter().map(|dropped| at_its_place(field, dropped)));
            Ok(kept)
        }
        Alternation::Reject => match first_clash(&units, apart) {
            Some(clash) => Err(rejected(clash, field)),
            None => Ok(units),
        },
    }
}

/// The rules know no fields: their texts go behind the place.
fn at_its_place(field: &str, dropped: Dropped) -> Dropped {
    let text = format!("{field}[{}] {}", dropped.index, dropped.text);
    Dropped { text, ..dropped }
}

fn rejected(clash: Clash, field: &str) -> Refusal {
    let place = |index: Option<usize>| index.map_or("prompt".into(), |index| format!("{field}[{index}]"));
    let (role, first) = (clash.role, place(clash.first));
    let text = format!(
        "has the role {role} directly after {first}, which has it too; with the alternation REJECT, user and assistant take turns"
    );
    Refusal::invalid(place(clash.second), text)
}

fn moved_warning(field: &str, moved: &[usize]) -> Option<Warning> {
    let first = moved.first()?;
    let text =
        format!("{} results were moved directly behind their calls, the first {field}[{first}]", moved.len());
    Some(Warning { kind: WarningKind::ResultsMoved, text })
}

fn changed_warning(changed: usize) -> Option<Warning> {
    let text =
        format!("{changed} ids of calls were changed, with their results', to what the format accepts");
    (changed > 0).then_some(Warning { kind: WarningKind::CallIdsChanged, text })
}

impl Request {
    /// Three quarters of a limit, or more, is worth a warning.
    fn size_warnings(&self, count: usize, bytes: usize, tokens: u32) -> impl Iterator<Item = Warning> {
        let Limits { messages, bytes: most, tokens: budget } = self.limits;
        let near = |used: u64, limit: u64| used > 0 && used * 4 >= limit * 3;
        let many = near(count as u64, messages as u64).then(|| Warning {
            kind: WarningKind::ManyMessages,
            text: format!(
                "the history has {count} messages; at most {messages}, the newest, go to the model"
            ),
        });
        let large = near(bytes as u64, most as u64).then(|| Warning {
            kind: WarningKind::LargeRequest,
            text: format!("the history and the prompt have {bytes} bytes; at most {most} go to the model"),
        });
        let budget = budget.filter(|budget| near(u64::from(tokens), u64::from(*budget)));
        let tight = budget.map(|budget| Warning {
            kind: WarningKind::NearTokenBudget,
            text: format!("what goes to the model has {tokens} tokens of a budget of {budget}"),
        });
        [many, large, tight].into_iter().flatten()
    }
}

impl Incoming {
    /// A history of so many messages and bytes, in a field of the request.
    pub fn of(field: &'static str, count: usize, bytes: usize) -> Self {
        Self { field, count, bytes, ..Self::default() }
    }

    /// Adds what was made of the message at `index`.
    pub fn add(&mut self, index: usize, read: Result<Draft, Refusal>) {
        match read {
            Ok(draft) => self.entries.push(Entry { index: Some(index), draft }),
            Err(refusal) => self.dropped.push(Dropped::refused(index, &refusal)),
        }
    }

    fn drop(&mut self, index: usize, reason: DropReason, text: impl Into<String>) {
        self.dropped.push(Dropped { index, reason, text: text.into() });
    }
}

/// The prompt as a message of the user.
pub fn prompt(text: &str) -> Draft {
    said(Role::User, text)
}

fn said(role: Role, text: &str) -> Draft {
    Draft { id: None, role, content: text.into(), turn: None, create_time: None, pinned: false, more: None }
}

#[cfg(test)]
mod tests;
