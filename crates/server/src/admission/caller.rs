//! The identity of a caller, for limits.

use std::hash::BuildHasher;

use http::Extensions;
use rustc_hash::FxBuildHasher;

use crate::{guard::Principal, transport::connection::Peer};

/// Returns the caller of a request: its credential, or its connection if the server is not guarded. Requests without a
/// [`Peer`] count as one caller's.
pub fn caller(extensions: &Extensions) -> u64 {
    const NAMED: u64 = 1 << 63;
    match (extensions.get::<Principal>(), extensions.get::<Peer>()) {
        (Some(principal), _) => FxBuildHasher.hash_one(&principal.name) | NAMED,
        (None, Some(peer)) => peer.connection,
        (None, None) => 0,
    }
}
