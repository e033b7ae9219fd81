//! Sharing: tokens that let their holder read one conversation, until they expire or are revoked.
//!
//! A conversation keeps only a digest of each token's secret: whoever reads the store cannot make a token
//! from it.

mod record;
#[cfg(test)]
mod tests;
mod token;

use std::{sync::Arc, time::Duration};

pub use record::{Share, ShareDigest};
pub use token::{Secret, ShareToken};

use crate::{
    Conversation, Head, Refusal, Result, ShareId, Timestamp, Transition, change::Context, limits::MAX_SHARES,
};

/// What to share, and for how long.
#[derive(Clone, Debug)]
pub struct Sharing {
    /// The new share's id.
    pub id: ShareId,
    /// The digest of the new token's secret.
    pub digest: ShareDigest,
    /// How long until the token expires.
    pub lifetime: Duration,
    /// Whether its holder can read the archive too.
    pub include_archive: bool,
}

/// Shares the conversation, whether it has ended or not.
///
/// Refuses if it has [`MAX_SHARES`] that have not expired.
pub fn share(before: &Conversation, command: &Sharing, context: &Context<'_>) -> Result<(Transition, Share)> {
    let mut transition = Transition::from(before, context.now);
    let shares = &mut transition.after.head.shares;
    if shares.len() >= MAX_SHARES {
        return Err(Refusal::TooManyShares(before.key().id.to_string()));
    }
    let share = Share {
        id: command.id.clone(),
        digest: command.digest,
        create_time: context.now,
        expire_time: context.now.plus(command.lifetime),
        include_archive: command.include_archive,
    };
    *shares = shares.iter().cloned().chain([share.clone()]).collect();
    Ok((transition.finish(&before.summary), share))
}

/// Revokes a share: its token is no longer valid.
///
/// Refuses an id that names no share; an expired one may already have been dropped.
pub fn revoke(before: &Conversation, id: &ShareId, context: &Context<'_>) -> Result<Transition> {
    if before.head.shares.iter().all(|share| share.id != *id) {
        return Err(Refusal::no_share(id.as_str()));
    }
    let mut transition = Transition::from(before, context.now);
    let shares = &mut transition.after.head.shares;
    *shares = shares.iter().filter(|share| share.id != *id).cloned().collect();
    Ok(transition.finish(&before.summary))
}

impl Head {
    /// The share that `secret` opens at `now`, if any.
    pub fn opened_by(&self, secret: &Secret, now: Timestamp) -> Option<&Share> {
        let digest = ShareDigest::of(secret);
        self.shares.iter().find(|share| share.digest == digest && share.is_good(now))
    }

    /// Drops the shares that have expired.
    pub(super) fn drop_expired_shares(&mut self, now: Timestamp) {
        if self.shares.iter().any(|share| !share.is_good(now)) {
            let good: Arc<[Share]> = self.shares.iter().filter(|share| share.is_good(now)).cloned().collect();
            self.shares = good;
        }
    }
}
