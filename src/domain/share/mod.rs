//! Sharing: tokens that let their holder read one conversation, until they expire or are revoked.
//!
//! A conversation keeps of each token only a digest of its secret: who reads the store cannot make
//! a token of it.

mod record;
#[cfg(test)]
mod tests;
mod token;

use std::{sync::Arc, time::Duration};

pub use record::{Share, ShareDigest};
pub use token::{Secret, ShareToken};

use crate::domain::{
    Conversation, Head, Refusal, ShareId, Timestamp, Transition, change::Context, limits::MAX_SHARES,
};

/// What to share, and for how long.
#[derive(Clone, Debug)]
pub struct Sharing {
    /// The new share's name.
    pub id: ShareId,
    /// Of the new token's secret.
    pub digest: ShareDigest,
    /// The token expires so long from now.
    pub lifetime: Duration,
    /// Whether its holder may read the archive too.
    pub include_archive: bool,
}

/// Shares the conversation, whether it has ended or not.
///
/// Refuses when it has [`MAX_SHARES`] that have not expired.
pub fn share(
    before: &Conversation,
    command: &Sharing,
    context: &Context<'_>,
) -> Result<(Transition, Share), Refusal> {
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

/// Takes a share back: its token is good for nothing.
///
/// Refuses an id that names none; one that has expired may be gone already.
pub fn revoke(before: &Conversation, id: &ShareId, context: &Context<'_>) -> Result<Transition, Refusal> {
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
