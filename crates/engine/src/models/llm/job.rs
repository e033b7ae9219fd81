//! One call to a model: for one segment, or for a conversation that has ended.

use std::{sync::Arc, time::Duration};

use tokio::{sync::OwnedSemaphorePermit, time::Instant};

use crate::{
    Address, Caller, Engine, EngineError, Operation, Result, applied::RuleResult, lane::queued::WriteCall,
};
use utterd_domain::{
    Conversation, ConversationKey, LineageId, Transition,
    change::Context,
    closing::{self, ReplaceClosing, give_up_closing, replace_closing},
    compaction::{ReplaceByLlm, give_up, replace_by_llm},
    conversation::Teller,
    segment::{self, Segment},
};
use utterd_store::Claim;
use utterd_telemetry::panics::Within;

use super::{
    material::Shown,
    model::Llm,
    summarizer::{LlmError, LlmSummary},
};

/// After this many unusable answers, the summary made without a model stays.
const ATTEMPTS: u32 = 3;
/// A conversation is claimed for the time of a call, plus this for the reads before and the writes after.
const BESIDE: Duration = Duration::from_secs(30);

/// The model's work on one conversation. Dropping it makes room for the next.
pub(super) struct Job {
    engine: Arc<Engine>,
    llm: Arc<Llm>,
    key: ConversationKey,
    _permit: OwnedSemaphorePermit,
}

