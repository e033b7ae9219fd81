//! The calls that change conversations.

pub(super) mod aim;
pub(super) mod background;
pub(super) mod command;
pub(super) mod compact;
pub(super) mod erase;
pub(super) mod forget;
pub(super) mod fork;
pub(super) mod import;
pub(super) mod memorize;
pub(super) mod pipeline;
pub(super) mod reach;
pub(super) mod recipient;
pub(super) mod remove;
pub(super) mod request;
pub(super) mod retention;
pub(super) mod share;
pub(super) mod summarize;
pub(super) mod update;

use std::sync::Arc;

use tokio::sync::oneshot;

use crate::{
    Applied, Caller, Engine, EngineError, Result,
    applied::Decided,
    events::facts::Named,
    lane::{
        queued::{QueuedWrite, Reply, Request, Ruling, Target, WriteCall},
        run::Run,
    },
    write::aim::Unqueued,
};
use utterd_domain::{
    Conversation, Timestamp,
    change::Context,
    limits::{MAX_WAITING_WRITES, OUTCOME_RETENTION},
};

impl Engine {
    /// Decides a write in its conversation's queue, then commits and publishes it.
    pub(super) async fn write<T: Send + 'static>(
        self: &Arc<Self>,
        call: WriteCall,
        rule: impl FnMut(&Conversation, &Context<'_>) -> Ruling<T> + Send + 'static,
    ) -> Result<Applied<T>> {
        self.request(Request::new(call, rule), None).await
    }

    /// Like [`Self::write`], for a request whose rule returns a `T`, and the conversation that its address means, if
    /// that is known. Starts over if the address means another one by the time the write is decided.
    pub(super) async fn request<T: 'static>(
        self: &Arc<Self>,
        mut request: Box<Request>,
        mut target: Option<Target>,
    ) -> Result<Applied<T>> {
        let caller = request.call.caller.clone();
        loop {
            let (run, answer) = match self.submit(request, target.take(), MAX_WAITING_WRITES).await {
                Ok(submitted) => submitted,
                Err(unqueued) => return self.unqueued(&caller, unqueued).await,
            };
            run.into_iter().for_each(Run::start);
            request = match answer.await.map_err(|_| EngineError::Interrupted)? {
                Ok(answer) => return answer?.typed(),
                Err(request) => request,
            };
            request.try_again()?;
        }
    }

    /// Returns the answer to a write that is not put in a queue.
    pub(super) async fn unqueued<T>(
        self: &Arc<Self>,
        caller: &Caller,
        unqueued: Unqueued,
    ) -> Result<Applied<T>> {
        match unqueued {
            Unqueued::Failed(error) => Err(error),
            Unqueued::Earlier(outcome) => Box::pin(self.replay(caller, outcome)).await,
        }
    }

    /// Puts a write in its conversation's queue, after finding the conversation if its `target` is not known. Returns
    /// the queue's run, to be started, if it was free. Fails if `most` writes already wait there.
    pub(super) async fn submit(
        self: &Arc<Self>,
        request: Box<Request>,
        target: Option<Target>,
        most: usize,
    ) -> Result<(Option<Run>, oneshot::Receiver<Reply>), Unqueued> {
        let target = match target {
            Some(target) => target,
            None => self.aim(&request.call, request.is_first()).await?,
        };
        let key = target.key.clone();
        let (write, answer) = QueuedWrite::new(request, target);
        Ok((self.enqueue(&key, write, most)?, answer))
    }

    /// Returns the time before which an outcome is no longer valid.
    pub(super) fn oldest_outcome(&self) -> Timestamp {
        self.clock.now().minus(OUTCOME_RETENTION)
    }

    /// Returns the result of a write on `before`.
    pub(super) fn applied(
        &self,
        call: &WriteCall,
        before: &Arc<Conversation>,
        decided: Option<&Decided>,
        named: Named,
    ) -> Applied<()> {
        Applied::on(before, decided, named, call.attempt.as_ref(), self.now())
    }
}
