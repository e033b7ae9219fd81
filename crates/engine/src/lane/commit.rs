//! One commit: handed to the store, and published once it has taken effect.

use std::{future::Future, sync::Arc, time::Duration};

use smallvec::SmallVec;

use crate::{
    Attempt, Engine, EngineError, Event, Operation,
    applied::Decided,
    lane::{hold::Hold, queue::Queue},
};
use utterd_domain::{Change, ChangeId, Conversation, Revision};
use utterd_store::{
    Changes, Commit, CommitError, Conflict, Outcome, OutcomeKey, PointerWrite, StoreError, Write,
};
use utterd_telemetry::{
    Span,
    panics::{Panicked, Within},
};

/// The effect of a commit on one conversation, whose queue is held.
pub(crate) struct Part {
    queue: Arc<Queue>,
    before: Option<Arc<Conversation>>,
    changes: Changes,
    /// `None` if it is deleted.
    after: Option<Arc<Conversation>>,
    events: SmallVec<[Event; 1]>,
}

/// What a commit contains besides its parts.
#[derive(Default)]
pub struct Extras {
    pub pointers: Vec<PointerWrite>,
    pub outcomes: Vec<(OutcomeKey, Arc<Outcome>)>,
}

/// Why nothing was published.
#[derive(Debug)]
pub enum Uncommitted {
    /// Nothing took effect; everything has to be decided again.
    Conflict(Conflict),
    /// There is no room for it, and nothing took effect.
    Full(StoreError),
    /// The store panicked, and nothing took effect.
    Panicked,
    /// The store failed.
    Failed(EngineError),
}

impl Uncommitted {
    /// Whether the rules refused it, before anything was handed to the store.
    pub fn is_refusal(&self) -> bool {
        matches!(self, Self::Failed(EngineError::Refused(_)))
    }
}

impl From<Uncommitted> for EngineError {
    fn from(uncommitted: Uncommitted) -> Self {
        match uncommitted {
            Uncommitted::Conflict(_) => Self::Contended,
            Uncommitted::Full(full) => full.into(),
            Uncommitted::Panicked => Self::Panicked,
            Uncommitted::Failed(error) => error,
        }
    }
}

impl From<EngineError> for Uncommitted {
    fn from(error: EngineError) -> Self {
        Self::Failed(error)
    }
}

impl Part {
    /// Creates the part for a conversation whose state was `before`; `None` if it did not exist.
    pub(crate) fn new(hold: &Hold, before: Option<Arc<Conversation>>) -> Self {
        let (queue, after) = (hold.queue.clone(), before.clone());
        Self { queue, before, changes: Changes::new(), after, events: SmallVec::new() }
    }

    /// Like [`Self::new`], but the state may be the one before the first revision.
    pub(crate) fn from(hold: &Hold, before: &Arc<Conversation>) -> Self {
        Self::new(hold, (before.head.revision != Revision::NONE).then(|| before.clone()))
    }

    /// Appends a change.
    pub(crate) fn and(mut self, decided: &Decided, operation: Operation, attempt: Option<&Attempt>) -> Self {
        self.add(decided, operation, attempt);
        self
    }

    /// Appends a change.
    pub(crate) fn add(&mut self, decided: &Decided, operation: Operation, attempt: Option<&Attempt>) {
        self.events.push(Event::of(operation, attempt, decided));
        self.changes.push(decided.change.clone());
        self.after = Some(decided.after.clone());
    }

    /// Deletes the conversation, and adds the event to publish for that.
    pub(crate) fn deleted(mut self, event: Option<Event>) -> Self {
        self.events.extend(event);
        self.after = None;
        self
    }

    /// Returns the state after the changes so far.
    pub(crate) fn newest(&self) -> Option<&Arc<Conversation>> {
        self.after.as_ref()
    }

    /// Returns the state after these changes, if they end the conversation.
    pub(crate) fn ended(&self) -> Option<&Arc<Conversation>> {
        let had_ended = self.before.as_ref().is_some_and(|before| before.head.ended.is_some());
        self.after.as_ref().filter(|after| !had_ended && after.head.ended.is_some())
    }

    /// Returns the changes so far.
    pub(crate) fn changes(&self) -> &[Arc<Change>] {
        &self.changes
    }

    fn write(&self) -> Option<Write> {
        match (&self.before, &self.after) {
            (Some(before), None) => Some(Write::Delete { before: before.clone() }),
            (before, Some(after)) if !self.changes.is_empty() => Some(Write::Change {
                before: before.clone(),
                changes: self.changes.clone(),
                after: after.clone(),
            }),
            _ => None,
        }
    }

