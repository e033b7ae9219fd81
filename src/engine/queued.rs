//! A write on its way: what is asked for, how it waits in a queue, and what it comes to.

use std::{
    future::Future,
    pin::Pin,
    sync::Arc,
    task::{Context as TaskContext, Poll, ready},
};

use tokio::sync::oneshot;

use crate::{
    domain::{
        Conversation, ConversationKey, Refusal, Sequence, Transition, Verdict, change::Context,
        state::UpdateState,
    },
    engine::{
        Address, Applied, Attempt, Caller, EngineError, Operation, applied::Done, attended::Attended,
        facts::Named,
    },
    store::{Outcome, OutcomeKey, PointerWrite},
};

/// How often something is tried anew because others were faster.
pub(super) const ATTEMPTS: u32 = 64;

/// What a rule makes of a conversation.
pub(super) struct Decision<T> {
    /// What changes, if anything does. Boxed: it is large, and passed on several times.
    pub transition: Option<Box<Transition>>,
    /// What its outcome names beside that.
    pub named: Named,
    /// What else the response needs.
    pub value: T,
}

impl<T> Decision<T> {
    pub(super) fn of(transition: impl Into<Option<Transition>>, target: Option<Sequence>, value: T) -> Self {
        let named = Named { target, ..Named::default() };
        Self { transition: transition.into().map(Box::new), named, value }
    }
}

/// What makes a decision of a state; asked again when it needs to see more, or when the state turns out not to
/// be the newest.
pub(super) type Rule<'r, T> =
    dyn FnMut(&Conversation, &Context<'_>) -> Result<Verdict<T>, Refusal> + Send + 'r;

/// How a write treats a conversation that does not exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum IfAbsent {
    /// It is refused.
    Refuse,
    /// It is created; and so is a recipient's next one, when the active one was left idle.
    Create,
    /// It is created, and is its recipient's active one unless there is one.
    CreateAndActivate,
}

/// What a write is for.
#[derive(Clone)]
pub(super) struct WriteCall {
    pub caller: Caller,
    pub address: Address,
    pub attempt: Option<Attempt>,
    pub operation: Operation,
    pub if_absent: IfAbsent,
    /// It begins with a tool's result: it goes on in the conversation that waits for that, however idle.
    pub answers: bool,
    /// What to change of the recipient's own state in the same commit.
    pub recipient_state: Option<Arc<UpdateState>>,
}

impl WriteCall {
    /// A write to a conversation that exists.
    pub(super) fn new(
        caller: &Caller,
        address: Address,
        attempt: Option<Attempt>,
        operation: Operation,
    ) -> Self {
        let (caller, if_absent) = (caller.clone(), IfAbsent::Refuse);
        Self { caller, address, attempt, operation, if_absent, answers: false, recipient_state: None }
    }

    /// What is kept to answer the attempt once more.
    pub(super) fn kept(&self, done: &Done) -> Option<(OutcomeKey, Arc<Outcome>)> {
        self.attempt.as_ref().map(|attempt| (attempt.key(&self.caller), done.outcome.clone()))
    }
}

/// The conversation that a write goes to.
#[derive(Clone)]
pub(super) struct Target {
    pub key: ConversationKey,
    /// What must hold of the recipient's active conversation, and what becomes of it.
    pub pointer: Option<PointerWrite>,
    /// It was resolved as one that exists: no pointer is set for it to start.
    pub exists: bool,
    /// Its state since the call began, where that was asked for.
    pub seen: Option<Seen>,
}

/// A state that was read; `None` when the conversation did not exist.
pub(super) type Seen = Option<Arc<Conversation>>;

/// A write with its rule.
pub(super) struct Request<T> {
    pub call: WriteCall,
    pub rule: Box<Rule<'static, Decision<T>>>,
    /// What the address means, if that was looked up already.
    pub target: Option<Target>,
    tries: u32,
}

/// What became of a write that was queued.
type Reply<T> = Result<Applied<T>, Unapplied<T>>;

pub(super) enum Unapplied<T> {
    Failed(EngineError),
    /// The address may mean something else by now, or the attempt has an outcome: it is to be resolved anew.
    Anew(Box<Request<T>>),
}

/// A write that waits in its conversation's queue.
pub(super) trait QueuedWrite: Send {
    fn call(&self) -> &WriteCall;
    fn target(&self) -> &Target;

    /// The state that was read for it, which is told once.
    fn take_seen(&mut self) -> Option<Seen>;

