//! Memorizing one message after another: they wait in the queue together, and share commits.

use std::{
    collections::VecDeque,
    future::{Future, poll_fn},
    pin::pin,
    sync::Arc,
};

use futures::FutureExt;

use crate::{
    domain::{ConversationKey, Draft, RecipientId, Refusal, memorize::Irregularity},
    engine::{
        Caller, Engine, EngineError, MemorizeCall, MemorizeReply,
        memorize::Prepared,
        queued::{Request, Unapplied, Waiting},
        write::Submitted,
    },
};

/// Messages that a pipeline holds at most, answered or not.
const MAX_MESSAGES: usize = 256;
/// So many messages wait for one another before their queue is driven: enough to share the cost of a commit,
/// and few enough that what they come to is still in the processor's cache when it is answered.
const MAX_FRESH: usize = 32;
/// Bytes of text beyond which a pipeline takes no message until some are answered.
const MAX_BYTES: usize = 4 << 20;

/// The messages of one stream: they take effect, and are answered, in their order.
///
/// - A message does not wait for the commits of those before it: it stands in the queue behind them.
/// - What is taken is decided once 32 messages are, an answer is waited for, or another message has to wait
///   for it: so what comes at once shares a commit.
/// - When one comes to mean another conversation, because the recipient's has ended meanwhile, so does each
///   behind it; they are written there in their order, before another message is taken.
/// - One that changes its recipient's own state waits for those before that do so with another conversation.
/// - What was taken is written even when the pipeline is dropped.
pub struct MemorizePipeline {
    engine: Arc<Engine>,
    caller: Caller,
    messages: VecDeque<Message>,
    /// Text of the messages that wait.
    bytes: usize,
    /// So many of the last messages may have found their queue free, and it is not driven yet.
    fresh: usize,
}

/// A message that was taken.
struct Message {
    state: State,
    /// Bytes of what it memorizes.
    bytes: usize,
}

/// The recipient that a message was addressed by, and the conversation that this meant.
type Meant = (RecipientId, ConversationKey);

/// What a message is about beside its conversation's queue.
struct Means {
    by_recipient: Option<Meant>,
    /// Its conversation, when the recipient's own state changes with it.
    beside: Option<ConversationKey>,
}

enum State {
    Waiting(Waiting<Vec<Irregularity>>, Means),
    /// It has to be resolved anew.
    Anew(Option<Box<Request<Vec<Irregularity>>>>),
    Answered(Result<MemorizeReply, EngineError>),
}

impl MemorizePipeline {
    /// A pipeline of `caller`'s.
    pub fn new(engine: Arc<Engine>, caller: Caller) -> Self {
        Self { engine, caller, messages: VecDeque::new(), bytes: 0, fresh: 0 }
    }

    /// Whether no answer is outstanding.
    pub fn is_empty(&self) -> bool {
        self.messages.is_empty()
    }

    /// Whether no message should be added before one is answered: 256 wait, or 4 MiB of text.
    pub fn is_full(&self) -> bool {
        self.messages.len() >= MAX_MESSAGES || self.bytes >= MAX_BYTES
    }

    /// Adds a message, or what is wrong with one, and puts it in its conversation's queue.
    pub async fn push(&mut self, message: Result<MemorizeCall, Refusal>) {
        let bytes = message.as_ref().map_or(0, |call| call.drafts.iter().map(Draft::content_bytes).sum());
        let begun = match message {
            Ok(call) => self.begin(call).await,
            Err(refusal) => Err(refusal.into()),
        };
        let state = begun.unwrap_or_else(|error| State::Answered(Err(error)));
        self.bytes += bytes;
        self.fresh += 1;
        self.messages.push_back(Message { state, bytes });
        if self.fresh >= MAX_FRESH {
            self.start();
        }
    }

    /// Whether the oldest message is answered, as far as that can be told without waiting.
    pub fn has_answer(&mut self) -> bool {
        let is_driven = self.messages.len() > self.fresh;
        let front = self.messages.front_mut().filter(|_| is_driven);
        front.is_some_and(|message| message.wait().now_or_never().is_some())
    }

