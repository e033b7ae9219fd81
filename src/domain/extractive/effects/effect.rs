//! What a call does.

/// What a call does to the world.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::domain) enum Effect {
    /// It books, cancels, writes, sends, deploys, pays; or would have, had it not failed.
    Changes,
    /// It looks something up, or thinks. Making it again does no harm.
    Reads,
}
