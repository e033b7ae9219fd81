//! Events that are stored with the commits that made them.

use utterd_domain::Namespace;

/// The events that a commit adds to the trace of a namespace, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Traced {
    /// The namespace.
    pub namespace: Namespace,
    /// The events, which are opaque to a store: text without control characters.
    pub events: Vec<String>,
}

/// A place in the trace of a namespace: behind an event, or between two commits.
///
/// Clients receive places. A place must not reveal how much is written in other namespaces, as the number of
/// a commit would.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TracePlace(pub [u8; 16]);

/// Events behind a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TracePage {
    /// The events, each with the place behind it.
    Events(Vec<(TracePlace, String)>),
    /// Events behind the place are no longer kept.
    Gone,
    /// The place is beyond the end of the trace.
    Ahead,
    /// The bytes are not a place in the trace of this namespace in this store.
    Unknown,
}
