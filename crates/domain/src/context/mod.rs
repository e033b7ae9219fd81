//! BuildContext: which parts of a conversation are sent to the model, in which order, within a budget.
//!
//! ```text
//! given instructions · instructions · summary · earlier conversations · pinned
//! · [the turn's own user utterance] · recent units · newest
//!                        recalled before its user utterance ↑
//! ```
//!
//! - Units are indivisible: a result is never without its call, nor a call without its results, which follow
//!   it directly.
//! - Units that do not fit are left out in steps that depend only on the conversation, so that a context
//!   begins like the one before it until the next step; or as few as possible are left out.
//! - What left the window of the turn in progress comes from the archive as far as there is room.
//! - Recalled utterances are chosen from everything that is stored and not shown: whole exchanges, best
//!   first, as many as fit. Recent units get what recall leaves of its share, and the other way round.
//! - A recipient that comes back is told apart from a stranger: a share says how its earlier conversations
//!   ended.
//! - Utterances that limits leave out and no summary covers are counted, and cause a warning.
//! - Tokens are those stored with the utterances; only what a rendering rewords is counted: see [`wording`].
//!   The work grows with what is rendered, not with the window.
//! - Content that has more than text, such as an image or a model's thinking, goes back as it came if the format is the
//!   same. Whatever is left out of it is named in a warning. A model's thoughts count, and are left out before anything
//!   else that was said.
//! - The messages share the utterances; a format turns them into text.

mod assemble;
mod budget;
mod build;
mod content_parts;
mod cut;
mod earlier;
mod entry;
mod found;
mod mask;
mod message;
mod omitted;
mod pinned;
mod plan;
mod reach;
mod recalled;
mod recent;
mod request;
mod summary;
#[cfg(test)]
pub(crate) mod tests;
pub mod text;
mod turns;
mod uncovered;
mod unit;
mod warning;
pub mod wording;

pub use build::{asked_before, build, build_with, recallable};
pub use content_parts::{Content, ContentParts, Image, Original};
pub use found::{Earlier, Found, Match, Source, surrounding};
pub use message::{Archived, Context, How, Message, Omission};
pub use reach::Reach;
pub use request::{Format, RECALL_PERCENT, RecallLimits, Request, SummaryPlacement, Unanswered};
pub use summary::{Recognized, recognize};
pub use warning::{Uncovered, Warning};