    /// Whether this part deletes a conversation with the same id as `state`, but not the same one.
    fn is_deletion_of_another(&self, state: &Conversation) -> bool {
        let lineage = self.before.as_ref().map(|before| before.head.identity.lineage);
        self.after.is_none() && lineage != Some(state.head.identity.lineage)
    }

    /// Returns the state before, if these changes erase text from it.
    fn erased(&self) -> Option<&Arc<Conversation>> {
        let erased_at = self.after.as_ref().map(|after| after.head.erased_at);
        self.before.as_ref().filter(|before| Some(before.head.erased_at) != erased_at)
    }

    /// Whether the conversation is no longer active: it ended, or was removed before.
    fn ends(&self) -> bool {
        let is_active = |state: &&Arc<Conversation>| state.head.ended.is_none();
        let removed = self.before.as_ref().filter(is_active).filter(|_| self.after.is_none());
        self.ended().or(removed).is_some_and(|state| state.head.identity.is_listed())
    }

    fn publish(&mut self, engine: &Engine, began: Option<Duration>) {
        if self.ends() {
            engine.meters.ended.inc();
        }
        if let Some(before) = self.erased() {
            engine.indexes.remove(before.head.identity.lineage);
        }
        self.queue.publish(self.after.clone(), began);
        if let (Some(embeddings), Some(before)) = (&engine.embeddings, &self.before) {
            match &self.after {
                Some(after) => embeddings.heed(before, &self.changes, after),
                None => embeddings.remove(before.head.identity.lineage),
            }
        }
        self.events.drain(..).for_each(|event| engine.events.push(event));
    }
}

impl Engine {
    /// Returns a name for the next commit and the states it makes.
    pub(crate) fn next_change(&self) -> ChangeId {
        ChangeId(self.clock.unique().to_be_bytes())
    }

