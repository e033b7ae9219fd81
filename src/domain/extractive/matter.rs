//! What might be open: a question, a request, the next step, what is left to do, a failure.

use crate::domain::{
    Sequence,
    extractive::{clip::fold, sentence::BETWEEN},
};

/// The limit for one matter, in bytes.
pub(super) const MATTER_BYTES: usize = 240;
/// Follows a call that failed.
pub(super) const FAILED: &str = " failed";

/// Something that might be open.
#[derive(Clone, Debug)]
pub(super) struct Matter {
    pub sequence: Sequence,
    /// Of a call that failed, its result.
    pub result: Option<Sequence>,
    pub text: Box<str>,
    /// The higher, the rather it is told.
    pub rank: u8,
}

/// What the end of a talk leaves open, by how it begins, with its rank. A call that failed comes last.
const RANKS: [(&str, u8); 5] = [("User said yes to: ", 6), (USER, 6), (ASKED, 5), (TODO, 4), (NEXT, 3)];
pub(super) const USER: &str = "User: ";
pub(super) const AGREED: &str = "User said yes to: ";
pub(super) const ASKED: &str = "Assistant asked: ";
pub(super) const TODO: &str = "To do: ";
pub(super) const NEXT: &str = "Next: ";
/// The rank of what a sentence says is left to do, or promises.
pub(super) const LEFT: u8 = 2;

/// The rank of a matter, by its text.
pub(super) fn rank(text: &str) -> u8 {
    let found = RANKS.iter().find(|(start, _)| text.starts_with(start));
    found.map_or(if text.ends_with(FAILED) { 1 } else { LEFT }, |(_, rank)| *rank)
}

/// A matter with a text on one line.
pub(super) fn matter(sequence: Sequence, head: &str, said: &str) -> Matter {
    let mut text = String::from(head);
    let plain = said.replace(BETWEEN, ", ");
    fold(&plain, MATTER_BYTES, &mut text);
    Matter { sequence, result: None, rank: rank(&text), text: text.into() }
}
