//! One commit that changes several conversations.

use std::{collections::BTreeSet, sync::Arc};

use tokio::sync::MutexGuard;

use crate::{
    domain::{Change, Conversation, ConversationKey, Revision, Transition},
    engine::{
        Address, Attempt, Engine, EngineError, Operation,
        events::Event,
        lane::{Lane, Pending},
        line::Ahead,
        settle::{Links, Settled},
    },
    store::{Commit, Outcome, OutcomeKey, PointerWrite, Write},
};

/// Lanes that are held together.
pub(super) struct Held<'a>(Vec<(&'a Arc<Lane>, MutexGuard<'a, Pending>)>);

/// What one commit does to one of its conversations.
pub(super) struct Step<'a> {
    pub before: Arc<Conversation>,
    pub transition: Transition,
    pub operation: Operation,
    /// What its event names.
    pub attempt: Option<&'a Attempt>,
}

/// What a step came to: the change, and the state after it.
pub(super) type Stepped = (Arc<Change>, Arc<Conversation>);

/// What a commit brings beside its steps.
#[derive(Default)]
pub(super) struct Beside<'a> {
    /// What stands in line ahead of it.
    pub ahead: Option<&'a Ahead<'a>>,
    pub pointers: Vec<PointerWrite>,
    pub outcomes: Vec<(OutcomeKey, Arc<Outcome>)>,
}

impl<'a> Held<'a> {
    /// Holds all of `lanes`, which ascend by key: so nobody who holds some waits for one who holds
    /// others. `None` when one of them is no longer in use.
    pub(super) async fn all(lanes: &'a [Arc<Lane>]) -> Option<Self> {
        let mut held = Vec::with_capacity(lanes.len());
        for lane in lanes {
            let pending = lane.pending.lock().await;
            if pending.removed {
                return None;
            }
            held.push((lane, pending));
        }
        Some(Self(held))
    }

    /// Whether the lane of a conversation is held.
    pub(super) fn holds(&self, key: &ConversationKey) -> bool {
        self.place(key).is_some()
    }

    /// The lane of a conversation, if it is held.
    pub(super) fn lane(&self, key: &ConversationKey) -> Option<&'a Arc<Lane>> {
        self.place(key).map(|place| self.0[place].0)
    }

    /// Waits until nothing of these conversations is in flight.
    pub(super) async fn land(&self) {
        for (lane, _) in &self.0 {
            lane.land().await;
        }
    }

    /// Whether the recipient's conversation has ended since the address was resolved, so that another
    /// is meant. Until its end is flushed, it still seems to be this one: that is waited for.
    pub(super) async fn is_elsewhere(&self, address: &Address, state: &Conversation) -> bool {
        let elsewhere = address.conversation.is_none() && state.head.ended.is_some();
        if elsewhere {
            self.land().await;
        }
        elsewhere
    }

    fn place(&self, key: &ConversationKey) -> Option<usize> {
        self.0.iter().position(|(lane, _)| lane.key == *key)
    }
}

impl Engine {
    /// The lanes of several conversations, ascending by key.
    pub(super) fn lanes_of(&self, keys: &BTreeSet<ConversationKey>) -> Vec<Arc<Lane>> {
        keys.iter().map(|key| self.lanes.lane(key)).collect()
    }

    /// The newest state of a conversation whose lane is held; see [`Engine::newest_state`].
    pub(super) async fn newest_held(
        &self,
        held: &mut Held<'_>,
        key: &ConversationKey,
    ) -> Result<Option<Arc<Conversation>>, EngineError> {
        match held.place(key) {
            Some(place) => {
                let (lane, pending) = &mut held.0[place];
                self.newest_state(lane, pending).await
            }
            None => Ok(None),
        }
    }

    /// Hands the changes of conversations whose lanes are held to the store, as one commit. Answers
    /// what they lead to, in the order of `steps`, in which their events go out too.
    pub(super) fn commit_together(
        &self,
        held: &mut Held<'_>,
        steps: Vec<Step<'_>>,
        beside: Beside<'_>,
    ) -> (Settled, Vec<Stepped>) {
        let mut lanes: Vec<_> = held.0.iter_mut().map(|(lane, pending)| (*lane, &mut **pending)).collect();
        self.commit_on(&mut lanes, steps, beside)
    }

    /// The same with the lanes and their ends.
    pub(super) fn commit_on(
        &self,
        lanes: &mut [(&Arc<Lane>, &mut Pending)],
        steps: Vec<Step<'_>>,
        beside: Beside<'_>,
    ) -> (Settled, Vec<Stepped>) {
        let mut writes = Vec::with_capacity(steps.len());
        let mut links = Vec::with_capacity(steps.len());
        let mut done = Vec::with_capacity(steps.len());
        for Step { before, transition, operation, attempt } in steps {
            let (change, after) = (Arc::new(transition.change), Arc::new(transition.after));
            let before = (before.head.revision != Revision::NONE).then_some(before);
            writes.push(Write::Change { before, change: change.clone(), after: after.clone() });
            links.push(Event::of(operation, attempt, &change, &after.head));
            done.push((change, after));
        }
        let Beside { ahead, pointers, outcomes } = beside;
        let flush = self.store.commit(Commit { writes, pointers, outcomes });
        let mut linked = Links::new();
        for ((change, after), event) in done.iter().zip(links) {
            if let Some((lane, pending)) = lanes.iter_mut().find(|(lane, _)| lane.key == *after.key()) {
                linked.push(pending.link(lane, change, after, event));
            }
        }
        (self.settle(flush, linked, ahead), done)
    }

    /// What has to be done before lanes are let go; lets them go.
    pub(super) fn let_all_go(&self, held: Held<'_>) {
        for (lane, mut pending) in held.0 {
            self.let_go(lane, &mut pending);
        }
    }
}