    /// Decides on `before`; what else the response needs is kept here.
    fn decide(
        &mut self,
        before: &Conversation,
        context: &Context<'_>,
    ) -> Result<Verdict<Decision<()>>, Refusal>;

    /// Notes that it has to be decided once more; whether it may be.
    fn try_again(&mut self) -> bool;

    /// Whether its caller still waits.
    fn is_awaited(&self) -> bool;

    /// Tells the caller what it came to.
    fn answer(self: Box<Self>, answer: Answer);
}

/// What is told to a caller.
pub(super) enum Answer {
    Applied(Done),
    Failed(EngineError),
    Anew,
}

/// What waits in a queue.
pub(super) enum Entry {
    Write(Box<dyn QueuedWrite>),
    /// Somebody wants to hold the queue.
    Hold(oneshot::Sender<()>),
}

impl Entry {
    /// Whether somebody still waits for it.
    pub(super) fn is_awaited(&self) -> bool {
        match self {
            Self::Write(write) => write.is_awaited(),
            Self::Hold(grant) => !grant.is_closed(),
        }
    }
}

struct Queued<T> {
    request: Box<Request<T>>,
    target: Target,
    value: Option<T>,
    reply: oneshot::Sender<Reply<T>>,
}

impl<T> Request<T> {
    pub(super) fn new(
        call: WriteCall,
        rule: impl FnMut(&Conversation, &Context<'_>) -> Result<Verdict<Decision<T>>, Refusal> + Send + 'static,
    ) -> Self {
        Self { call, rule: Box::new(rule), target: None, tries: 0 }
    }

    /// Makes it ready to be resolved anew, unless that was done too often.
    pub(super) fn again(mut self: Box<Self>) -> Result<Box<Self>, EngineError> {
        self.target = None;
        match self.try_again() {
            true => Ok(self),
            false => Err(EngineError::Contended),
        }
    }

    fn try_again(&mut self) -> bool {
        self.tries += 1;
        self.tries < ATTEMPTS
    }
}

impl<T: Send + 'static> Request<T> {
    /// The entry of a queue, and what its caller waits for.
    pub(super) fn queued(self: Box<Self>, target: Target) -> (Entry, oneshot::Receiver<Reply<T>>) {
        let (reply, answered) = oneshot::channel();
        (Entry::Write(Box::new(Queued { request: self, target, value: None, reply })), answered)
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

    fn decide(
        &mut self,
        before: &Conversation,
        context: &Context<'_>,
    ) -> Result<Verdict<Decision<()>>, Refusal> {
        Ok((self.request.rule)(before, context)?.map(|decision| {
            self.value = Some(decision.value);
            Decision { transition: decision.transition, named: decision.named, value: () }
        }))
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
            (Answer::Applied(done), Some(value)) => Ok(Applied::now(done, value)),
            (Answer::Applied(_), None) => Err(Unapplied::Failed(EngineError::Interrupted)),
            (Answer::Failed(error), _) => Err(Unapplied::Failed(error)),
            (Answer::Anew, _) => Err(Unapplied::Anew(request)),
        };
        // a caller that went away does not want to know
        let _ = reply.send(answer);
    }
}

/// A caller's wait for its write; it drives the queue meanwhile, if it found it free.
pub(super) struct Waiting<T> {
    driving: Option<Attended<()>>,
    reply: oneshot::Receiver<Reply<T>>,
}

impl<T> Waiting<T> {
    pub(super) fn new(driving: Option<Attended<()>>, reply: oneshot::Receiver<Reply<T>>) -> Self {
        Self { driving, reply }
    }

    /// Has the queue driven, if the caller found it free, whether it is polled or not.
    pub(super) fn start(&mut self) {
        if let Some(driving) = self.driving.take() {
            driving.start();
        }
    }
}

impl<T> Future for Waiting<T> {
    type Output = Reply<T>;

    /// Once the answer is there, the caller drives no longer: what others wait for is driven by a task.
    fn poll(mut self: Pin<&mut Self>, context: &mut TaskContext<'_>) -> Poll<Reply<T>> {
        if let Some(driving) = &mut self.driving
            && Pin::new(driving).poll(context).is_ready()
        {
            self.driving = None;
        }
        let reply = ready!(Pin::new(&mut self.reply).poll(context));
        Poll::Ready(reply.unwrap_or(Err(Unapplied::Failed(EngineError::Interrupted))))
    }
}
