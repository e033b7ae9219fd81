//! One order for each conversation: who saw or made which version of it, and when.
//!
//! The store's ledger numbers the versions of a conversation. Writes make versions, reads see them. With
//! these numbers, a run is linearizable if each answer fits between its call and itself: nobody sees an older
//! version than was returned to anybody before the call, or one that does not exist yet.

use std::{cell::RefCell, collections::BTreeMap, sync::Arc};

use utterd::{
    domain::{Conversation, ConversationId, LineageId, RecipientId, Revision},
    store::OutcomeKey,
};

use crate::{
    calls::{Answer, Call},
    checks::Wrong,
    ledger::{Kept, Ledger, Version, shown},
    naive::Doing,
    story::Tick,
    tell,
    world::{End, Try, Watch},
};

/// A version in an answer.
#[derive(Clone, Debug)]
pub struct Sight {
    pub id: ConversationId,
    pub version: usize,
    /// Whether the call made it.
    pub made: bool,
}

/// A place in the order of a conversation or of a pointer that somebody was shown.
struct Told<K> {
    of: K,
    place: usize,
    since: Tick,
}

/// The run in the form that the checks use.
pub struct Order<'a> {
    pub ledger: &'a Ledger,
    pub tries: &'a [Try],
    versions: RefCell<BTreeMap<ConversationId, Arc<Vec<Version>>>>,
    told: Vec<Told<ConversationId>>,
    pointed: Vec<Told<RecipientId>>,
    /// The versions that each attempt saw.
    pub sights: Vec<Vec<Sight>>,
    wrongs: Vec<Wrong>,
}

impl<'a> Order<'a> {
    pub fn of(ledger: &'a Ledger, tries: &'a [Try], watches: &[Watch]) -> Self {
        let (versions, told, pointed, sights, wrongs) = Default::default();
        let mut order = Self { ledger, tries, versions, told, pointed, sights, wrongs };
        order.sights = tries.iter().map(|attempt| order.sights_of(attempt)).collect();
        for (attempt, sights) in tries.iter().zip(&order.sights) {
            let told =
                |sight: &Sight| Told { of: sight.id.clone(), place: sight.version, since: attempt.ended };
            order.told.extend(sights.iter().map(told));
        }
        for watch in watches {
            for (tick, state) in &watch.seen {
                match order.find(state) {
                    Some(place) => order.told.push(Told { of: watch.id.clone(), place, since: *tick }),
                    None => order.wrongs.push(phantom(*tick, "a watch", state)),
                }
            }
        }
        for attempt in tries {
            order.note_pointer(attempt);
        }
        order
    }

    /// The versions of a conversation; the first is the one before it existed.
    pub fn versions(&self, id: &ConversationId) -> Arc<Vec<Version>> {
        let mut known = self.versions.borrow_mut();
        known.entry(id.clone()).or_insert_with(|| Arc::new(self.ledger.versions(id))).clone()
    }

    /// The place of a state among the versions of its conversation, if it was ever stored.
    pub fn find(&self, state: &Conversation) -> Option<usize> {
        let place = (state.head.identity.lineage, state.head.revision);
        let found = self.place(&state.key().id, place)?;
        let stored = self.versions(&state.key().id)[found].state.clone();
        stored.is_none_or(|stored| shown(&stored) == shown(state)).then_some(found)
    }

    /// The place of a revision in one life of a conversation.
    pub fn place(&self, id: &ConversationId, place: (LineageId, Revision)) -> Option<usize> {
        self.versions(id).iter().position(|version| version.place == Some(place))
    }

    /// The versions of a conversation that an attempt can see: from the newest one shown to anybody before
    /// the call, to the newest one at the time of the answer.
    pub fn visible(
        &self,
        id: &ConversationId,
        invoked: Tick,
        ended: Tick,
    ) -> std::ops::RangeInclusive<usize> {
        let told = self.told.iter().filter(|told| told.of == *id && told.since < invoked);
        let first = told.map(|told| told.place).max().unwrap_or(0);
        let last = self.versions(id).iter().rposition(|version| version.tick < ended).unwrap_or(0);
        first..=last
    }

    /// The same for the active conversation of a recipient.
    pub fn active(&self, recipient: &RecipientId, invoked: Tick, ended: Tick) -> Vec<Option<ConversationId>> {
        self.active_since(recipient, invoked, ended).1
    }

