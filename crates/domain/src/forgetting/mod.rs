//! Forget instructions: what callers write to select the utterances to forget.
//!
//! An instruction is a union of parts, without the union of its exceptions. A part is a conjunction of
//! criteria, optionally with a count of the utterances that meet them. Callers write an instruction in the
//! short forms (`speaker:user before:turn_5`) or in plain English ("remove everything the user said before
//! turn 5"). It is understood as a whole or refused: no part of a sentence is ever skipped.

mod asked;
mod canonical;
mod english;
mod error;
mod excess;
mod instruction;
mod numbers;
mod table;
mod time;

use asked::AskedPart;
use error::Result;

pub use asked::Asked;
pub use error::{InstructionError, Suggested};
pub use excess::{Excess, ExcessKind};
pub use instruction::{Criterion, Instruction, Part, Take};
pub use numbers::Numbers;

use crate::{Timestamp, limits::MAX_INSTRUCTION_BYTES};

/// Reads a time on its own, as an instruction can say it: "2026-11-20", "yesterday", "3 days ago"; also "now", "this
/// week" and "last month". Of a day, or of a longer time, its beginning is meant. Times are in UTC.
pub fn moment(text: &str, now: Timestamp) -> Option<Timestamp> {
    english::moment(text.trim(), now)
}

/// Parses an instruction, in the short forms or in plain English, in time linear in `text`.
///
/// - Keywords and words are case-insensitive; names, ids and texts are kept as written.
/// - In English, "I" and "my" refer to the user, "you" and "your" to the assistant.
/// - In English, an unquoted name begins with a capital letter or looks like an identifier (`get_weather`).
/// - In English, everything stored is meant only by a verb with "everything", "all messages", "the whole
///   conversation" or the like, and nothing else in the sentence.
/// - In English, "and" joins topics, either of which selects, except for texts after "mentioning" or "containing",
///   all of which an utterance must contain.
/// - In English, what a sentence says to keep is not selected: "everything but the last message", "keep only
///   turn 4".
/// - In English, a time can be relative to now ("yesterday", "older than a week") or to today ("since 10
///   am"). Times are in UTC; a date without a year is the most recent one. Whether a sentence is understood
///   does not depend on the time.
///
/// ```
/// use utterd_domain::{Timestamp, forgetting::parse};
///
/// let asked = parse("Could you remove everything the user said before turn 5, please?")?;
/// assert_eq!(asked.at(Timestamp(0)).to_string(), "speaker:user before:turn_5");
/// let asked = parse("forget everything except the last message")?;
/// assert_eq!(asked.at(Timestamp(0)).to_string(), "all except newest");
/// assert!(parse("don't forget the last message").is_err());
/// # Ok::<(), utterd_domain::forgetting::InstructionError>(())
/// ```
///
/// # Errors
/// An instruction that is not understood as a whole, selects nothing, or contradicts itself. The error names
/// the part and what is accepted.
pub fn parse(text: &str) -> Result<Asked> {
    if text.len() > MAX_INSTRUCTION_BYTES {
        return Err(InstructionError::TooLong(text.len()));
    }
    let text = text.trim();
    if text.is_empty() {
        return Err(InstructionError::Empty);
    }
    match canonical::is_canonical(text) {
        true => canonical::parse(text),
        false => english::parse(text),
    }
}
