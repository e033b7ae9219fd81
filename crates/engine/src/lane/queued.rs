//! A write on its way: the request, its wait in a queue, and its result.

use std::{collections::VecDeque, sync::Arc};

use tokio::sync::oneshot;

use crate::{
    Address, Applied, Attempt, Caller, EngineError, Operation, Result,
    applied::{RuleResult, Value},
};
use utterd_domain::{Conversation, ConversationKey, Policy, Undecided, change::Context, state::UpdateState};
use utterd_store::{Outcome, OutcomeKey, PointerWrite};

/// How often something is retried because others were faster.
pub const ATTEMPTS: u32 = 64;

/// What a rule returns: its result, or why there is none yet.
pub type Ruling<T> = Result<RuleResult<T>, Undecided>;

/// Makes a decision from a state. It is called again when it needs to see more, or when the state turns out not
/// to be the newest.
type Rule = dyn FnMut(&Conversation, &Context<'_>) -> Ruling<Value> + Send;

/// How a write treats a conversation that does not exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IfAbsent {
    /// Refuse the write.
    Refuse,
    /// Create it; and if the recipient's active one was left idle, create the next.
    Create,
    /// Create it, and make it the recipient's active one unless there already is one.
    CreateAndActivate,
}

/// What a write adds to a window.
#[derive(Clone, Copy, Default)]
pub struct Added {
    pub utterances: usize,
    pub tokens: u64,
}

impl Added {
    /// Utterances with these `tokens`.
    pub fn of(tokens: &[u32]) -> Self {
        Self { utterances: tokens.len(), tokens: tokens.iter().map(|tokens| u64::from(*tokens)).sum() }
    }
}

/// Describes a write.
#[derive(Clone)]
pub struct WriteCall {
    pub caller: Caller,
    pub address: Address,
    pub attempt: Option<Attempt>,
    pub operation: Operation,
    pub if_absent: IfAbsent,
    /// It begins with a tool result: it goes to the conversation that waits for that result, however long idle.
    pub answers: bool,
    /// The change to the recipient's own state to make in the same commit.
    pub recipient_state: Option<Arc<UpdateState>>,
    /// What it adds to the window.
    pub added: Added,
}

impl WriteCall {
    /// Creates a write to a conversation that exists.
    pub fn new(caller: &Caller, address: Address, attempt: Option<Attempt>, operation: Operation) -> Self {
        let (caller, if_absent) = (caller.clone(), IfAbsent::Refuse);
        Self {
            caller,
            address,
            attempt,
            operation,
            if_absent,
            answers: false,
            recipient_state: None,
            added: Added::default(),
        }
    }

    /// Returns the key of the attempt's outcome, if the caller gave a request id.
    pub fn outcome_key(&self) -> Option<OutcomeKey> {
        self.attempt.as_ref().map(|attempt| attempt.key(&self.caller))
    }

    /// Returns the outcome to store, so that the attempt can be replayed.
    pub fn kept(&self, done: &Applied<()>) -> Option<(OutcomeKey, Arc<Outcome>)> {
        self.outcome_key().map(|key| (key, done.outcome.clone()))
    }
}

/// The conversation a write goes to.
#[derive(Clone)]
pub struct Target {
    pub key: ConversationKey,
    /// The expected value of the recipient's active pointer, and its new value.
    pub pointer: Option<PointerWrite>,
    /// It was resolved to a conversation that exists, or is assumed to: no pointer is set to start it.
    pub exists: bool,
    /// A state read since the call began, if one was requested.
    pub seen: Option<Seen>,
    /// The policy of the recipient's next conversation, if the write starts it.
    pub policy: Option<Box<Policy>>,
}

/// A state that was read; `None` if the conversation did not exist.
pub type Seen = Option<Arc<Conversation>>;

/// A write with its rule.
pub struct Request {
    pub call: WriteCall,
    rule: Box<Rule>,
    tries: u32,
}

/// A write that waits in its conversation's queue.
pub struct QueuedWrite {
    pub request: Box<Request>,
    pub target: Target,
    reply: oneshot::Sender<Reply>,
}

/// Writes to decide, in order.
pub type Writes = VecDeque<Box<QueuedWrite>>;

/// The answer to a write; `None` if its address may mean something else by now, or the attempt has an outcome: it must
/// be resolved again.
pub type Answer = Option<Result<Applied<Value>>>;

/// What the caller of a write gets: the answer, or the request to resolve again.
pub type Reply = Result<Result<Applied<Value>>, Box<Request>>;

impl Request {
    pub fn new<T: Send + 'static>(
        call: WriteCall,
        mut rule: impl FnMut(&Conversation, &Context<'_>) -> Ruling<T> + Send + 'static,
    ) -> Box<Self> {
        let rule = move |before: &Conversation, context: &Context<'_>| {
            let RuleResult { transition, named, value } = rule(before, context)?;
            Ok(RuleResult { transition, named, value: Box::new(value) as Value })
        };
        Box::new(Self { call, rule: Box::new(rule), tries: 0 })
    }

    /// Decides on `before`.
    pub fn decide(&mut self, before: &Conversation, context: &Context<'_>) -> Ruling<Value> {
        (self.rule)(before, context)
    }

    /// Whether it was not tried yet.
    pub fn is_first(&self) -> bool {
        self.tries == 0
    }

    /// Counts one more try. Fails if there were too many.
    pub fn try_again(&mut self) -> Result<()> {
        self.tries += 1;
        if self.tries < ATTEMPTS { Ok(()) } else { Err(EngineError::Contended) }
    }
}

impl QueuedWrite {
    /// Creates the write to put in a queue, and the receiver its caller waits on.
    pub fn new(request: Box<Request>, target: Target) -> (Box<Self>, oneshot::Receiver<Reply>) {
        let (reply, answered) = oneshot::channel();
        (Box::new(Self { request, target, reply }), answered)
    }

    /// Whether its caller is still waiting.
    pub fn is_awaited(&self) -> bool {
        !self.reply.is_closed()
    }

    /// Sends the answer to the caller, who may be gone.
    pub fn answer(self, answer: Answer) {
        drop(self.reply.send(answer.ok_or(self.request)));
    }
}
