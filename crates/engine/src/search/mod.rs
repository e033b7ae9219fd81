//! Searching utterances: indexes, ranking, and pages of matches.

pub(super) mod found;
pub(super) mod index;
pub(super) mod indexing;
pub(super) mod ranked;
pub(super) mod remember;
