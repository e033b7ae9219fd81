//! Forget instructions: what a caller writes to say which utterances shall be forgotten.
//!
//! An instruction is a conjunction of criteria, and perhaps a count taken from one end of
//! what they select. It is written in the short forms (`speaker:user before:turn_5`) or in
//! plain English ("remove everything the user said before turn 5"). Either is understood
//! as a whole or refused, so that no part of a sentence is ever passed over.

mod asked;
mod canonical;
mod doubts;
mod english;
mod error;
mod excess;
mod instruction;
mod numbers;
mod time;
mod words;

pub use asked::Asked;
pub use error::{InstructionError, Suggested};
pub use excess::Excess;
pub use instruction::{Criterion, Instruction, Take};
pub use numbers::Numbers;

use crate::domain::limits::MAX_INSTRUCTION_BYTES;

/// Reads an instruction, in the short forms or in plain English, in time linear in `text`.
///
/// - Keywords and words are read in any case; names, ids and texts are kept as written.
/// - In English, "I" and "my" are the user, "you" and "your" the assistant.
/// - In English, an unquoted name begins with a capital letter or looks like an identifier
///   (`get_weather`); only before "'s" may it be any one word.
/// - In English, everything stored is meant by a verb with "everything", "all messages", "the
///   whole conversation" and their like, and nothing else in the sentence.
/// - In English, a time may be told from now ("yesterday", "older than a week"), or be one of today
///   ("since 10 am"). It is in UTC, and the last one where a date has no year. Whether a sentence is
///   understood does not depend on the time.
/// - In English, a command word with one letter too many, missing, wrong or swapped with the next is read as
///   that word, unless everything stored would be meant then.
///
/// ```
/// use utterd::domain::{Timestamp, forgetting::parse};
///
/// let asked = parse("Could you remove everything the user said before turn 5, please?")?;
/// assert_eq!(asked.at(Timestamp(0)).to_string(), "speaker:user before:turn_5");
/// assert!(parse("forget everything except the last message").is_err());
/// # Ok::<(), utterd::domain::forgetting::InstructionError>(())
/// ```
///
/// # Errors
/// What is not understood as a whole, selects nothing, or contradicts itself. The error
/// names the part and what is accepted.
pub fn parse(text: &str) -> Result<Asked, InstructionError> {
    if text.len() > MAX_INSTRUCTION_BYTES {
        return Err(InstructionError::TooLong(text.len()));
    }
    let text = text.trim();
    if text.is_empty() {
        return Err(InstructionError::Empty);
    }
    match canonical::is_canonical(text) {
        true => canonical::parse(text).map(Asked::from),
        false => english::parse(text),
    }
}
