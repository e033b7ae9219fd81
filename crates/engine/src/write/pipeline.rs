//! Memorizing a stream of messages: they wait in the queue together and share commits.

use std::{collections::VecDeque, future::Future, pin::pin, sync::Arc};

use futures::{FutureExt, future::poll_immediate};
use tokio::sync::oneshot;

use crate::{
    Applied, Caller, Engine, EngineError, MemorizeCall, MemorizeReply, Result,
    lane::{
        queued::{Reply, Request},
        run::Run,
    },
    write::aim::Unqueued,
};
use utterd_domain::{ConversationKey, Draft, RecipientId, Refusal};

/// The most messages a pipeline holds, answered or not.
const MAX_MESSAGES: usize = 256;
/// The number of messages collected before they are decided: enough to share the cost of a commit, and few
/// enough that their results are still in the processor's cache when they are answered.
const MAX_FRESH: usize = 32;
/// Bytes of text at which a pipeline accepts no more messages until some are answered.
const MAX_BYTES: usize = 4 << 20;

/// The messages of one stream: they take effect, and are answered, in order.
///
/// - A message does not wait for the commits of the messages before it: it joins the queue behind them.
/// - Messages are decided once there are 32 of them, or an answer is awaited, or another message has to wait
///   for them; so messages that arrive together share a commit.
/// - If a message turns out to mean another conversation, because the recipient's conversation has ended
///   meanwhile, so do all messages behind it; they are written there, in order, before another is accepted.
/// - A message that changes its recipient's own state waits for earlier ones that do so with another
///   conversation.
/// - An accepted message is written even if the pipeline is dropped.
pub struct MemorizePipeline {
    engine: Arc<Engine>,
    caller: Caller,
    messages: VecDeque<Message>,
    /// Bytes of text of the waiting messages.
    bytes: usize,
    /// Runs of queues that were free, to be started once more messages are collected.
    runs: Vec<Run>,
    /// The number of newest messages that may wait for these.
    fresh: usize,
}

/// An accepted message.
struct Message {
    state: State,
    /// Bytes of its text.
    bytes: usize,
}

/// The recipient a message was addressed to, and the conversation it was resolved to.
type Meant = (RecipientId, ConversationKey);

/// What a message affects besides its conversation's queue.
struct Means {
    by_recipient: Option<Meant>,
    /// Its conversation, if the recipient's own state changes with it.
    beside: Option<ConversationKey>,
}

enum State {
    Waiting(oneshot::Receiver<Reply>, Means),
    /// The message has to be resolved again.
    Anew(Option<Box<Request>>),
    Answered(Result<MemorizeReply>),
}

impl MemorizePipeline {
    /// Creates a pipeline for `caller`.
    pub fn new(engine: Arc<Engine>, caller: Caller) -> Self {
        Self { engine, caller, messages: VecDeque::new(), bytes: 0, runs: Vec::new(), fresh: 0 }
    }

    /// Whether no answer is outstanding.
    pub fn is_empty(&self) -> bool {
        self.messages.is_empty()
    }

    /// Whether no message should be added before one is answered: 256 messages, or 4 MiB of text, are waiting.
    pub fn is_full(&self) -> bool {
        self.messages.len() >= MAX_MESSAGES || self.bytes >= MAX_BYTES
    }

    /// Adds a message to its conversation's queue; a refused message gets its refusal as the answer.
    pub async fn push(&mut self, message: Result<MemorizeCall, Refusal>) {
        let bytes = message.as_ref().map_or(0, |call| call.drafts.iter().map(Draft::content_bytes).sum());
        let begun = match message {
            Ok(call) => self.begin(call).await,
            Err(refusal) => Err(refusal.into()),
        };
        let state = match begun {
            Ok(state) => state,
            Err(unqueued) => {
                let (engine, caller) = (self.engine.clone(), self.caller.clone());
                State::Answered(self.going_on(engine.unqueued(&caller, unqueued)).await)
            }
        };
        self.bytes += bytes;
        self.fresh += 1;
        self.messages.push_back(Message { state, bytes });
        if self.fresh >= MAX_FRESH {
            self.start();
        }
    }

    /// Whether the oldest message is answered, as far as can be seen without waiting.
    pub fn has_answer(&mut self) -> bool {
        let is_driven = self.messages.len() > self.fresh;
        let front = self.messages.front_mut().filter(|_| is_driven);
        front.is_some_and(|message| message.wait().now_or_never().is_some())
    }

