//! What might be open: a question, a request, the next step, what is left to do, a failure.

use crate::{
    Sequence,
    extractive::{sentence::BETWEEN, text::clip::fold},
};

/// The limit for one matter, in bytes.
pub(in crate::extractive) const MATTER_BYTES: usize = 240;
/// Follows a call that failed.
pub(in crate::extractive) const FAILED: &str = " failed";

/// Something that might be open.
#[derive(Clone, Debug)]
pub(in crate::extractive) struct Matter {
    pub sequence: Sequence,
    /// Of a call that failed, its result; of a yes or a choice, the utterance that it answers.
    pub result: Option<Sequence>,
    pub text: Box<str>,
    /// The higher, the rather it is told.
    pub rank: u8,
}

/// What the end of a talk leaves open, by how it begins, with its rank. A call that failed comes last.
const RANKS: [(&str, u8); 5] = [(AGREED, 6), (USER, 6), (ASKED, 5), (TODO, 4), (NEXT, 3)];
pub(in crate::extractive) const USER: &str = "User: ";
pub(in crate::extractive) const AGREED: &str = "User said yes to: ";
pub(in crate::extractive) const ASKED: &str = "Assistant asked: ";
pub(in crate::extractive) const TODO: &str = "To do: ";
pub(in crate::extractive) const NEXT: &str = "Next: ";
/// The rank of what a sentence says is left to do, or promises.
pub(in crate::extractive) const LEFT: u8 = 2;

/// The rank of a matter, by its text.
pub(in crate::extractive) fn rank(text: &str) -> u8 {
    let found = RANKS.iter().find(|(start, _)| text.starts_with(start));
    found.map_or(if text.ends_with(FAILED) { 1 } else { LEFT }, |(_, rank)| *rank)
}

/// A matter with a text on one line.
pub(in crate::extractive) fn matter(sequence: Sequence, head: &str, said: &str) -> Matter {
    let mut text = String::from(head);
    let plain = said.replace(BETWEEN, ", ");
    fold(&plain, MATTER_BYTES, &mut text);
    Matter { sequence, result: None, rank: rank(&text), text: text.into() }
}
