//! Driving a queue: deciding, committing and answering the waiting writes in order.

use std::{collections::VecDeque, sync::Arc};

use crate::{
    Engine, EngineError, Operation,
    applied::{Decided, Done},
    lane::{
        batch::{Batch, Joined, conflicted},
        beside::Beside,
        commit::{Extras, Part, Uncommitted},
        decide::{Moved, is_long},
        hold::Hold,
        queued::{Answer, Decision, Entry, QueuedWrite, WriteCall},
    },
};
use utterd_domain::{
    Conversation,
    end::{End, IDLE_TIMEOUT, end},
};
use utterd_store::PointerWrite;
use utterd_telemetry::panics::{Panicked, Within};

#[cfg(test)]
mod tests;

/// The most writes in one commit.
const BATCH: usize = 256;
/// The number of rounds after which the driver yields to other tasks on its thread.
const ROUNDS: usize = 16;

impl Engine {
    /// Decides and commits the waiting writes until none are left, or until someone asks for the hold. `first`
    /// goes before all of them.
    ///
    /// One commit is in flight at a time. Writes that arrive meanwhile wait and share the next one; so every
    /// decision is based on a committed state, or on the result of the writes before it in the same batch.
    pub(crate) async fn drive(mut hold: Hold, mut first: Option<Entry>) {
        hold.begin();
        let mut most = BATCH;
        for round in 1.. {
            let again = match first.take().or_else(|| hold.queue.take()) {
                Some(Entry::Write(write)) => drive_on(&hold, write, most).await,
                Some(Entry::Hold(next)) => match hold.leave_to(next) {
                    Some(back) => {
                        hold = back;
                        continue;
                    }
                    None => return,
                },
                None if hold.let_go() => return,
                None => continue,
            };
            most = if again { 1 } else { BATCH };
            if round % ROUNDS == 0 {
                tokio::task::yield_now().await;
            }
        }
    }
}

/// Like [`drive_batch`], and goes on after a panic: the writes of that batch are interrupted, and the state is loaded
/// again.
async fn drive_on(hold: &Hold, first: Box<dyn QueuedWrite>, most: usize) -> bool {
    let driven = Within::Queue.catching(drive_batch(hold, first, most)).await;
    driven.unwrap_or_else(|Panicked| {
        hold.queue.forget();
        true
    })
}

/// Makes one commit of `first` and the writes waiting behind it. Returns whether its writes are back in the
/// queue, to be decided one by one.
async fn drive_batch(hold: &Hold, first: Box<dyn QueuedWrite>, most: usize) -> bool {
    // taken before the state is read, so that the state is no older than any of them
    let (mut next, mut writes) = (Some(first), VecDeque::new());
    while writes.len() + 1 < most
        && let Some(write) = next_write(hold)
    {
        writes.push_back(write);
    }
    let engine = &hold.engine;
    // if several have seen a state, there is no telling which is the newest
    let alone = writes.is_empty();
    let seen = next.iter_mut().chain(&mut writes).filter_map(|write| write.take_seen()).last();
    let seen = seen.filter(|_| alone);
    let begun = Within::Queue.catching(Batch::on(hold, seen)).await;
    let mut batch = match begun.unwrap_or(Err(EngineError::Panicked)) {
        Ok(batch) => Box::new(batch),
        Err(error) => {
            next.into_iter().chain(writes).for_each(|write| write.answer(Answer::Failed(error.clone())));
            return false;
        }
    };
    while let Some(write) = next.take().or_else(|| writes.pop_front()) {
        match batch.join(engine, write).await {
            Joined::Yes => {}
            Joined::AfterCommit(write) => {
                put_back(hold, writes);
                hold.queue.put_back(Entry::Write(write));
                break;
            }
            Joined::Panicked => {
                put_back(hold, writes);
                put_back(hold, batch.given_up());
                return false;
            }
            Joined::RollsOver(write, left) => {
                put_back(hold, writes);
                Box::pin(roll_over(hold, write, left)).await;
                return false;
            }
        }
    }
    let (again, one_by_one) = batch.finish(engine).await;
    put_back(hold, again);
    one_by_one
}

