//! The record of a share.

use sha2::{Digest as _, Sha256};

use crate::{ShareId, Timestamp, is_ahead, share::token::Secret};

/// What a conversation keeps of a token.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Share {
    /// Its id, for revoking it.
    pub id: ShareId,
    /// The digest of the token's secret.
    pub digest: ShareDigest,
    /// The creation time.
    pub create_time: Timestamp,
    /// The time from which the token is no longer valid.
    pub expire_time: Timestamp,
    /// Whether its holder can read the archive too.
    pub include_archive: bool,
}

/// The SHA-256 of a secret.
///
/// A secret of 128 random bits needs no salt and no slow hash, and the time it takes to compare two digests
/// reveals nothing about the secrets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct ShareDigest(pub [u8; 32]);

impl ShareDigest {
    /// The digest of `secret`.
    pub fn of(secret: &Secret) -> Self {
        Self(Sha256::digest(secret.0).into())
    }
}

impl Share {
    /// Whether its token is valid at `now`. A share created ahead of the clock is not: it would be valid for
    /// longer than its lifetime.
    pub fn is_good(&self, now: Timestamp) -> bool {
        now < self.expire_time && !is_ahead(self.create_time, now)
    }
}
