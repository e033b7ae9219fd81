//! Models that a caller waits for.

use std::{sync::Arc, time::Duration};

use tokio::time::Instant;

use crate::{
    domain::{Conversation, Ranges, compaction::Compaction},
    engine::{
        Engine, EngineError,
        llm::{LlmError, Material, Told},
        retelling::Llm,
    },
};

/// What became of a model that a caller waited for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Waited {
    /// It told this.
    Told(Told),
    /// It did not, because of this.
    Without(String),
}

impl Llm {
    /// Asks the model, and notes how that went.
    pub(super) async fn ask(&self, material: Material) -> Result<Told, LlmError> {
        let own = material.model.is_some();
        let out = self.standing.out();
        let answer = tokio::time::timeout(self.timeout, self.summarizer.summarize(material)).await;
        drop(out);
        let late = |_| {
            let message = format!("no answer within {:?}", self.timeout);
            LlmError::Unavailable { message, retry_after: None }
        };
        let answer = answer.unwrap_or_else(|elapsed| Err(late(elapsed)));
        let now = Instant::now();
        let mut breaker = self.breaker.lock();
        match &answer {
            Ok(_) | Err(LlmError::Unusable(_)) => breaker.succeeded(),
            Err(LlmError::Unavailable { retry_after, .. }) => breaker.failed(now, *retry_after),
            // that a conversation's own model is unknown tells nothing of the others
            Err(LlmError::Refused(_)) if own => breaker.undecided(),
            Err(LlmError::Refused(_)) => breaker.failed(now, None),
        }
        drop(breaker);
        if answer.is_err() {
            self.standing.failed();
        }
        answer
    }

    /// Asks as soon as there is room among the calls, unless calls are held back.
    async fn ask_in_turn(&self, material: Material) -> Result<Told, String> {
        let permit = self.permits.acquire().await.map_err(|error| error.to_string())?;
        if self.breaker.lock().allows(Instant::now()).is_err() {
            return Err(
                "the model is not available: it failed lately, and is left alone for a while".to_owned()
            );
        }
        let told = self.ask(material).await;
        drop(permit);
        // the next one waits for the same room
        self.news.notify_one();
        told.map_err(|error| error.to_string())
    }
}

impl Engine {
    /// What the model tells of `material` within `patience`.
    pub(in crate::engine) async fn tell_now(&self, material: Material, patience: Option<Duration>) -> Waited {
        let Some(llm) = self.llm.clone() else {
            return Waited::Without("no model is configured: set llm".to_owned());
        };
        let patience = patience.unwrap_or(llm.timeout).min(llm.timeout);
        match tokio::time::timeout(patience, llm.ask_in_turn(material)).await {
            Ok(Ok(told)) => Waited::Told(told),
            Ok(Err(why)) => Waited::Without(why),
            Err(_) => Waited::Without(format!("no answer within {patience:?}")),
        }
    }

    /// Waits until no segment of what was compacted awaits a model any more, or for `patience`; answers the
    /// conversation as it is then.
    pub async fn wait_for_retelling(
        &self,
        state: Arc<Conversation>,
        compaction: &Compaction,
        patience: Option<Duration>,
    ) -> Result<Arc<Conversation>, EngineError> {
        let Some(llm) = self.llm.clone() else { return Ok(state) };
        let until = Instant::now() + patience.unwrap_or(llm.timeout).min(llm.timeout);
        let lane = self.lanes.lane(state.key());
        let mut changes = lane.watch();
        let mut newest = self.published(state.key()).await?.unwrap_or(state);
        while awaits(&newest, &compaction.compacted) {
            if !matches!(tokio::time::timeout_at(until, changes.changed()).await, Ok(Ok(()))) {
                break;
            }
            let Some(now) = self.published(newest.key()).await? else { break };
            if now.head.identity.lineage != newest.head.identity.lineage {
                break;
            }
            newest = now;
        }
        Ok(newest)
    }
}

fn awaits(state: &Conversation, compacted: &Ranges) -> bool {
    let mut segments = state.summary.segments().iter();
    segments.any(|segment| segment.awaits.is_some() && segment.covers.meets(compacted))
}