    /// Waits until [`Self::next`] has an answer at once, or nearly so. Nothing is lost when the
    /// future is dropped.
    pub async fn ready(&mut self) {
        self.start();
        if let Some(message) = self.messages.front_mut() {
            message.wait().await;
        }
    }

    /// The answer to the oldest message that was not answered; `None` when there is none.
    pub async fn next(&mut self) -> Option<Result<MemorizeReply, EngineError>> {
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

    async fn begin(&mut self, call: MemorizeCall) -> Result<State, EngineError> {
        let (engine, caller) = (self.engine.clone(), self.caller.clone());
        let by_recipient = call.address.conversation.is_none().then(|| call.address.recipient_or_default());
        let mut request = match self.going_on(engine.prepare(&caller, call)).await? {
            Prepared::Request(request) => request,
            Prepared::Earlier(outcome) => {
                return Ok(State::Answered(self.going_on(engine.earlier(&caller, outcome)).await));
            }
        };
        let key = request.target.as_ref().map(|target| target.key.clone());
        let beside = key.clone().filter(|_| request.call.recipient_state.is_some());
        let means = Means { by_recipient: by_recipient.zip(key), beside };
        if self.overtakes(&means) {
            self.settle().await;
            request.target = None;
        }
        // a pipeline bounds what it has in a queue
        Ok(match self.going_on(engine.submit(request, usize::MAX)).await? {
            Submitted::Waits(waiting) => State::Waiting(waiting, means),
            Submitted::Earlier(outcome) => {
                State::Answered(self.going_on(engine.earlier(&caller, outcome)).await)
            }
        })
    }

    /// Does `work`. When that has to wait, the queues that this pipeline found free are driven: it may be one
    /// of them that is waited for.
    async fn going_on<T>(&mut self, work: impl Future<Output = T>) -> T {
        let mut work = pin!(work);
        poll_fn(|context| {
            let polled = work.as_mut().poll(context);
            if polled.is_pending() {
                self.start();
            }
            polled
        })
        .await
    }

    /// Has the queues driven that this pipeline found free.
    fn start(&mut self) {
        for message in self.messages.iter_mut().rev().take(std::mem::take(&mut self.fresh)) {
            if let State::Waiting(waiting, _) = &mut message.state {
                waiting.start();
            }
        }
    }

    /// Whether a message stands before it that it must not overtake in the queue of another conversation.
    fn overtakes(&self, means: &Means) -> bool {
        self.messages.iter().any(|message| match &message.state {
            State::Waiting(_, before) => means.overtakes(before),
            State::Anew(_) | State::Answered(_) => false,
        })
    }

    /// Answers all that wait, in order: behind one that came to mean another conversation the others do too.
    async fn settle(&mut self) {
        self.start();
        for message in &mut self.messages {
            message.wait().await;
            message.finish(&self.engine).await;
        }
    }
}

impl Means {
    /// One of the same recipient that meant another conversation may come to mean this one too. Two that change a
    /// recipient's own state with different conversations may change the same.
    fn overtakes(&self, before: &Self) -> bool {
        let comes_to_mean =
            |((recipient, key), (other, others)): (&Meant, &Meant)| recipient == other && key != others;
        self.by_recipient.as_ref().zip(before.by_recipient.as_ref()).is_some_and(comes_to_mean)
            || self.beside.as_ref().zip(before.beside.as_ref()).is_some_and(|(key, others)| key != others)
    }
}

impl Message {
    /// Waits until it is answered, or has to be resolved anew.
    async fn wait(&mut self) {
        let State::Waiting(waiting, _) = &mut self.state else { return };
        self.state = match waiting.await {
            Ok(reply) => State::Answered(Ok(reply)),
            Err(Unapplied::Failed(error)) => State::Answered(Err(error)),
            Err(Unapplied::Anew(request)) => State::Anew(Some(request)),
        };
    }

    /// Resolves it anew if need be, and has it written; answers whether that was so.
    async fn finish(&mut self, engine: &Arc<Engine>) -> bool {
        let State::Anew(request) = &mut self.state else { return false };
        let Some(request) = request.take() else { return false };
        self.state = State::Answered(engine.again(request).await);
        true
    }
}