/// Why a call had no result.
#[derive(Debug, thiserror::Error)]
enum Failure {
    #[error(transparent)]
    Llm(#[from] LlmError),
    #[error("the model's answer cannot be used: {0}")]
    Segment(#[from] segment::Unfit),
    #[error("the model's answer cannot be used: {0}")]
    Closing(#[from] closing::Unfit),
    #[error(transparent)]
    Engine(#[from] EngineError),
}

impl Drop for Job {
    fn drop(&mut self) {
        self.llm.queue.lock().busy.remove(&self.key);
        self.llm.breaker.lock().undecided();
        self.llm.news.notify_one();
    }
}

impl Job {
    pub(super) fn begin(
        engine: Arc<Engine>,
        llm: Arc<Llm>,
        key: ConversationKey,
        permit: OwnedSemaphorePermit,
    ) -> Self {
        llm.queue.lock().busy.insert(key.clone());
        Self { engine, llm, key, _permit: permit }
    }

    /// Has the model write a waiting segment, or the closing if no segment waits, unless another process has
    /// the claim.
    pub(super) async fn run(self) {
        let (store, now) = (&self.engine.store, self.engine.now());
        let until = now.plus(self.llm.timeout + BESIDE);
        let claim = Claim { conversation: &self.key, worker: self.llm.worker, now, until };
        match store.claim(claim).await {
            Ok(true) => {}
            Ok(false) => return self.llm.queue.lock().backoff(&self.key).claimed(Instant::now()),
            Err(error) => return self.failed(None, Failure::Engine(error.into())).await,
        }
        if Within::Background.catching(self.tell_first()).await.is_err() {
            self.wait();
        }
        if let Err(error) = store.give_up(&self.key, self.llm.worker).await {
            tracing::warn!(%error, "could not release a claim; it will expire");
        }
    }

    async fn tell_first(&self) {
        let state = match self.engine.published(&self.key).await {
            Ok(Some(state)) => state,
            Ok(None) => return self.wait(),
            Err(error) => return self.failed(None, error.into()).await,
        };
        let Some(wanted) = Wanted::of(&state) else { return self.wait() };
        let told = match &wanted {
            Wanted::Segment(segment) => self.tell(&state, segment).await,
            Wanted::Closing => self.tell_closing(&state).await,
        };
        match told {
            Ok(()) => drop(self.llm.queue.lock().backoffs.remove(&self.key)),
            Err(failure) => self.failed(Some((&state, wanted)), failure).await,
        }
    }

    /// Leaves the conversation for later: the store lists waiting work that this process does not see yet, or
    /// the work panicked.
    fn wait(&self) {
        self.llm.queue.lock().backoff(&self.key).failed(Instant::now());
    }

    async fn tell(&self, state: &Arc<Conversation>, segment: &Segment) -> Result<(), Failure> {
        let Shown { material, from } = self.engine.shown(state, segment).await?;
        let LlmSummary { text, model, .. } = self.llm.ask(&self.key.namespace, material).await?;
        let counter = self.engine.counter(state.head.identity.encoding);
        let lines = segment.accept(&text, counter)?;
        let command = ReplaceByLlm {
            segment: segment.number,
            lines,
            model: model.into(),
            prompt: self.llm.prompt,
            seen: state.head.revision,
            from,
        };
        self.take(state, move |before, context| replace_by_llm(before, &command, context)).await
    }

    async fn tell_closing(&self, state: &Arc<Conversation>) -> Result<(), Failure> {
        let material = self.engine.shown_at_the_end(state).await;
        let LlmSummary { text, model, .. } = self.llm.ask(&self.key.namespace, material).await?;
        let counter = self.engine.counter(state.head.identity.encoding);
        let told = closing::told(&text, counter)?;
        let teller = Teller { model: model.into(), prompt: self.llm.prompt };
        let command = ReplaceClosing { told, teller, seen: state.head.revision };
        self.take(state, move |before, context| replace_closing(before, &command, context)).await
    }

    /// Commits the change that the rule makes of an answer, and counts the answer.
    async fn take(
        &self,
        state: &Conversation,
        rule: impl Fn(&Conversation, &Context<'_>) -> Option<Transition> + Send + 'static,
    ) -> Result<(), Failure> {
        let applied = self.change(state, rule).await?;
        self.llm.tenants.of(&self.key.namespace).answered(applied);
        Ok(())
    }

    /// Commits the change that the rule makes of an answer, if any. Returns whether there was one.
    async fn change(
        &self,
        state: &Conversation,
        rule: impl Fn(&Conversation, &Context<'_>) -> Option<Transition> + Send + 'static,
    ) -> Result<bool> {
        let lineage: LineageId = state.head.identity.lineage;
        let caller = Caller { namespace: self.key.namespace.clone() };
        let address = Address { conversation: Some(self.key.id.clone()), ..Address::default() };
        let write = WriteCall::new(&caller, address, None, Operation::SummarizeByLlm);
        let applied = self.engine.write(write, move |before, context| {
            // a conversation with the same id that started later is another one
            let same = before.head.identity.lineage == lineage;
            let transition = same.then(|| rule(before, context)).flatten();
            Ok(RuleResult::of(transition, ()))
        });
        match applied.await {
            Ok(applied) => Ok(applied.change.is_some()),
            Err(EngineError::Refused(_)) => Ok(false),
            Err(error) => Err(error),
        }
    }

    async fn failed(&self, wanted: Option<(&Conversation, Wanted)>, failure: Failure) {
        let conversation = self.key.id.as_str();
        let segment = wanted.as_ref().map_or(0, |(_, wanted)| wanted.number());
        tracing::warn!(conversation, segment, error = ?failure, "a model's summary failed");
        let times = {
            let (mut queue, now) = (self.llm.queue.lock(), Instant::now());
            let backoff = queue.backoff(&self.key);
            match failure.is_answer() {
                true => backoff.unusable(segment, now),
                false => {
                    backoff.failed(now);
                    0
                }
            }
        };
        if let (ATTEMPTS.., Some((state, wanted))) = (times, wanted) {
            let given_up = self.change(state, move |before, context| wanted.give_up(before, context)).await;
            if let Err(error) = given_up {
                tracing::warn!(conversation, segment, %error, "could not give up on a model's summary");
            }
        }
    }
}

impl Failure {
    /// Whether the model answered, but with nothing usable.
    fn is_answer(&self) -> bool {
        matches!(self, Self::Llm(LlmError::Unusable(_)) | Self::Segment(_) | Self::Closing(_))
    }
}

/// What the model should write next for a conversation.
enum Wanted {
    Segment(Arc<Segment>),
    Closing,
}

impl Wanted {
    /// Returns what is waiting for the model: a segment first, because the closing is written from segments.
    fn of(state: &Conversation) -> Option<Self> {
        let segment = state.summary.segments().iter().find(|segment| segment.awaits.is_some());
        let closing = state.head.ended.as_ref().and_then(|ending| ending.awaits);
        segment.cloned().map(Self::Segment).or(closing.map(|_| Self::Closing))
    }

    /// Returns the number of the segment; 0 if it is the closing.
    fn number(&self) -> u32 {
        match self {
            Self::Segment(segment) => segment.number,
            Self::Closing => 0,
        }
    }

    fn give_up(&self, before: &Conversation, context: &Context<'_>) -> Option<Transition> {
        match self {
            Self::Segment(segment) => give_up(before, segment.number, context),
            Self::Closing => give_up_closing(before, context),
        }
    }
}
