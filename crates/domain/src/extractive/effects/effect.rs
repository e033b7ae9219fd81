//! What a call does.

/// What a call does to the world.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    /// Books, cancels, writes, sends, deploys or pays; or would have, had it not failed.
    Changes,
    /// Looks something up, or thinks. Repeating it does no harm.
    Reads,
}
