//! Words, sentences and cues of a text.

pub(super) mod clip;
pub(super) mod cues;
pub(super) mod marks;
pub(super) mod runs;
pub(super) mod shape;
pub(super) mod split;
pub(super) mod words;