    /// Waits until [`Self::next`] can return an answer immediately, or nearly so. Cancel-safe.
    pub async fn ready(&mut self) {
        self.start();
        if let Some(message) = self.messages.front_mut() {
            message.wait().await;
        }
    }

    /// Returns the answer to the oldest unanswered message; `None` if there is none.
    pub async fn next(&mut self) -> Option<Result<MemorizeReply>> {
        self.ready().await;
        let front = self.messages.front_mut()?;
        if front.finish(&self.engine).await {
            self.settle().await;
        }
        let message = self.messages.pop_front()?;
        self.bytes -= message.bytes;
        Some(match message.state {
            State::Answered(answer) => answer,
            State::Anew(_) | State::Waiting(..) => Err(EngineError::Interrupted),
        })
    }

    async fn begin(&mut self, call: MemorizeCall) -> Result<State, Unqueued> {
        let (engine, caller) = (self.engine.clone(), self.caller.clone());
        let by_recipient = call.address.conversation.is_none().then(|| call.address.recipient_or_default());
        let (request, target) = self.going_on(engine.prepare(&caller, call)).await?;
        let beside = Some(target.key.clone()).filter(|_| request.call.recipient_state.is_some());
        let by_recipient = by_recipient.map(|recipient| (recipient, target.key.clone()));
        let (means, mut target) = (Means { by_recipient, beside }, Some(target));
        if self.overtakes(&means) {
            self.settle().await;
            target = None;
        }
        // the pipeline has its own limit on queued messages
        let (run, reply) = self.going_on(engine.submit(request, target, usize::MAX)).await?;
        self.runs.extend(run);
        Ok(State::Waiting(reply, means))
    }

    /// Does `work`. If it has to wait, starts the runs, so that nobody waits for them meanwhile.
    async fn going_on<T>(&mut self, work: impl Future<Output = T>) -> T {
        let mut work = pin!(work);
        match poll_immediate(&mut work).await {
            Some(done) => done,
            None => {
                self.start();
                work.await
            }
        }
    }

    /// Starts the runs of the queues that this pipeline found free.
    fn start(&mut self) {
        self.fresh = 0;
        self.runs.drain(..).for_each(Run::start);
    }

    /// Whether it must not overtake an earlier message that is in the queue of another conversation.
    fn overtakes(&self, means: &Means) -> bool {
        self.messages.iter().any(|message| match &message.state {
            State::Waiting(_, before) => means.overtakes(before),
            State::Anew(_) | State::Answered(_) => false,
        })
    }

    /// Answers all waiting messages, in order: if one came to mean another conversation, so do those behind it.
    async fn settle(&mut self) {
        self.start();
        for message in &mut self.messages {
            message.wait().await;
            message.finish(&self.engine).await;
        }
    }
}

impl Drop for MemorizePipeline {
    fn drop(&mut self) {
        self.start();
    }
}

impl Means {
    /// An earlier message to the same recipient that meant another conversation may come to mean this one too.
    /// Two messages that change a recipient's own state with different conversations may change the same
    /// values.
    fn overtakes(&self, before: &Self) -> bool {
        let comes_to_mean =
            |((recipient, key), (other, others)): (&Meant, &Meant)| recipient == other && key != others;
        self.by_recipient.as_ref().zip(before.by_recipient.as_ref()).is_some_and(comes_to_mean)
            || self.beside.as_ref().zip(before.beside.as_ref()).is_some_and(|(key, others)| key != others)
    }
}

impl Message {
    /// Waits until the message is answered or has to be resolved again.
    async fn wait(&mut self) {
        let State::Waiting(reply, _) = &mut self.state else { return };
        self.state = match reply.await {
            Ok(Ok(answer)) => State::Answered(answer.and_then(Applied::typed)),
            Ok(Err(request)) => State::Anew(Some(request)),
            Err(_) => State::Answered(Err(EngineError::Interrupted)),
        };
    }

    /// Resolves and writes the message again if necessary. Returns whether it was.
    async fn finish(&mut self, engine: &Arc<Engine>) -> bool {
        let State::Anew(request) = &mut self.state else { return false };
        let Some(mut request) = request.take() else { return false };
        self.state = State::Answered(match request.try_again() {
            Ok(()) => engine.request(request, None).await,
            Err(error) => Err(error),
        });
        true
    }
}
