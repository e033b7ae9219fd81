//! The result of looking for a record.

/// A record, if it exists and can be read.
pub(super) enum Found<T> {
    Missing,
    Unreadable,
    There(T),
}