    /// The same, and since when the first of them was active.
    pub fn active_since(
        &self,
        recipient: &RecipientId,
        invoked: Tick,
        ended: Tick,
    ) -> (Tick, Vec<Option<ConversationId>>) {
        let pointers = self.ledger.pointers(recipient);
        let told = self.pointed.iter().filter(|told| told.of == *recipient && told.since < invoked);
        let first = told.map(|told| told.place).max().unwrap_or(0);
        let since = pointers[first].0;
        let seen = pointers.into_iter().skip(first).filter(|(tick, _)| *tick < ended);
        (since, seen.map(|(_, active)| active).collect())
    }

    /// The conversation whose state an attempt returned.
    pub fn sights_of_state(&self, attempt: &Try) -> Option<ConversationId> {
        let End::Answered(Answer::State(state, _) | Answer::Listed(state, _)) = &attempt.end else {
            return None;
        };
        Some(state.key().id.clone())
    }

    /// The stored outcome of a call, by its request id.
    pub fn kept(&self, attempt: &Try) -> Option<&'a Kept> {
        let attempt = attempt.call.attempt()?;
        let namespace = Default::default();
        self.ledger.outcomes.get(&OutcomeKey { namespace, rpc: attempt.rpc, request: attempt.id.clone() })
    }

    /// Checks that each answer shows versions that existed, and were not outdated before its call.
    pub fn check(&self) -> Vec<Wrong> {
        let mut wrongs = self.wrongs.clone();
        for (attempt, sights) in self.tries.iter().zip(&self.sights) {
            for sight in sights {
                wrongs.extend(self.check_sight(attempt, sight));
            }
            wrongs.extend(self.check_address(attempt));
        }
        wrongs
    }

    fn check_sight(&self, attempt: &Try, sight: &Sight) -> Option<Wrong> {
        let visible = self.visible(&sight.id, attempt.invoked, attempt.ended);
        let Version { tick, call, .. } = self.versions(&sight.id)[sight.version];
        let (id, number) = (&sight.id, attempt.number);
        let is_new = !sight.made || attempt.invoked < tick && call.is_none_or(|call| call == number);
        match (visible.contains(&sight.version), is_new) {
            (true, true) => None,
            (true, false) => Some(Wrong::new(
                "a write is of its call",
                format!("call {number} made {id} of {tick}, as did {call:?}"),
            )),
            (false, _) => {
                let how = format!(
                    "call {number}, {} to {}, tells of {id} as of {tick}, its version {}; accepted: {visible:?}",
                    attempt.invoked, attempt.ended, sight.version
                );
                Some(Wrong::new("an answer is of its time", how))
            }
        }
    }

    /// A call by recipient goes to a conversation that was active, or to none if there was none.
    fn check_address(&self, attempt: &Try) -> Option<Wrong> {
        let (recipient, id) = by_recipient(attempt)?;
        let active = self.active(&recipient, attempt.invoked, attempt.ended);
        (!active.contains(&id)).then(|| {
            let how =
                format!("call {} went to {id:?}; active for {recipient} were {active:?}", attempt.number);
            Wrong::new("a call goes to the active conversation", how)
        })
    }

    /// What an attempt shows of the order of conversations.
    fn sights_of(&mut self, attempt: &Try) -> Vec<Sight> {
        let End::Answered(answer) = &attempt.end else { return Vec::new() };
        let mut states: Vec<(&Conversation, bool)> = Vec::new();
        match answer {
            Answer::Now { after, change, .. } => states.push((after, change.is_some())),
            Answer::Earlier(earlier) => states.extend(earlier.conversation.iter().map(|now| (&**now, false))),
            Answer::State(state, _) | Answer::Listed(state, _) if state.exists() => {
                states.push((state, false))
            }
            // the answer for a recipient without a conversation
            Answer::State(..) | Answer::Listed(..) => {}
            Answer::Found(found) => states.extend(found.iter().map(|found| (&*found.state, false))),
            Answer::Deleted(_) | Answer::Conversations(_) => {}
        }
        let mut sights: Vec<_> = self.deletion(attempt).into_iter().chain(self.end(attempt)).collect();
        for (state, made) in states {
            match self.find(state) {
                Some(version) => sights.push(Sight { id: state.key().id.clone(), version, made }),
                None => self.wrongs.push(phantom(attempt.ended, &format!("call {}", attempt.number), state)),
            }
        }
        sights
    }

    /// The end of the conversation that was ended to start another: one commit does both. One with its id might have
    /// ended before.
    fn end(&self, attempt: &Try) -> Option<Sight> {
        let End::Answered(Answer::Now { after, outcome, .. }) = &attempt.end else { return None };
        let (id, started) = (outcome.ended.as_ref()?, self.find(after)?);
        let tick = self.versions(&after.key().id)[started].tick;
        let has_ended =
            |version: &Version| version.state.as_ref().is_some_and(|state| state.head.ended.is_some());
        let is_end = |version: &Version| version.tick == tick && has_ended(version);
        let version = self.versions(id).iter().position(is_end)?;
        Some(Sight { id: id.clone(), version, made: true })
    }

    /// The deletion that an attempt made, unless there were several at the time.
    fn deletion(&mut self, attempt: &Try) -> Option<Sight> {
        let (Call::Delete(id), End::Answered(Answer::Deleted(count))) = (&*attempt.call, &attempt.end) else {
            return None;
        };
        let versions = self.versions(id);
        let during = |version: &Version| attempt.invoked < version.tick && version.tick < attempt.ended;
        let mut deletions =
            (0..versions.len()).filter(|at| !versions[*at].exists() && during(&versions[*at]));
        match (deletions.next(), deletions.next()) {
            (Some(version), None) => {
                let had = versions[version - 1].naive.as_ref().map(|had| had.listed(true).len() as u64);
                if had != Some(*count) {
                    let how = format!("call {} deleted {count} utterances, of {had:?}", attempt.number);
                    self.wrongs.push(Wrong::new("a write is of its call", how));
                }
                Some(Sight { id: id.clone(), version, made: true })
            }
            (Some(_), Some(_)) => None,
            (None, _) => {
                let how = format!("call {} deleted nothing", attempt.number);
                self.wrongs.push(Wrong::new("a write is of its call", how));
                None
            }
        }
    }

    /// Records what an answer shows of a recipient's pointer: a call that moved it knows so; one that
    /// followed it saw it no earlier than it pointed there.
    fn note_pointer(&mut self, attempt: &Try) {
        let End::Answered(answer) = &attempt.end else { return };
        if let Answer::Now { after, change: Some(_), .. } = answer {
            let recipient = after.head.identity.recipient.clone();
            let version = self.find(after).map(|place| self.versions(&after.key().id)[place].tick);
            let pointers = self.ledger.pointers(&recipient);
            if let Some(place) = pointers.iter().position(|(tick, _)| Some(*tick) == version) {
                self.pointed.push(Told { of: recipient, place, since: attempt.ended });
            }
        } else if let Some((recipient, id)) = by_recipient(attempt) {
            let pointers = self.ledger.pointers(&recipient);
            if let Some(place) = pointers.iter().position(|(_, active)| *active == id) {
                self.pointed.push(Told { of: recipient, place, since: attempt.ended });
            }
        }
    }
}

/// The recipient by which a call was addressed, and the conversation that it went to, if any.
fn by_recipient(attempt: &Try) -> Option<(RecipientId, Option<ConversationId>)> {
    let address = attempt.call.address().filter(|address| address.conversation.is_none())?;
    let End::Answered(answer) = &attempt.end else { return None };
    let id = match (attempt.call.doing(), answer) {
        (Some(Doing::Create { .. }), _) => return None,
        (Some(Doing::Fork(_) | Doing::EditAsFork(_)), Answer::Now { after, .. }) => {
            Some(Some(after.head.forked_from.as_ref()?.conversation.clone()))
        }
        (_, Answer::Now { after, .. }) => Some(Some(after.key().id.clone())),
        (_, Answer::State(state, _) | Answer::Listed(state, _)) => {
            Some(state.exists().then(|| state.key().id.clone()))
        }
        (_, Answer::Found(found)) => found.first().map(|found| Some(found.state.key().id.clone())),
        _ => None,
    };
    Some((address.recipient_or_default(), id?))
}

fn phantom(tick: Tick, who: &str, state: &Conversation) -> Wrong {
    let how = format!("at {tick}, {who} tells of {}, which was never stored", tell::state(state));
    Wrong::new("an answer is of a state that was stored", how)
}
