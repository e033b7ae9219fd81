//! The requests that a write makes to the store, before it is queued and after it was refused. A single
//! request to a shared store returns everything, with the state that the write will be decided on.

use std::sync::Arc;

use crate::{
    Address, Engine, Result,
    lane::queued::{Seen, Target, WriteCall},
};
use utterd_domain::{Conversation, ConversationId, ConversationKey};
use utterd_store::{Begin, Newer, Outcome, OutcomeKey, PointerWrite, RecipientKey, StateOf};

/// The store's answer.
#[derive(Default)]
pub struct Asked {
    pub active: Option<ConversationId>,
    /// The outcome of an earlier attempt.
    pub outcome: Option<Arc<Outcome>>,
    /// The state, if it was read.
    pub seen: Option<Seen>,
}

/// The conversation that a write most likely goes to, and its last known state.
struct Known {
    /// `None` if the recipient's active conversation is not known.
    key: Option<ConversationKey>,
    state: Option<Arc<Conversation>>,
    by_recipient: bool,
}

impl Engine {
    /// Returns the conversation that a write most likely goes to, without asking the shared store; `None` if
    /// it is not known. If the assumption is wrong, the commit is refused; an answer without a commit is
    /// checked first.
    pub(crate) fn assumed(&self, address: &Address, recipient: &RecipientKey) -> Option<Target> {
        let last = self.last_active.as_ref()?;
        let by_recipient = address.conversation.is_none();
        let id = address.conversation.clone().or_else(|| last.of(recipient))?;
        let key = ConversationKey { namespace: recipient.namespace.clone(), id: id.clone() };
        let queue = self.queues.get(&key).filter(|queue| !queue.is_contended())?;
        let state = queue.published().state()?;
        if by_recipient && !address.may_mean(&state) {
            return None;
        }
        let (before, after) = (Some(id.clone()), Some(id));
        let pointer = PointerWrite { recipient: recipient.clone(), before, after };
        Some(Target { key, pointer: by_recipient.then_some(pointer), exists: true, seen: None, policy: None })
    }

    /// Whether a conversation exists for sure, without asking the store: it is in memory, and no other
    /// process can have deleted it.
    pub(crate) fn surely_exists(&self, key: &ConversationKey) -> bool {
        let published = || self.queues.get(key)?.published().state();
        !self.is_shared() && published().is_some()
    }

    /// Asks the store for what a write needs before it is queued, if it needs anything: the recipient's `active`
    /// conversation, the outcome of an attempt that may have been made before.
    pub(crate) async fn ask(
        &self,
        address: &Address,
        recipient: &RecipientKey,
        active: bool,
        attempt: Option<&OutcomeKey>,
    ) -> Result<Asked> {
        if !active && attempt.is_none() && !self.is_shared() {
            return Ok(Asked::default());
        }
        let outcome = attempt.map(|key| (key, self.oldest_outcome()));
        let known = self.known(address, recipient);
        let state = known.as_deref().and_then(Known::wanted);
        let last = self.last_active.as_ref().filter(|_| active);
        let pointer = last.map(|last| (last, last.before(recipient), self.clock.elapsed()));
        let begin = Begin { recipient: active.then_some(recipient), outcome, state };
        let begun = self.store.begin(begin).await?;
        if let Some((last, before, asked)) = pointer {
            last.answered(recipient, before, begun.active.as_ref(), asked);
        }
        let seen = known.map(|known| begun.state.or(known.state));
        Ok(Asked { active: begun.active, outcome: begun.outcome, seen })
    }

    /// Whether a refusal is outdated, because something that was looked up before the decision has changed.
    /// The conversation's queue must be held.
    ///
    /// - The attempt may have an outcome by now: the rules may then have refused what the attempt itself did.
    /// - The recipient may have another active conversation.
    /// - Another process may have changed the conversation: its state and the data loaded with it may then be
    ///   from different moments.
    pub(crate) async fn is_outdated(&self, call: &WriteCall, target: &Target) -> Result<bool> {
        let attempt = call.outcome_key();
        let pointer = target.pointer.as_ref();
        if attempt.is_none() && pointer.is_none() && !self.is_shared() {
            return Ok(false);
        }
        let queue = self.queues.get(&target.key);
        let known = queue.as_ref().and_then(|queue| queue.published().state());
        let known = known.map(|state| state.head.change);
        let begin = Begin {
            recipient: pointer.map(|pointer| &pointer.recipient),
            outcome: attempt.as_ref().map(|key| (key, self.oldest_outcome())),
            state: self.is_shared().then_some(StateOf::One(&target.key, known)),
        };
        let begun = self.store.begin(begin).await?;
        let is_changed = match begun.state {
            Newer::Known => false,
            Newer::Absent => known.is_some(),
            Newer::State(_) => true,
        };
        queue.filter(|_| is_changed).into_iter().for_each(|queue| queue.note_commit(true));
        let is_another = pointer.is_some_and(|pointer| begun.active != pointer.before);
        Ok(begun.outcome.is_some() || is_another || is_changed)
    }

    /// Returns what is known of the addressed conversation. Returns `None` if the store need not be asked for
    /// the state along with everything else: if no other process writes to the store, or if the
    /// conversation's queue is held, so that its writes share one read of the state.
    fn known(&self, address: &Address, recipient: &RecipientKey) -> Option<Box<Known>> {
        let last = self.last_active.as_ref()?;
        let by_recipient = address.conversation.is_none();
        let id = address.conversation.clone().or_else(|| last.of(recipient));
        let key = id.map(|id| ConversationKey { namespace: recipient.namespace.clone(), id });
        let queue = key.as_ref().and_then(|key| self.queues.get(key));
        if queue.as_ref().is_some_and(|queue| queue.is_busy()) {
            return None;
        }
        let state = queue.and_then(|queue| queue.published().state());
        Some(Box::new(Known { key, state, by_recipient }))
    }
}

impl Known {
    /// Returns which state to ask the store for.
    fn wanted(&self) -> Option<StateOf<'_>> {
        let change = self.state.as_ref().map(|state| state.head.change);
        match (&self.key, self.by_recipient) {
            (Some(key), false) => Some(StateOf::One(key, change)),
            (key, _) => Some(StateOf::Active(key.as_ref().map(|key| &key.id).zip(change))),
        }
    }
}
