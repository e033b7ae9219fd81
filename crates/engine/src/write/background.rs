//! Background work that is due by the clock, or because conversations have ended. No caller waits for it.

use std::{sync::Arc, time::Duration};

use crate::{Caller, Engine, EngineError, Operation, Result};
use utterd_domain::{Conversation, Refusal};
use utterd_store::{Due, RecipientKey};
use utterd_telemetry::panics::Within;

/// The number of expired conversations removed at a time.
const EXPIRED: usize = 256;
/// The number of a recipient's ended conversations removed at a time.
const RETIRED: usize = 64;

impl Engine {
    /// Does everything that is due: removes expired conversations, ended conversations beyond the number
    /// retained, and outcomes that are too old. Returns the number of conversations removed.
    pub async fn sweep(self: &Arc<Self>) -> Result<usize> {
        self.store.remove_outcomes(self.oldest_outcome()).await?;
        Ok(self.remove_expired().await? + self.retire().await?)
    }

    async fn remove_expired(self: &Arc<Self>) -> Result<usize> {
        let now = self.clock.now();
        let mut removed = 0;
        loop {
            let due = self.store.due(now, EXPIRED).await?;
            let count = due.len();
            let mut progress = 0;
            for Due::Expired(key) in due {
                let expired = self.remove(&key, Operation::ExpireConversation, move |state| {
                    match state.head.expire_time().is_some_and(|time| time <= now) {
                        true => Ok(()),
                        false => Err(Refusal::no_conversation(state.key().id.as_str(), " that has expired")),
                    }
                });
                // the others expire even if the removal of one panics
                let expired = Within::Background.catching(expired).await;
                progress += usize::from(matches!(expired, Ok(Ok(Some(_)))));
            }
            removed += progress;
            if count < EXPIRED || progress == 0 {
                return Ok(removed);
            }
        }
    }

    /// Removes recipients' ended conversations beyond the number retained, starting with those that ended
    /// first. The active conversation counts towards that number. Recipients whose removals failed are due
    /// again.
    async fn retire(self: &Arc<Self>) -> Result<usize> {
        let (mut removed, mut failed) = (0, Ok(()));
        let mut again = Vec::new();
        while let Some(recipient) = self.retention.take() {
            let retired = Within::Background.catching(self.retire_of(&recipient)).await;
            match retired.unwrap_or(Err(EngineError::Panicked)) {
                Ok(count) => {
                    removed += count;
                    if count == RETIRED {
                        self.retention.again(recipient);
                    }
                }
                Err(error) => {
                    failed = Err(error);
                    again.push(recipient);
                }
            }
        }
        again.into_iter().for_each(|recipient| self.retention.again(recipient));
        failed.map(|()| removed)
    }

    async fn retire_of(self: &Arc<Self>, recipient: &RecipientKey) -> Result<usize> {
        let most = self.defaults.max_conversations_retained;
        if most == 0 {
            return Ok(0);
        }
        let caller = Caller { namespace: recipient.namespace.clone() };
        let mut beyond = self.store.ended_beyond(recipient, most - 1, RETIRED).await?;
        if !beyond.is_empty() && self.store.active(recipient).await?.is_none() {
            beyond = self.store.ended_beyond(recipient, most, RETIRED).await?;
        }
        for id in &beyond {
            // a new conversation with the same id may have started since
            let ended = |state: &Conversation| match state.head.ended {
                Some(_) => Ok(()),
                None => Err(Refusal::no_conversation(state.key().id.as_str(), " that has ended")),
            };
            match self.remove(&caller.key(id.clone()), Operation::RetireConversation, ended).await {
                Ok(_) | Err(EngineError::Refused(_)) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(beyond.len())
    }

    /// Repeats the due work until dropped: all of it at each `interval`, and the removal of ended
    /// conversations as soon as one ends.
    pub async fn sweep_every(self: Arc<Self>, interval: Duration) {
        let mut ticks = tokio::time::interval(interval);
        ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            let swept = tokio::select! {
                biased;
                _ = ticks.tick() => self.sweep().await,
                () = self.retention.news() => self.retire().await,
            };
            if let Err(error) = swept {
                tracing::warn!(%error, "could not remove what is due");
            }
        }
    }

    /// Scrubs the store's files of hard-forgotten data every `interval`, until dropped.
    pub async fn scrub_every(self: Arc<Self>, interval: Duration) {
        loop {
            tokio::time::sleep(interval).await;
            if let Err(error) = self.store.scrub().await {
                tracing::warn!(%error, "could not scrub the store");
            }
        }
    }
}
