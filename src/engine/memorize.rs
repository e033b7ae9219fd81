//! Memorize.

use crate::{
    domain::{
        Draft, Encoding, Revision, TokenCounter,
        memorize::{Irregularity, Memorize, memorize},
    },
    engine::{
        Address, Applied, Attempt, COUNT_ASIDE_BYTES, Caller, Engine, EngineError, Operation, aside,
        write::{Decision, Missing, WriteCall},
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

impl Engine {
    /// Stores the utterances, all or none; starts the conversation if need be.
    pub async fn memorize(&self, caller: &Caller, call: MemorizeCall) -> Result<MemorizeReply, EngineError> {
        let MemorizeCall { address, drafts, attempt, expected, lenient } = call;
        let encoding = self.encoding_of(caller, &address).await?;
        let (drafts, tokens) = count(drafts, self.counter(encoding)).await?;
        let command = Memorize { drafts, tokens, encoding, expected, lenient };
        let call = WriteCall {
            caller,
            address: &address,
            attempt: attempt.as_ref(),
            operation: Operation::Memorize,
            missing: Missing::Create,
        };
        self.write(call, |before, context| {
            Ok(memorize(before, &command, context)?.map(|memorized| Decision {
                transition: Some(memorized.transition),
                target: None,
                value: memorized.irregularities,
            }))
        })
        .await
    }

    /// What the conversation's tokens are, or will be, counted in.
    async fn encoding_of(&self, caller: &Caller, address: &Address) -> Result<Encoding, EngineError> {
        let Some(id) = self.resolve(caller, address).await? else { return Ok(self.defaults.encoding) };
        let lane = self.lanes.get(&caller.key(id));
        Ok(lane.and_then(|lane| lane.encoding()).unwrap_or(self.defaults.encoding))
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
