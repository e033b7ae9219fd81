//! What a conversation keeps of a share.

use sha2::{Digest as _, Sha256};

use crate::domain::{ShareId, Timestamp, is_ahead, share::token::Secret};

/// What a conversation keeps of a token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Share {
    /// Its name, for revoking it.
    pub id: ShareId,
    /// Of the token's secret.
    pub digest: ShareDigest,
    /// When it was made.
    pub create_time: Timestamp,
    /// From this moment on it is good for nothing.
    pub expire_time: Timestamp,
    /// Whether its holder may read the archive too.
    pub include_archive: bool,
}

/// The SHA-256 of a secret.
///
/// A secret of 128 random bits needs no salt and no slow hash, and the time that comparing two
/// digests takes tells nothing of the secrets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShareDigest(pub [u8; 32]);

impl ShareDigest {
    /// That of `secret`.
    pub fn of(secret: &Secret) -> Self {
        Self(Sha256::digest(secret.0).into())
    }
}

impl Share {
    /// Whether its token is still good at `now`. One that was made ahead of the clock is not: it would be good
    /// for longer than it was given.
    pub fn is_good(&self, now: Timestamp) -> bool {
        now < self.expire_time && !is_ahead(self.create_time, now)
    }
}
