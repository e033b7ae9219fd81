//! The run of a queue: deciding, committing and answering the waiting writes in order.

use std::sync::Arc;

use crate::{
    Address, Applied, Engine, EngineError, Operation, Result,
    applied::{Decided, RuleResult, Value},
    lane::{
        batch::{Batch, Finished, MOST, NotJoined, answer, conflicted},
        commit::{Extras, Part, Uncommitted},
        completed::start,
        decide::{Moved, is_long},
        hold::Hold,
        queue::Queue,
        queued::{QueuedWrite, WriteCall, Writes},
        recipient_state::RecipientStateWrite,
    },
};
use utterd_domain::{
    Conversation, ConversationKey,
    end::{End, IDLE_TIMEOUT, end},
};
use utterd_store::{PointerWrite, RecipientKey};
use utterd_telemetry::panics::{Panicked, Within};

/// The number of rounds after which a run yields to other tasks on its thread.
const ROUNDS: usize = 16;

/// The only run of a queue.
#[must_use = "if it is dropped without being started, so are the waiting writes"]
pub struct Run {
    engine: Arc<Engine>,
    queue: Arc<Queue>,
    has_ended: bool,
}

impl Engine {
    /// Puts a write in a conversation's queue. Returns the queue's run, for the caller to start, if there is none.
    /// Refuses the write if `most` already wait.
    pub(crate) fn enqueue(
        self: &Arc<Self>,
        key: &ConversationKey,
        write: Box<QueuedWrite>,
        most: usize,
    ) -> Result<Option<Run>> {
        let queue = self.queues.of(key);
        Ok(queue.push(write, most)?.then(|| Run { engine: self.clone(), queue, has_ended: false }))
    }

    /// Returns the conversation that follows one that ended, before its first revision.
    fn successor(&self, key: ConversationKey, ended: &Conversation) -> Arc<Conversation> {
        let (recipient, encoding) = (&ended.head.identity.recipient, ended.head.identity.encoding);
        let address = Address { recipient: Some(recipient.clone()), ..Address::default() };
        let identity = self.identity(key, &address, encoding, self.now_for(ended));
        Arc::new(Conversation::new(identity, ended.head.policy.clone()))
    }
}

impl Drop for Run {
    /// Without a run, as when the runtime shuts down, the waiting callers see their channels close.
    fn drop(&mut self) {
        if !self.has_ended {
            self.queue.abandon();
        }
    }
}

impl Run {
    /// Runs here until it has to wait, and the rest in its own task.
    pub fn start(self) {
        start(self.go());
    }

    /// Decides and commits the waiting writes until none are left.
    ///
    /// One commit is in flight at a time. Writes that arrive meanwhile wait and share the next one; so every
    /// decision is based on a committed state, or on the result of the writes before it in the same batch. Between
    /// two commits, others may hold the conversation.
    async fn go(mut self) {
        let (mut writes, mut most) = (Writes::new(), MOST);
        for round in 1.. {
            let hold = Hold::of(&self.engine, self.queue.clone()).await;
            // taken before the state is read, so that the state is no older than any of them
            self.queue.take(&mut writes, most);
            let batch = Within::Queue.catching(drive_batch(&hold, &mut writes, most)).await;
            let finished = batch.unwrap_or_else(|Panicked| {
                self.queue.forget();
                Finished::nothing(1)
            });
            most = finished.most;
            if writes.is_empty() && self.end() {
                // the last to leave removes the queue of a conversation that does not exist
                drop(self);
                drop(hold);
                return answer(finished.answered);
            }
            drop(hold);
            answer(finished.answered);
            if round % ROUNDS == 0 {
                tokio::task::yield_now().await;
            }
        }
    }

    /// Ends the run unless writes wait. Returns whether it did.
    fn end(&mut self) -> bool {
        self.has_ended = self.queue.end_run();
        self.has_ended
    }
}

