//! Memorize: storing utterances.

use std::sync::Arc;

use crate::{
    Address, Applied, Attempt, Caller, Engine, EngineError, LONG_TEXT_BYTES, Operation, Result,
    applied::RuleResult,
    events::facts::Named,
    lane::{
        queue::Published,
        queued::{ATTEMPTS, Added, IfAbsent, Request, Target, WriteCall},
    },
    offload,
    write::{aim::Unqueued, erase::Erasure, reach::Gone},
};
use utterd_domain::{
    Draft, Encoding, Refusal, Revision, Role, Sequence,
    memorize::{Irregularity, Memorize, Replace, memorize, replace},
    state::{StateChange, UpdateState},
};

/// What to memorize, and where.
#[derive(Clone, Debug, Default)]
pub struct MemorizeCall {
    /// The conversation.
    pub address: Address,
    /// The utterances; each has passed [`Draft::check`].
    pub drafts: Vec<Draft>,
    /// The request id of this attempt, if the caller gave one.
    pub attempt: Option<Attempt>,
    /// The revision that the caller expects the conversation to have.
    pub expected: Option<Revision>,
    /// Set aside a result without a call instead of refusing it.
    pub lenient: bool,
    /// Replace an utterance that already has the id of a draft.
    pub upsert: bool,
    /// The change to make to the conversation's state in the same commit.
    pub state: Option<StateChange>,
    /// The change to make to the recipient's own state in the same commit.
    pub recipient_state: Option<Arc<UpdateState>>,
}

/// The result, and the irregularities that were accepted.
pub type MemorizeReply = Applied<Vec<Irregularity>>;

/// A call whose conversation has been found and whose tokens are counted.
pub type Prepared = (Box<Request>, Target);

impl Engine {
    /// Stores the utterances, all or none. Starts the conversation if necessary.
    pub async fn memorize(self: &Arc<Self>, caller: &Caller, call: MemorizeCall) -> Result<MemorizeReply> {
        match self.prepare(caller, call).await {
            Ok((request, target)) => self.request(request, Some(target)).await,
            Err(unqueued) => self.unqueued(caller, unqueued).await,
        }
    }

    /// Erases the utterances after a sequence, here and in all conversations that share them or have copies,
    /// and memorizes new ones in their place. Starts the conversation if necessary. The outcome also names
    /// the erased utterances.
    pub async fn replace(
        self: &Arc<Self>,
        caller: &Caller,
        call: MemorizeCall,
        after: Sequence,
    ) -> Result<MemorizeReply> {
        for _ in 0..ATTEMPTS {
            if let Some(applied) = self.replace_stored(caller, call.clone(), after).await? {
                return Ok(applied);
            }
            // fails if another call starts the conversation meanwhile
            let expected = Some(call.expected.unwrap_or(Revision::NONE));
            let absent = MemorizeCall { expected, ..call.clone() };
            match self.memorize(caller, absent).await {
                Err(EngineError::Refused(Refusal::StaleRevision { .. })) if call.expected.is_none() => {}
                reply => return reply,
            }
        }
        Err(EngineError::Contended)
    }

    /// Like [`Self::replace`], if the conversation exists; `None` otherwise.
    async fn replace_stored(
        self: &Arc<Self>,
        caller: &Caller,
        call: MemorizeCall,
        after: Sequence,
    ) -> Result<Option<MemorizeReply>> {
        let encoding = self.defaults.encoding;
        let write = self.memorize_write(caller, &call);
        let MemorizeCall { drafts, expected, lenient, upsert, state, .. } = call;
        let (drafts, tokens) = self.tokens_of(drafts, encoding).await;
        let memorize = Memorize { drafts, tokens, encoding, expected, lenient, upsert, state };
        let command = Replace { after, memorize };
        self.erase(write, move |before, context| {
            let replaced = replace(before, &command, context)?;
            Ok(Erasure {
                gone: Gone { sequences: replaced.gone, exact: true, imported: None },
                result: RuleResult {
                    named: Named { utterances: replaced.removed, ..Named::default() },
                    ..RuleResult::of(replaced.transition, replaced.irregularities)
                },
            })
        })
        .await
    }

    fn memorize_write(&self, caller: &Caller, call: &MemorizeCall) -> WriteCall {
        let address = call.address.clone();
        let if_absent = match (&address.conversation, &address.recipient) {
            (Some(_), Some(_)) => IfAbsent::CreateAndActivate,
            _ => IfAbsent::Create,
        };
        let answers = call.drafts.first().is_some_and(|draft| draft.role == Role::Tool);
        let recipient_state = call.recipient_state.clone();
        let write = WriteCall::new(caller, address, call.attempt.clone(), Operation::Memorize);
        WriteCall { if_absent, answers, recipient_state, ..write }
    }

    /// Finds the conversation and counts the tokens.
    pub(crate) async fn prepare(
        self: &Arc<Self>,
        caller: &Caller,
        call: MemorizeCall,
    ) -> Result<Prepared, Unqueued> {
        let mut write = self.memorize_write(caller, &call);
        let MemorizeCall { drafts, expected, lenient, upsert, state, .. } = call;
        let target = self.aim(&write, true).await?;
        let encoding = self.encoding_of(&write.address, &target).await?;
        let (drafts, tokens) = self.tokens_of(drafts, encoding).await;
        write.added = Added::of(&tokens);
        let command = Memorize { drafts, tokens, encoding, expected, lenient, upsert, state };
        let request = Request::new(write, move |before, context| {
            let memorized = memorize(before, &command, context)?;
            Ok(RuleResult::of(memorized.transition, memorized.irregularities))
        });
        Ok((request, target))
    }

    /// Returns the encoding in which a conversation's tokens are counted, or will be.
    async fn encoding_of(self: &Arc<Self>, address: &Address, target: &Target) -> Result<Encoding> {
        let starts = address.conversation.is_none() && !target.exists;
        let published = || self.queues.get(&target.key).map(|queue| queue.published());
        let state = match (&target.seen, starts) {
            (_, true) => None,
            (Some(seen), _) => seen.clone(),
            (None, _) => match published() {
                Some(Published::State(state)) => Some(state),
                _ => self.published(&target.key).await?,
            },
        };
        Ok(state.map_or(self.defaults.encoding, |state| state.head.identity.encoding))
    }
}

impl Engine {
    /// Counts the tokens of each draft.
    pub(crate) async fn tokens_of(&self, drafts: Vec<Draft>, encoding: Encoding) -> (Vec<Draft>, Vec<u32>) {
        let bytes: usize = drafts.iter().map(Draft::content_bytes).sum();
        let counter = self.counter(encoding);
        let count = move || {
            let tokens: Vec<u32> = drafts.iter().map(|draft| draft.tokens(counter)).collect();
            (drafts, tokens)
        };
        let (drafts, tokens) = offload(bytes > LONG_TEXT_BYTES, count).await;
        self.meters.tokens.inc_by(tokens.iter().map(|tokens| u64::from(*tokens)).sum());
        (drafts, tokens)
    }
}
