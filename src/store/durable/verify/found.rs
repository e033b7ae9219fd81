//! A record that was looked for.

/// What there is of a record.
pub(super) enum Found<T> {
    Missing,
    Unreadable,
    There(T),
}
