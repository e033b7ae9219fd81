//! A write on its way: the request, its wait in a queue, and its result.

use std::sync::Arc;

use tokio::sync::oneshot;

use crate::{Address, Applied, Attempt, Caller, EngineError, Operation, Result, applied::RuleResult};
use utterd_domain::{Conversation, ConversationKey, Policy, Undecided, change::Context, state::UpdateState};
use utterd_store::{Outcome, OutcomeKey, PointerWrite};

/// How often something is retried because others were faster.
pub const ATTEMPTS: u32 = 64;

/// What a rule returns: its result, or why there is none yet.
pub type Ruling<T> = Result<RuleResult<T>, Undecided>;

/// Makes a decision from a state. It is called again when it needs to see more, or when the state turns out not
/// to be the newest.
pub type Rule<T> = dyn FnMut(&Conversation, &Context<'_>) -> Ruling<T> + Send;

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

    /// Returns the outcome to store, so that the attempt can be replayed.
    pub fn kept(&self, done: &Applied<()>) -> Option<(OutcomeKey, Arc<Outcome>)> {
        self.attempt.as_ref().map(|attempt| (attempt.key(&self.caller), done.outcome.clone()))
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
pub struct Request<T> {
    pub call: WriteCall,
    pub rule: Box<Rule<T>>,
    tries: u32,
}

/// The result of a queued write.
pub type Reply<T> = Result<Applied<T>, Unapplied<T>>;

pub enum Unapplied<T> {
    Failed(EngineError),
    /// The address may mean something else by now, or the attempt has an outcome: resolve it again.
    Anew(Box<Request<T>>),
}

/// A write that waits in its conversation's queue.
pub trait QueuedWrite: Send {
    fn call(&self) -> &WriteCall;
    fn target(&self) -> &Target;

    /// Takes the state that was read for it.
    fn take_seen(&mut self) -> Option<Seen>;

    /// Decides on `before`, and stores what else the response needs.
    fn decide(&mut self, before: &Conversation, context: &Context<'_>) -> Ruling<()>;

    /// Counts one more try. Returns whether another is allowed.
    fn try_again(&mut self) -> bool;

    /// Whether its caller is still waiting.
    fn is_awaited(&self) -> bool;

    /// Sends the result to the caller.
    fn answer(self: Box<Self>, answer: Answer);
}

/// The answer sent to a caller.
pub enum Answer {
    Applied(Applied<()>),
    Failed(EngineError),
    Anew,
}

struct Queued<T> {
    request: Box<Request<T>>,
    target: Target,
    value: Option<T>,
    reply: oneshot::Sender<Reply<T>>,
}

impl<T> Request<T> {
    pub fn new(
        call: WriteCall,
        rule: impl FnMut(&Conversation, &Context<'_>) -> Ruling<T> + Send + 'static,
    ) -> Self {
        Self { call, rule: Box::new(rule), tries: 0 }
    }

    /// Prepares it to be resolved again, unless that was done too often.
    pub fn again(mut self: Box<Self>) -> Result<Box<Self>> {
        if self.try_again() { Ok(self) } else { Err(EngineError::Contended) }
    }

    /// Whether it was not tried yet.
    pub fn is_first(&self) -> bool {
        self.tries == 0
    }

    fn try_again(&mut self) -> bool {
        self.tries += 1;
        self.tries < ATTEMPTS
    }
}

impl<T: Send + 'static> Request<T> {
    /// Returns the write to put in a queue, and the receiver its caller waits on.
    pub fn queued(self: Box<Self>, target: Target) -> (Box<dyn QueuedWrite>, oneshot::Receiver<Reply<T>>) {
        let (reply, answered) = oneshot::channel();
        (Box::new(Queued { request: self, target, value: None, reply }), answered)
    }
}

impl<T: Send + 'static> QueuedWrite for Queued<T> {
    fn call(&self) -> &WriteCall {
        &self.request.call
    }

    fn target(&self) -> &Target {
        &self.target
    }

    fn take_seen(&mut self) -> Option<Seen> {
        self.target.seen.take()
    }

    fn decide(&mut self, before: &Conversation, context: &Context<'_>) -> Ruling<()> {
        let RuleResult { transition, named, value } = (self.request.rule)(before, context)?;
        self.value = Some(value);
        Ok(RuleResult { transition, named, value: () })
    }

    fn try_again(&mut self) -> bool {
        self.request.try_again()
    }

    fn is_awaited(&self) -> bool {
        !self.reply.is_closed()
    }

    fn answer(self: Box<Self>, answer: Answer) {
        let Self { request, value, reply, .. } = *self;
        let answer = match (answer, value) {
            (Answer::Applied(applied), Some(value)) => Ok(applied.with(value)),
            (Answer::Applied(_), None) => Err(Unapplied::Failed(EngineError::Interrupted)),
            (Answer::Failed(error), _) => Err(Unapplied::Failed(error)),
            (Answer::Anew, _) => Err(Unapplied::Anew(request)),
        };
        // the caller may be gone
        let _ = reply.send(answer);
    }
}