/// Puts writes back at the front of the queue, keeping their order.
fn put_back(
    hold: &Hold,
    writes: impl IntoIterator<Item = Box<dyn QueuedWrite>, IntoIter: DoubleEndedIterator>,
) {
    writes.into_iter().rev().for_each(|write| hold.queue.put_back(Entry::Write(write)));
}

/// Takes the next entry if it is a write.
fn next_write(hold: &Hold) -> Option<Box<dyn QueuedWrite>> {
    match hold.queue.take()? {
        Entry::Write(write) => Some(write),
        other => {
            hold.queue.put_back(other);
            None
        }
    }
}

/// Ends the conversation that was left idle and starts its recipient's next one with the write, in one commit.
/// The next one inherits the policy and the encoding.
async fn roll_over(hold: &Hold, write: Box<dyn QueuedWrite>, left: Arc<Conversation>) {
    let (engine, call) = (&hold.engine, write.call().clone());
    let fresh = engine.successor(call.caller.key(engine.new_conversation_id()), &left);
    let (write, decision) = engine
        .decide(
            write,
            |write, before, context| write.decide(before, context),
            &fresh,
            &Moved::default(),
            is_long(&fresh, &call),
        )
        .await;
    let rolled = Within::Queue.catching(async { rolled_over(hold, &call, &left, fresh, decision?).await });
    match rolled.await.unwrap_or(Err(Uncommitted::Panicked)) {
        Ok((done, ended)) => {
            hold.engine.retention.add(&ended);
            write.answer(Answer::Applied(done));
        }
        Err(Uncommitted::Conflict(conflict)) => {
            if let Some(write) = conflicted(write, &conflict) {
                hold.queue.put_back(Entry::Write(write));
            }
        }
        Err(error) => {
            let answer = hold.engine.refused(write.call(), write.target(), error.into()).await;
            write.answer(answer);
        }
    }
}

async fn rolled_over(
    hold: &Hold,
    call: &WriteCall,
    left: &Arc<Conversation>,
    fresh: Arc<Conversation>,
    decision: Option<Decision<()>>,
) -> Result<(Done, Arc<Conversation>), Uncommitted> {
    let engine = &hold.engine;
    let decision = decision.ok_or(EngineError::Interrupted)?;
    let idle = End { reason: IDLE_TIMEOUT.into(), expected: None };
    let ending = engine
        .rehearse(left, move |before, context| {
            Ok(utterd_domain::Verdict::Decided(end(before, &idle, context)?))
        })
        .await?;
    let start = decision.transition.ok_or(EngineError::Interrupted)?;
    let commit = engine.next_change();
    let (ending, start) = (Decided::of(ending, commit), Decided::of(start, commit));
    let mut done = engine.done(call, &fresh, Some(&start), decision.named);
    Arc::make_mut(&mut done.outcome).ended = Some(left.key().id.clone());
    let pointer = PointerWrite {
        recipient: call.caller.recipient(left.head.identity.recipient.clone()),
        before: Some(left.key().id.clone()),
        after: Some(start.after.key().id.clone()),
    };
    // nobody else can name the new conversation yet, so this never waits
    let beginning = engine.hold(start.after.key()).await?;
    let mut beside = Beside::default();
    let state = beside.decide(engine, call, &fresh.head.identity, commit).await?;
    beside.add(state.as_ref(), call);
    let (state, _hold) = beside.done();
    let mut parts = vec![
        Part::from(hold, left).and(&ending, Operation::EndConversation, None),
        Part::from(&beginning, &fresh).and(&start, call.operation, call.attempt.as_ref()),
    ];
    parts.extend(state);
    let extras = Extras { pointers: vec![pointer], outcomes: call.kept(&done).into_iter().collect() };
    engine.commit(&mut parts, extras).await?;
    Ok((done, ending.after))
}
