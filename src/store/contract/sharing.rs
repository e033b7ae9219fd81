//! What processes over one store learn of one another.

use crate::domain::ConversationKey;

/// Tells of what may be read anew.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Hint {
    /// The conversation was changed, created or removed.
    Changed(ConversationKey),
    /// Any conversation may have been.
    Missed,
}
