//! Memorizing one message after another: each is decided at once, and they share flushes.

use std::{
    collections::VecDeque,
    sync::{Arc, OnceLock},
};

use crate::{
    domain::{Refusal, memorize::Irregularity},
    engine::{
        Applied, Caller, Engine, EngineError, MemorizeCall, MemorizeReply,
        lane::Lane,
        memorize::Prepared,
        settle::{Committed, Settler},
        write::{Begun, Waiting},
    },
    store::CommitError,
};

/// Messages that a line holds at most, answered or not.
const MAX_MESSAGES: usize = 256;
/// Bytes of text beyond which a line takes no message until some are answered.
const MAX_BYTES: usize = 4 << 20;

/// The messages of one stream: they take effect, and are answered, in their order.
///
/// - A message is decided on what those before it are about to make of the conversation; it does
///   not wait for their flushes.
/// - When one has to be decided anew, because a change that it was decided on failed or another
///   call was faster, so is each behind it of the same conversation, in order, before the next
///   message is looked at. Behind it, messages to other conversations may have taken effect.
/// - A message that starts a recipient's conversation is committed before the next is looked at.
/// - What was handed to the store is committed and published even when the line is dropped.
pub struct MemorizeLine {
    engine: Arc<Engine>,
    caller: Caller,
    places: VecDeque<Place>,
    /// Text of the messages that wait.
    bytes: usize,
    /// One was decided anew, and what stands behind it was decided before.
    disturbed: bool,
    settler: OnceLock<Settler>,
}

/// A message in line.
enum Place {
    Answered(Result<MemorizeReply, EngineError>),
    Waiting(Box<Unfinished>),
}

struct Unfinished {
    call: Prepared,
    write: Waiting<Vec<Irregularity>>,
    /// Bytes of what it memorizes.
    bytes: usize,
    /// How the commit ended, once that was seen.
    ended: Option<Committed>,
}

/// What stands in line ahead of a write.
pub(super) struct Ahead<'a> {
    places: &'a VecDeque<Place>,
    settler: &'a OnceLock<Settler>,
}

impl MemorizeLine {
    /// A line of `caller`'s.
    pub fn new(engine: Arc<Engine>, caller: Caller) -> Self {
        Self { engine, caller, places: VecDeque::new(), bytes: 0, disturbed: false, settler: OnceLock::new() }
    }

    /// Whether no answer is outstanding.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// Whether no message should be added before one is answered: 256 wait, or 4 MiB of text.
    pub fn is_full(&self) -> bool {
        self.places.len() >= MAX_MESSAGES || self.bytes >= MAX_BYTES
    }

    /// Adds a message, or what is wrong with one, and hands what it comes to to the store.
    pub async fn push(&mut self, message: Result<MemorizeCall, Refusal>) {
        let place = match message {
            Ok(call) => self.begin(call).await.unwrap_or_else(|error| Place::Answered(Err(error))),
            Err(refusal) => Place::Answered(Err(refusal.into())),
        };
        if let Place::Waiting(unfinished) = &place {
            self.bytes += unfinished.bytes;
        }
        self.places.push_back(place);
    }

    /// Waits until [`Self::next`] has an answer at once, or nearly so. Nothing is lost when the
    /// future is dropped.
    pub async fn ready(&mut self) {
        if let Some(Place::Waiting(unfinished)) = self.places.front_mut() {
            let _ = unfinished.see_end().await;
        }
    }

    /// The answer to the oldest message that was not answered; `None` when there is none.
    pub async fn next(&mut self) -> Option<Result<MemorizeReply, EngineError>> {
        let place = self.places.pop_front()?;
        Some(self.finish(place).await)
    }

    async fn begin(&mut self, call: MemorizeCall) -> Result<Place, EngineError> {
        if self.disturbed || self.starts_a_conversation() {
            self.finish_all().await;
        }
        let mut call = self.engine.prepare(&self.caller, call).await?;
        let ahead = Ahead { places: &self.places, settler: &self.settler };
        let begun = self.engine.begin(&call.write(&self.caller), Some(&ahead), &mut call.decide()).await?;
        Ok(match begun {
            Begun::Done(reply) => Place::Answered(self.engine.ended(reply, false).await),
            Begun::Waiting(write) => Place::Waiting(Box::new(Unfinished::new(call, write))),
            Begun::Again | Begun::Overtakes => {
                self.finish_all().await;
                call.forget_resolved();
                Place::Answered(self.engine.memorize_prepared(&self.caller, &call).await)
            }
        })
    }

    fn starts_a_conversation(&self) -> bool {
        matches!(self.places.back(), Some(Place::Waiting(unfinished)) if unfinished.write.starts)
    }

    /// Answers all that wait, in order.
    async fn finish_all(&mut self) {
        for _ in 0..self.places.len() {
            let Some(place) = self.places.pop_front() else { break };
            let answer = self.finish(place).await;
            self.places.push_back(Place::Answered(answer));
        }
        self.disturbed = false;
    }

    async fn finish(&mut self, place: Place) -> Result<MemorizeReply, EngineError> {
        let mut unfinished = match place {
            Place::Answered(answer) => return answer,
            Place::Waiting(unfinished) => unfinished,
        };
        self.bytes -= unfinished.bytes;
        match unfinished.see_end().await {
            Ok(()) => self.engine.ended(unfinished.write.applied, false).await,
            Err(CommitError::Store(error)) => Err(error.into()),
            Err(CommitError::Conflict) => {
                self.disturbed = true;
                unfinished.call.forget_resolved();
                self.engine.memorize_prepared(&self.caller, &unfinished.call).await
            }
        }
    }
}

impl Unfinished {
    fn new(call: Prepared, write: Waiting<Vec<Irregularity>>) -> Self {
        let bytes = match &write.applied {
            Applied::Now { change: Some(change), .. } => {
                change.appended.iter().map(|utterance| utterance.text_bytes()).sum()
            }
            _ => 0,
        };
        Self { call, write, bytes, ended: None }
    }

    async fn see_end(&mut self) -> Committed {
        if self.ended.is_none() {
            self.ended = Some(self.write.settling.result().await);
        }
        self.ended.clone().unwrap_or(Ok(()))
    }
}

impl Ahead<'_> {
    /// Whether a write to `lane`, decided in its chain `chain`, would overtake one that was
    /// decided before the lane's state was loaded anew.
    pub(super) fn is_overtaken(&self, lane: &Lane, chain: u64) -> bool {
        let waiting = self.places.iter().rev().filter_map(|place| match place {
            Place::Waiting(unfinished) => Some(&unfinished.write),
            Place::Answered(_) => None,
        });
        // those before the last of this conversation are of its chain, or it had not been begun
        let mut same = waiting.filter(|write| write.lane.key == lane.key);
        same.next().is_some_and(|last| last.chain != chain)
    }

    /// What settles the commits of the line.
    pub(super) fn settler(&self) -> &Settler {
        self.settler.get_or_init(Settler::start)
    }
}
