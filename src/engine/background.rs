//! Work that falls due by the clock.

use std::{sync::Arc, time::Duration};

use crate::{
    domain::{Refusal, limits::OUTCOME_RETENTION},
    engine::{Engine, EngineError, Operation},
    store::Due,
};

/// Due work that is done at a time.
const BATCH: usize = 256;

impl Engine {
    /// Does everything that is due: removes conversations that expired and outcomes that are
    /// too old. Answers how many conversations were removed.
    pub async fn sweep(&self) -> Result<usize, EngineError> {
        let now = self.clock.now();
        self.store.remove_outcomes(now.minus(OUTCOME_RETENTION)).await?;
        let mut removed = 0;
        loop {
            let due = self.store.due(now, BATCH).await?;
            let mut progress = 0;
            for Due::Expired(key) in &due {
                let expired = self.remove(key, Operation::ExpireConversation, |state| {
                    match state.head.expire_time().is_some_and(|time| time <= now) {
                        true => Ok(()),
                        false => Err(Refusal::no_conversation(key.id.as_str(), " that has expired")),
                    }
                });
                progress += usize::from(matches!(expired.await, Ok(Some(_))));
            }
            removed += progress;
            if due.len() < BATCH || progress == 0 {
                return Ok(removed);
            }
        }
    }

    /// Sweeps again and again, until dropped.
    pub async fn sweep_every(self: Arc<Self>, interval: Duration) {
        let mut ticks = tokio::time::interval(interval);
        ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            ticks.tick().await;
            if let Err(error) = self.sweep().await {
                tracing::warn!(%error, "could not remove what is due");
            }
        }
    }

    /// Again and again, until dropped, makes the store's files free of what was forgotten for good.
    pub async fn scrub_every(self: Arc<Self>, interval: Duration) {
        loop {
            tokio::time::sleep(interval).await;
            if let Err(error) = self.store.scrub().await {
                tracing::warn!(%error, "could not scrub the store");
            }
        }
    }
}
