//! Memorize.

use crate::{
    domain::{
        Conversation, ConversationKey, Draft, Refusal, Revision, Role, TokenCounter, Verdict,
        change::Context,
        memorize::{Irregularity, Memorize, memorize},
    },
    engine::{
        Address, Applied, Attempt, COUNT_ASIDE_BYTES, Caller, Engine, EngineError, Operation, aside,
        write::{Decision, Missing, Resolved, WriteCall},
    },
};

/// What to memorize, and where.
#[derive(Clone, Debug)]
pub struct MemorizeCall {
    /// The conversation.
    pub address: Address,
    /// What was said; each has passed [`Draft::check`].
    pub drafts: Vec<Draft>,
    /// The caller's name for this attempt.
    pub attempt: Option<Attempt>,
    /// The revision that the caller expects.
    pub expected: Option<Revision>,
    /// Keeps a result without a call aside.
    pub lenient: bool,
}

/// What became of it, and what was let pass.
pub type MemorizeReply = Applied<Vec<Irregularity>>;

/// A call whose tokens are counted.
pub(super) struct Prepared {
    address: Address,
    attempt: Option<Attempt>,
    command: Memorize,
    /// What the address meant, unless the call starts a conversation.
    resolved: Option<Resolved>,
}

impl Engine {
    /// Stores the utterances, all or none; starts the conversation if need be.
    pub async fn memorize(&self, caller: &Caller, call: MemorizeCall) -> Result<MemorizeReply, EngineError> {
        let call = self.prepare(caller, call).await?;
        self.memorize_prepared(caller, &call).await
    }

    pub(super) async fn memorize_prepared(
        &self,
        caller: &Caller,
        call: &Prepared,
    ) -> Result<MemorizeReply, EngineError> {
        self.write(call.write(caller), call.decide()).await
    }

    /// Finds the conversation, and counts the tokens.
    pub(super) async fn prepare(&self, caller: &Caller, call: MemorizeCall) -> Result<Prepared, EngineError> {
        let MemorizeCall { address, drafts, attempt, expected, lenient } = call;
        let resolved = match self.resolve(caller, &address).await? {
            Some(id) => Some(self.known(&caller.key(id)).await?),
            None => None,
        };
        let identity = resolved.as_ref().and_then(|resolved| resolved.identity.as_ref());
        let encoding = identity.map_or(self.defaults.encoding, |identity| identity.encoding);
        let (drafts, tokens) = count(drafts, self.counter(encoding)).await?;
        let command = Memorize { drafts, tokens, encoding, expected, lenient };
        Ok(Prepared { address, attempt, command, resolved })
    }

    /// The lane of a conversation, which is loaded if it is stored.
    async fn known(&self, key: &ConversationKey) -> Result<Resolved, EngineError> {
        let lane = self.lanes.lane(key);
        let mut identity = lane.identity();
        if identity.is_none() {
            let mut pending = lane.pending.lock().await;
            if let Err(error) = self.load(&lane, &mut pending).await {
                self.let_go(&lane, &mut pending);
                return Err(error);
            }
            identity = lane.identity();
        }
        Ok(Resolved { lane, identity })
    }
}

impl Prepared {
    pub(super) fn write<'a>(&'a self, caller: &'a Caller) -> WriteCall<'a> {
        WriteCall {
            caller,
            address: &self.address,
            attempt: self.attempt.as_ref(),
            operation: Operation::Memorize,
            missing: Missing::Create { answers: self.answers() },
            releases: false,
            resolved: self.resolved.as_ref(),
        }
    }

    pub(super) fn decide(
        &self,
    ) -> impl FnMut(&Conversation, &Context<'_>) -> Result<Verdict<Decision<Vec<Irregularity>>>, Refusal> + Send
    {
        |before, context| {
            Ok(memorize(before, &self.command, context)?.map(|memorized| Decision {
                transition: Some(memorized.transition),
                target: None,
                value: memorized.irregularities,
            }))
        }
    }

    /// Whether it begins with a tool's result.
    fn answers(&self) -> bool {
        self.command.drafts.first().is_some_and(|draft| draft.role == Role::Tool)
    }

    /// The address may mean another conversation by now.
    pub(super) fn forget_resolved(&mut self) {
        self.resolved = None;
    }
}

/// Counts the drafts' tokens: on this thread when there is little text, else beside it.
pub(super) async fn count(
    drafts: Vec<Draft>,
    counter: &'static dyn TokenCounter,
) -> Result<(Vec<Draft>, Vec<u32>), EngineError> {
    let bytes: usize = drafts.iter().map(Draft::content_bytes).sum();
    let count = move || {
        let tokens = drafts.iter().map(|draft| draft.tokens(counter)).collect();
        (drafts, tokens)
    };
    aside(bytes > COUNT_ASIDE_BYTES, count).await
}
