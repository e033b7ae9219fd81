//! Model answers that a caller waits for.

use std::{sync::Arc, time::Duration};

use tokio::time::Instant;

use super::summarizer::{LlmSummary, Material};
use crate::{Applied, Engine, Result};
use utterd_domain::{Conversation, Namespace, Ranges, compaction::Compaction};

impl Engine {
    /// Calls the model with `material` for a caller of `namespace`, and waits at most for `patience`. The error says
    /// why there is no answer.
    pub(crate) async fn tell_now(
        &self,
        namespace: &Namespace,
        material: Material,
        patience: Option<Duration>,
    ) -> Result<LlmSummary, String> {
        let Some(llm) = self.llm.clone() else { return Err("no model is configured: set llm".to_owned()) };
        let patience = patience.unwrap_or(llm.timeout).min(llm.timeout);
        let answer = tokio::time::timeout(patience, llm.ask_in_turn(namespace, material)).await;
        answer.unwrap_or_else(|_| Err(format!("no answer within {patience:?}")))
    }

    /// Waits until no segment of the compacted range awaits a model any more, or until `patience` has passed.
    /// Returns the newest state of the compaction and its conversation. A replayed outcome is returned
    /// immediately.
    pub async fn wait_for_llm_text(
        self: &Arc<Self>,
        reply: Applied<Option<Arc<Compaction>>>,
        patience: Option<Duration>,
    ) -> Result<Applied<Option<Arc<Compaction>>>> {
        let Some(state) = reply.state.clone() else { return Ok(reply) };
        let Some(made) = reply.value.clone().flatten() else { return Ok(reply) };
        let newest = self.wait_while(state, patience, |state| awaits(state, &made.compacted)).await?;
        let newer = newest.compactions.iter().find(|newer| newer.number == made.number).cloned();
        Ok(reply.at(newest, Some(newer.unwrap_or(made))))
    }

    /// Waits until the title and the closing summary no longer await a model, or until `patience` has passed.
    /// Returns the newest state of the conversation. A replayed outcome is returned immediately.
    pub async fn wait_for_closing(
        self: &Arc<Self>,
        reply: Applied<()>,
        patience: Option<Duration>,
    ) -> Result<Applied<()>> {
        let (Some(state), false) = (reply.state.clone(), reply.replayed()) else { return Ok(reply) };
        let awaits = |state: &Conversation| state.head.ended.as_ref().is_some_and(|it| it.awaits.is_some());
        Ok(reply.at(self.wait_while(state, patience, awaits).await?, ()))
    }

    /// Waits until `awaits` is false, or until `patience` has passed, which is at most the model's timeout.
    /// Returns the newest state of the conversation; the given one if no model is configured.
    async fn wait_while(
        self: &Arc<Self>,
        state: Arc<Conversation>,
        patience: Option<Duration>,
        awaits: impl Fn(&Conversation) -> bool,
    ) -> Result<Arc<Conversation>> {
        let Some(llm) = self.llm.clone() else { return Ok(state) };
        let until = Instant::now() + patience.unwrap_or(llm.timeout).min(llm.timeout);
        let queue = self.queues.of(state.key());
        let (mut changes, mut missed) = (queue.watch(), self.missed.subscribe());
        let mut newest = self.published(state.key()).await?.unwrap_or(state);
        while awaits(&newest) {
            tokio::select! {
                biased;
                _ = changes.changed() => {}
                _ = missed.changed() => {}
                () = tokio::time::sleep_until(until) => break,
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