    /// Makes the parts take effect together, in order, and publishes them all before anyone is answered; or
    /// does neither.
    ///
    /// A failure leaves nothing to undo: the published state is the one committed before. If that may be wrong
    /// by now, it is dropped, and the next caller to ask loads the stored one.
    pub(crate) fn commit<'a>(
        &'a self,
        parts: &'a mut [Part],
        extras: Extras,
    ) -> impl Future<Output = Result<(), Uncommitted>> + Send + use<'a> {
        let writes: Vec<_> = parts.iter().filter_map(Part::write).collect();
        // identifies a commit without writes, if its answer is lost
        let alone = extras.outcomes.first().filter(|_| writes.is_empty()).cloned().map(Box::new);
        let (began, pointers) = (self.asking(), extras.pointers.clone());
        let traced = self.traced(parts.iter_mut().flat_map(|part| &mut part.events));
        let commit = Commit {
            writes,
            pointers: extras.pointers,
            outcomes: extras.outcomes,
            traced,
            is_contended: parts.iter().any(|part| part.queue.is_contended()),
        };
        let committed = (!commit.is_empty()).then(|| {
            let (timer, span) = (self.meters.commit.start_timer(), Span::within("commit"));
            (Within::Store.caught(|| self.store.commit(commit)), timer, span)
        });
        async move {
            if let Some((committed, timer, span)) = committed {
                let committed = match committed {
                    Ok(committed) => Within::Store.catching(committed).await,
                    Err(panicked) => Err(panicked),
                };
                timer.observe_duration();
                if let Some(span) = span {
                    span.end(kind(&committed));
                }
                self.committed(parts, alone, began, committed).await?;
            }
            pointers.iter().for_each(|pointer| self.pointed(pointer, began));
            Ok(())
        }
    }

    /// Notes where a recipient's pointer leads by now.
    fn pointed(&self, pointer: &PointerWrite, began: Option<Duration>) {
        if let Some(last) = &self.last_active {
            last.committed(&pointer.recipient, pointer.after.as_ref(), began);
        }
        if pointer.moves() {
            self.pointers.tell(&pointer.recipient);
        }
    }

    /// Publishes the parts of a commit if it took effect.
    async fn committed(
        &self,
        parts: &mut [Part],
        alone: Option<Box<(OutcomeKey, Arc<Outcome>)>>,
        began: Option<Duration>,
        committed: Result<Result<(), CommitError>, Panicked>,
    ) -> Result<(), Uncommitted> {
        let committed = match committed {
            Ok(Ok(())) => Ok(()),
            Ok(Err(CommitError::Unknown(why))) => Box::pin(self.find_out(parts, alone, why)).await,
            Ok(Err(CommitError::Conflict(conflict))) => Err(Uncommitted::Conflict(conflict)),
            Ok(Err(CommitError::Store(full @ (StoreError::Full { .. } | StoreError::OverQuota(_))))) => {
                Err(Uncommitted::Full(full))
            }
            Ok(Err(CommitError::Store(StoreError::Panicked))) => Err(Uncommitted::Panicked),
            Ok(Err(CommitError::Store(error))) => Err(Uncommitted::Failed(error.into())),
            Err(Panicked) => Box::pin(self.find_out_after_panic(parts, alone)).await,
        };
        let is_conflict = matches!(committed, Err(Uncommitted::Conflict(Conflict::State(_))));
        parts.iter().for_each(|part| part.queue.note_commit(is_conflict));
        let commits = &self.meters.commits;
        let counter = match &committed {
            Ok(()) => &commits.committed,
            Err(Uncommitted::Conflict(_)) => &commits.conflict,
            Err(Uncommitted::Full(_)) => &commits.full,
            Err(Uncommitted::Panicked | Uncommitted::Failed(_)) => &commits.failed,
        };
        counter.inc();
        match &committed {
            Ok(()) => parts.iter_mut().for_each(|part| self.publish(part, began)),
            Err(Uncommitted::Full(_)) => {}
            Err(_) => parts.iter().for_each(|part| part.queue.forget()),
        }
        committed
    }

    /// Publishes a part of what took effect. If that panics, the stored state is loaded for the next caller.
    fn publish(&self, part: &mut Part, began: Option<Duration>) {
        if Within::Queue.caught(|| part.publish(self, began)).is_err() {
            part.queue.forget();
        }
    }

    /// Like [`Self::find_out`], for a commit in which the store panicked. If it had no effect, it is not tried again as
    /// it was.
    async fn find_out_after_panic(
        &self,
        parts: &[Part],
        outcome: Option<Box<(OutcomeKey, Arc<Outcome>)>>,
    ) -> Result<(), Uncommitted> {
        let why = "the store panicked".to_owned();
        match Within::Store.catching(self.find_out(parts, outcome, why)).await {
            Ok(Err(Uncommitted::Conflict(_))) => Err(Uncommitted::Panicked),
            Ok(found) => found,
            // it may have taken effect
            Err(Panicked) => Err(Uncommitted::Failed(EngineError::Panicked)),
        }
    }

    /// Finds out what became of a commit whose answer was lost: the queues are held, so no write of this
    /// process can have followed. A commit that writes no conversation is identified by its outcome.
    async fn find_out(
        &self,
        parts: &[Part],
        outcome: Option<Box<(OutcomeKey, Arc<Outcome>)>>,
        why: String,
    ) -> Result<(), Uncommitted> {
        let named = |part: &Part| part.after.as_ref().map(|after| (after.key().clone(), after.head.change));
        let changed = parts.iter().filter(|part| !part.changes.is_empty()).find_map(named);
        let deleted = parts.iter().find(|part| part.after.is_none());
        let (found, missing) = match (changed, outcome, deleted) {
            (Some((key, change)), ..) => (self.store.is_committed(&key, change).await, Conflict::State(key)),
            (None, Some(alone), _) => {
                let (key, outcome) = *alone;
                let kept = self.store.outcome(&key, self.oldest_outcome()).await;
                (kept.map(|kept| kept == Some(outcome)), Conflict::Outcome(key))
            }
            // deleted; or deleted, and started again by another process; or still to be deleted
            (None, None, Some(part)) => {
                let key = &part.queue.key;
                let state = self.store.load(key).await;
                let is_gone =
                    |state: Option<Arc<_>>| state.is_none_or(|state| part.is_deletion_of_another(&state));
                (state.map(is_gone), Conflict::State(key.clone()))
            }
            (None, None, None) => return Err(Uncommitted::Failed(StoreError::Unavailable(why).into())),
        };
        match found {
            Ok(true) => Ok(()),
            Ok(false) => Err(Uncommitted::Conflict(missing)),
            Err(error) => Err(Uncommitted::Failed(error.into())),
        }
    }
}

/// One word for why a commit was not acknowledged, for traces.
fn kind(committed: &Result<Result<(), CommitError>, Panicked>) -> Option<&'static str> {
    match committed {
        Ok(committed) => committed.as_ref().err().map(CommitError::kind),
        Err(Panicked) => Some("panic"),
    }
}
