//! Who calls, as limits tell callers apart.

use std::hash::BuildHasher;

use http::Extensions;
use rustc_hash::FxBuildHasher;

use crate::server::{connection::Peer, guard::Principal};

/// The caller of a request: its credential, or its connection where nothing guards the server. Requests of
/// connections without a [`Peer`] are one caller's.
pub fn caller(extensions: &Extensions) -> u64 {
    const NAMED: u64 = 1 << 63;
    match (extensions.get::<Principal>(), extensions.get::<Peer>()) {
        (Some(principal), _) => FxBuildHasher.hash_one(&principal.name) | NAMED,
        (None, Some(peer)) => peer.connection,
        (None, None) => 0,
    }
}