/// Makes one commit of the first writes, at most this many. Those that have to be decided again are first afterwards.
async fn drive_batch(hold: &Hold, writes: &mut Writes, most: usize) -> Finished {
    let engine = &hold.engine;
    // if several have seen a state, there is no telling which is the newest
    let alone = writes.len().min(most) == 1;
    let seen = writes.iter_mut().take(most).filter_map(|write| write.target.seen.take()).last();
    let seen = seen.filter(|_| alone);
    let begun = Within::Queue.catching(Batch::on(hold, seen)).await;
    let mut batch = match begun.unwrap_or(Err(EngineError::Panicked)) {
        Ok(batch) => Box::new(batch),
        Err(error) => {
            let failed = |write| (write, Some(Err(error.clone())));
            return Finished { answered: writes.drain(..).map(failed).collect(), most: MOST };
        }
    };
    for _ in 0..most {
        let Some(write) = writes.pop_front() else { break };
        match batch.join(engine, write).await {
            Ok(()) => {}
            Err((write, NotJoined::RollsOver(left))) => {
                // it may hold the recipient's own state for a write that was refused, which this one needs
                drop(batch);
                let undecided = Box::pin(roll_over(hold, write, left)).await;
                undecided.into_iter().for_each(|write| writes.push_front(write));
                return Finished::nothing(MOST);
            }
            Err((write, NotJoined::Panicked)) => {
                write.answer(Some(Err(EngineError::Panicked)));
                batch.give_up(writes);
                return Finished::nothing(MOST);
            }
            Err((write, _)) => {
                writes.push_front(write);
                break;
            }
        }
    }
    batch.finish(engine, writes).await
}

/// Ends the conversation that was left idle and starts its recipient's next one with the write, in one commit.
/// The next one inherits the policy and the encoding. Returns the write if it has to be decided again.
async fn roll_over(
    hold: &Hold,
    write: Box<QueuedWrite>,
    left: Arc<Conversation>,
) -> Option<Box<QueuedWrite>> {
    let (engine, call) = (&hold.engine, write.request.call.clone());
    let fresh = engine.successor(call.caller.key(engine.new_conversation_id()), &left);
    let is_long = is_long(&fresh, &call);
    let (write, decision) = engine.decide_write(write, &fresh, &Moved::default(), is_long).await;
    let rolled = Within::Queue.catching(async { rolled_over(hold, &call, &left, fresh, decision?).await });
    match rolled.await.unwrap_or(Err(Uncommitted::Panicked)) {
        Ok((done, ended)) => {
            engine.retention.add(RecipientKey::of(&ended.head.identity));
            write.answer(Some(Ok(done)));
        }
        Err(Uncommitted::Conflict(conflict)) => return conflicted(write, &conflict),
        Err(error) => {
            let answer = engine.refused(&write.request.call, &write.target, error.into()).await;
            write.answer(answer);
        }
    }
    None
}

async fn rolled_over(
    hold: &Hold,
    call: &WriteCall,
    left: &Arc<Conversation>,
    fresh: Arc<Conversation>,
    decision: Option<RuleResult<Value>>,
) -> Result<(Applied<Value>, Arc<Conversation>), Uncommitted> {
    let engine = &hold.engine;
    let decision = decision.ok_or(EngineError::Interrupted)?;
    let idle = End { reason: IDLE_TIMEOUT.into(), expected: None };
    let ending = engine.rehearse(left, move |before, context| Ok(end(before, &idle, context)?)).await?;
    let start = decision.transition.ok_or(EngineError::Interrupted)?;
    let commit = engine.next_change();
    let (ending, start) = (Decided::of(ending, commit), Decided::of(start, commit));
    let mut done = engine.applied(call, &fresh, Some(&start), decision.named);
    Arc::make_mut(&mut done.outcome).ended = Some(left.key().id.clone());
    let pointer = PointerWrite {
        recipient: call.caller.recipient(left.head.identity.recipient.clone()),
        before: Some(left.key().id.clone()),
        after: Some(start.after.key().id.clone()),
    };
    // nobody else can name the new conversation yet, so this never waits
    let beginning = engine.hold(start.after.key()).await;
    let mut recipient_state = RecipientStateWrite::default();
    recipient_state.change(engine, call, &fresh.head.identity, commit).await?;
    let (state, _hold) = recipient_state.done();
    let mut parts = vec![
        Part::from(hold, left).and(&ending, Operation::EndConversation, None),
        Part::from(&beginning, &fresh).and(&start, call.operation, call.attempt.as_ref()),
    ];
    parts.extend(state);
    let extras = Extras { pointers: vec![pointer], outcomes: call.kept(&done).into_iter().collect() };
    engine.commit(&mut parts, extras).await?;
    Ok((done.with(decision.value), ending.after))
}
