//! A part of an entity.

use super::kind::Kind;

/// A piece of a text that can be an entity, alone or with its neighbours.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part {
    pub role: Role,
    pub start: usize,
    pub end: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Whole(Kind),
    /// A number of one digit, which says little alone.
    Digit,
    /// `$`, `EUR`.
    Currency,
    /// The name of a month.
    Month,
    /// `am`, `p.m.`, `Uhr`.
    Clock,
}
