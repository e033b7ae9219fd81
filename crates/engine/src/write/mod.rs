//! The calls that change conversations.

pub(super) mod aim;
pub(super) mod background;
pub(super) mod command;
pub(super) mod compact;
pub(super) mod end;
pub(super) mod erase;
pub(super) mod forget;
pub(super) mod fork;
pub(super) mod import;
pub(super) mod memorize;
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
    applied::{Decided, Done},
    events::facts::Named,
    lane::{
        queued::{Decision, Reply, Request, Unapplied, WriteCall},
        run::Run,
    },
    write::aim::Aimed,
};
use utterd_domain::{
    Conversation, Refusal, Timestamp, Verdict,
    change::Context,
    limits::{MAX_WAITING_WRITES, OUTCOME_RETENTION},
};
use utterd_store::Outcome;

/// A submitted write.
pub(super) enum Submitted<T> {
    /// It waits in a queue, whose run is to be started, if it was free.
    Waits(Option<Run>, oneshot::Receiver<Reply<T>>),
    Earlier(Arc<Outcome>),
}

impl Engine {
    /// Decides a write in its conversation's queue, then commits and publishes it.
    pub(super) async fn write<T: Send + 'static>(
        self: &Arc<Self>,
        call: WriteCall,
        rule: impl FnMut(&Conversation, &Context<'_>) -> Result<Verdict<Decision<T>>, Refusal> + Send + 'static,
    ) -> Result<Applied<T>> {
        self.decided(Box::new(Request::new(call, rule))).await
    }

    /// Like [`Self::write`], for a request with its rule. Starts over if the address means another
    /// conversation by the time the write is decided.
    pub(super) async fn decided<T: Send + 'static>(
        self: &Arc<Self>,
        mut request: Box<Request<T>>,
    ) -> Result<Applied<T>> {
        let caller = request.call.caller.clone();
        loop {
            let (run, reply) = match self.submit(request, MAX_WAITING_WRITES).await? {
                Submitted::Waits(run, reply) => (run, reply),
                Submitted::Earlier(outcome) => return self.earlier(&caller, outcome).await,
            };
            run.into_iter().for_each(Run::start);
            request = match reply.await.map_err(|_| EngineError::Interrupted)? {
                Ok(applied) => return Ok(applied),
                Err(Unapplied::Failed(error)) => return Err(error),
                Err(Unapplied::Anew(request)) => request.again()?,
            };
        }
    }

    /// Like [`Self::decided`], for a request that has to be resolved again.
    pub(super) async fn again<T: Send + 'static>(
        self: &Arc<Self>,
        request: Box<Request<T>>,
    ) -> Result<Applied<T>> {
        self.decided(request.again()?).await
    }

    /// Returns the answer to an attempt that was already made.
    pub(super) async fn earlier<T>(
        self: &Arc<Self>,
        caller: &Caller,
        outcome: Arc<Outcome>,
    ) -> Result<Applied<T>> {
        Box::pin(self.replay(caller, outcome)).await
    }

    /// Resolves the write's address, unless that is already done, and puts the write in the conversation's
    /// queue. Fails if `most` entries already wait there.
    pub(super) async fn submit<T: Send + 'static>(
        self: &Arc<Self>,
        mut request: Box<Request<T>>,
        most: usize,
    ) -> Result<Submitted<T>> {
        let target = match request.target.take() {
            Some(target) => target,
            None => match self.aim(&request.call, request.is_first()).await? {
                Aimed::At(target) => target,
                Aimed::Earlier(outcome) => return Ok(Submitted::Earlier(outcome)),
            },
        };
        let key = target.key.clone();
        let (write, reply) = request.queued(target);
        Ok(Submitted::Waits(self.enqueue(&key, write, most)?, reply))
    }

    /// Returns the time before which an outcome is no longer valid.
    pub(super) fn oldest_outcome(&self) -> Timestamp {
        self.clock.now().minus(OUTCOME_RETENTION)
    }

    /// Returns the result of a write on `before`.
    pub(super) fn done(
        &self,
        call: &WriteCall,
        before: &Arc<Conversation>,
        decided: Option<&Decided>,
        named: Named,
    ) -> Done {
        Done::on(before, decided, named, self.now()).by(call.attempt.as_ref())
    }
}
