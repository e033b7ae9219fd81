//! Ending conversations: when asked to, and when the next message finds one that was left idle.

use std::sync::Arc;

use crate::{
    domain::{
        Conversation, Loaded, Refusal, Transition, Verdict,
        change::Context,
        end::{End, IDLE_TIMEOUT, end, is_left},
    },
    engine::{
        Address, Applied, Attempt, Caller, Engine, EngineError, Operation,
        lane::Pending,
        line::Ahead,
        settle::Settled,
        several::{Beside, Step},
        write::{Decision, Missing, Target, WriteCall},
    },
    store::{Outcome, PointerWrite, RecipientKey},
};

/// Ended conversations that are removed at a time.
const BATCH: usize = 64;

/// Which conversation to end, and why.
#[derive(Clone, Debug)]
pub struct EndCall {
    /// The conversation.
    pub address: Address,
    /// What to end it with.
    pub end: End,
    /// The caller's name for this attempt.
    pub attempt: Option<Attempt>,
}

/// What became of it.
pub type EndReply = Applied<()>;

impl Engine {
    /// Ends a conversation, and takes it from its recipient.
    pub async fn end_conversation(&self, caller: &Caller, call: EndCall) -> Result<EndReply, EngineError> {
        let write = WriteCall {
            caller,
            address: &call.address,
            attempt: call.attempt.as_ref(),
            operation: Operation::EndConversation,
            missing: Missing::Refuse,
            releases: true,
            resolved: None,
        };
        self.write(write, |before, context| {
            let transition = Some(end(before, &call.end, context)?);
            Ok(Verdict::Decided(Decision { transition, target: None, value: () }))
        })
        .await
    }

    /// Whether a write to a recipient's conversation starts another one instead.
    pub(super) fn is_left(&self, call: &WriteCall<'_>, known: &Conversation) -> bool {
        let Missing::Create { answers } = call.missing else { return false };
        let by_recipient = call.address.conversation.is_none();
        by_recipient && is_left(known, self.clock.now(), self.defaults.idle_timeout, answers)
    }

    /// Ends the conversation that was left and starts its recipient's next one, in one commit. The
    /// next one has the policy and the encoding of the one before. The lane of `left` is held.
    pub(super) async fn roll_over<T: Send>(
        &self,
        call: &WriteCall<'_>,
        target: &Target,
        pending: &mut Pending,
        left: &Arc<Conversation>,
        ahead: Option<&Ahead<'_>>,
        decide: &mut (impl FnMut(&Conversation, &Context<'_>) -> Result<Verdict<Decision<T>>, Refusal> + Send),
    ) -> Result<(Settled, Applied<T>), EngineError> {
        let old = &target.resolved.lane;
        let now = self.clock.now().max(left.head.update_time);
        let ending = self.left(left, now)?;
        let key = call.caller.key(self.new_conversation_id());
        let fresh = Arc::new(self.successor(key, left, now));
        let Decision { transition, target: sequence, value } =
            self.decide_on(&fresh, None, now, decide).await?;
        let Some(start) = transition else { return Err(EngineError::Interrupted) };
        let outcome = call.attempt.map(|attempt| {
            let outcome = attempt.outcome(now, &start.after, Some(&start.change), sequence);
            let ended = Some(left.key().id.clone());
            (attempt.key(call.caller), Arc::new(Outcome { ended, ..outcome }))
        });
        let pointer = PointerWrite {
            recipient: call.caller.recipient(left.head.identity.recipient.clone()),
            before: Some(left.key().id.clone()),
            after: Some(start.after.key().id.clone()),
        };
        // nobody else knows of the new conversation yet
        let new = self.lanes.lane(start.after.key());
        let mut beginning = new.pending.lock().await;
        let (ends, starts) = (Operation::EndConversation, call.operation);
        let steps = vec![
            Step { before: left.clone(), transition: ending, operation: ends, attempt: None },
            Step { before: fresh, transition: start, operation: starts, attempt: call.attempt },
        ];
        let beside = Beside { ahead, pointers: vec![pointer], outcomes: outcome.into_iter().collect() };
        let (settled, done) = self.commit_on(&mut [(old, pending), (&new, &mut beginning)], steps, beside);
        self.let_go(&new, &mut beginning);
        let mut done = done.into_iter();
        let (Some((_, ended)), Some((change, after))) = (done.next(), done.next()) else {
            return Err(EngineError::Interrupted);
        };
        Ok((settled, Applied::Now { after, change: Some(change), ended: Some(ended), value }))
    }

    fn left(&self, left: &Conversation, now: crate::domain::Timestamp) -> Result<Transition, Refusal> {
        let counter = self.counter(left.head.identity.encoding);
        let context = Context { now, counter, loaded: &Loaded::default(), llm: self.has_summarizer() };
        end(left, &End { reason: IDLE_TIMEOUT.into(), expected: None }, &context)
    }

    /// Removes those of the recipient's ended conversations that are more than are retained, the ones
    /// that ended first.
    pub(super) async fn retire(&self, recipient: &RecipientKey) -> Result<(), EngineError> {
        let caller = Caller { namespace: recipient.namespace.clone() };
        let keep = self.defaults.max_conversations_retained;
        if keep == 0 {
            return Ok(());
        }
        loop {
            let beyond = self.store.ended_beyond(recipient, keep, BATCH).await?;
            for id in &beyond {
                let key = caller.key(id.clone());
                self.remove(&key, Operation::RetireConversation, |_| Ok(())).await?;
            }
            if beyond.len() < BATCH {
                return Ok(());
            }
        }
    }
}
