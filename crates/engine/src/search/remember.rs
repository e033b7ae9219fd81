//! Remember: searching utterances.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use crate::{
    Address, Caller, Engine, Operation, Result,
    events::Event,
    read::page::{PageRoom, ReadSize},
    search::found::{Found, Matches, Searched, recency},
};
use utterd_domain::{Conversation, Ranges, RecipientId, Role, Sequence, Timestamp, Utterance, recall::Floor};

/// What to search for, and where.
#[derive(Clone, Debug)]
pub struct RememberCall {
    /// The conversation.
    pub address: Address,
    /// The text to rank by; if empty, ranks by recency.
    pub prompt: String,
    /// The conditions utterances must meet.
    pub filter: Filter,
    /// What to search.
    pub scope: Scope,
    /// The order of matches.
    pub order: Order,
    /// The least relevance of a match.
    pub floor: Floor,
    /// The number of utterances to return before and after each match. If it is not 0, the rest of the
    /// match's exchange is returned too.
    pub neighbors: u64,
    /// The number of matches to skip.
    pub skip: usize,
    /// The most matches.
    pub limit: usize,
    /// The longest wait for optional parts of the search; `None` if the caller sets no limit.
    pub patience: Option<Duration>,
}

/// What to search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// The window.
    Window,
    /// The window and the archive.
    Conversation,
    /// Every conversation of the recipient.
    Recipient,
}

/// The order of matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// The highest score first.
    Relevance,
    /// The newest first.
    Recency,
}

/// The conditions utterances must meet. Empty lists and `None` accept everything.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    /// One of these roles.
    pub roles: Vec<Role>,
    /// One of these names.
    pub names: Vec<String>,
    /// A turn of at least this.
    pub min_turn: Option<u32>,
    /// A turn of at most this.
    pub max_turn: Option<u32>,
    /// A sequence of at least this.
    pub min_sequence: Option<Sequence>,
    /// A sequence of at most this.
    pub max_sequence: Option<Sequence>,
    /// Said at this time or later.
    pub start_time: Option<Timestamp>,
    /// Said before this time.
    pub end_time: Option<Timestamp>,
    /// Pinned or not pinned.
    pub pinned: Option<bool>,
    /// Metadata that contains all of these.
    pub metadata: BTreeMap<String, String>,
}

/// The results.
#[derive(Clone, Debug)]
pub struct RememberReply {
    /// The matches, in order.
    pub found: Vec<Found>,
    /// Whether there are more.
    pub more: bool,
}

/// The most conversations of a recipient to search: the newest ones.
const MAX_CONVERSATIONS: usize = 1_000;
/// The most utterances of an exchange returned after a match in it.
const MAX_EXCHANGE: u64 = 64;
impl Engine {
    /// Finds utterances. Soft-forgotten utterances are never found. A search by recipient does not find them
    /// in other conversations either, if these share them or have copies.
    pub async fn remember(self: &Arc<Self>, caller: &Caller, call: &RememberCall) -> Result<RememberReply> {
        let states = self.searched(caller, call).await?;
        let room = PageRoom::new(call.limit, 0);
        let Matches { found, more, .. } = match call.prompt.is_empty() {
            true => self.newest(&states, call, room).await?,
            false => {
                let wanted = states.iter().map(|state| call.sequences(state)).collect();
                let searched = Searched { states: states.clone(), wanted };
                self.ranked(&Arc::new(searched), call, room).await?
            }
        };
        let event = match states.as_slice() {
            [state] => Event::read(Operation::Remember, state, found.len()),
            several => {
                let owner = several.first().map(|state| state.head.identity.recipient.clone());
                let recipient = owner.unwrap_or_else(|| call.address.recipient_or_default());
                Event::wide(Operation::Remember, caller, Some(recipient), found.len())
            }
        };
        self.events.push(event);
        Ok(RememberReply { found, more })
    }

    /// Returns the conversations to search, newest first.
    async fn searched(
        self: &Arc<Self>,
        caller: &Caller,
        call: &RememberCall,
    ) -> Result<Vec<Arc<Conversation>>> {
        if call.scope != Scope::Recipient {
            let state = self.read_or_blank(caller, &call.address).await?;
            return Ok(Vec::from_iter(state.exists().then_some(state)));
        }
        let recipient: RecipientId = match &call.address.conversation {
            Some(_) => self.read(caller, &call.address).await?.head.identity.recipient.clone(),
            None => call.address.recipient_or_default(),
        };
        self.of_recipient(caller, recipient, call.address.max_staleness).await
    }

    /// Returns the recipient's conversations, newest first.
    pub(crate) async fn of_recipient(
        self: &Arc<Self>,
        caller: &Caller,
        recipient: RecipientId,
        max_staleness: Duration,
    ) -> Result<Vec<Arc<Conversation>>> {
        let keys = self.store.newest_keys(&caller.recipient(recipient), MAX_CONVERSATIONS).await?;
        let mut states = Vec::with_capacity(keys.len());
        for key in keys {
            states.extend(self.published_within(max_staleness, &key).await?);
        }
        Ok(states)
    }

    /// Returns the utterances that pass the filter, newest first, as far as the page has room.
    async fn newest(
        self: &Arc<Self>,
        states: &[Arc<Conversation>],
        call: &RememberCall,
        room: PageRoom,
    ) -> Result<Matches> {
        let mut matches = Matches::new(states.len(), call.skip, room);
        let mut size = ReadSize::new();
        for (index, state) in states.iter().enumerate() {
            let mut rest = call.sequences(state);
            while !rest.is_empty() && !matches.more {
                let wanted = rest.take_last(size.get());
                let read = self.stored(state, &wanted).await?;
                let silenced = self.silenced_elsewhere(states, state, &wanted, call).await?;
                size.learn(&read);
                let found = |one: &Arc<Utterance>| call.finds(one) && !silenced.contains(one.sequence);
                for utterance in read.into_iter().rev().filter(found) {
                    let recency = recency(states, index, utterance.sequence.get());
                    self.take(&mut matches, states, Found::new(state, utterance, recency), call).await?;
                }
            }
        }
        Ok(matches)
    }

    /// Adds a match with its neighbours, if the page includes it.
    pub(crate) async fn take(
        self: &Arc<Self>,
        matches: &mut Matches,
        states: &[Arc<Conversation>],
        mut found: Found,
        call: &RememberCall,
    ) -> Result<()> {
        if !matches.more && matches.wants(&found) {
            found.neighbors = self.neighbors(&found.state, &found.utterance, call.neighbors).await?;
            let near = found.neighbors.iter().map(|near| near.sequence).collect();
            let silenced = self.silenced_elsewhere(states, &found.state, &near, call).await?;
            found.neighbors.retain(|near| !silenced.contains(near.sequence));
            matches.take(found);
        }
        Ok(())
    }

    async fn neighbors(
        self: &Arc<Self>,
        state: &Conversation,
        utterance: &Utterance,
        count: u64,
    ) -> Result<Vec<Arc<Utterance>>> {
        if count == 0 {
            return Ok(Vec::new());
        }
        let sequence = utterance.sequence.get();
        let first = Sequence(sequence.saturating_sub(count).max(1)).min(utterance.unit);
        let last = match utterance.takes_part_in_calls() {
            true => sequence.saturating_add(count.max(MAX_EXCHANGE)),
            false => sequence.saturating_add(count),
        };
        let mut around = self.stored(state, &Ranges::of(first, Sequence(last))).await?;
        around.retain(|other| {
            let is_near = other.sequence.get().abs_diff(sequence) <= count || other.unit == utterance.unit;
            is_near && other.sequence != utterance.sequence && !other.forgotten
        });
        Ok(around)
    }

    /// Returns the current time within a conversation: the time of its newest utterance plus the time passed
    /// since it was said, but no later than the clock. So `yesterday` is right even if the caller supplies the times;
    /// utterances whose times are ahead of the clock do not count.
    pub(crate) fn present(&self, state: &Conversation) -> Timestamp {
        present(self.now(), state.head.said_time, state.window.iter().rev().map(|one| one.create_time))
    }
}

/// The time `now` in a conversation whose last utterance was stored at `said`.
fn present(now: Timestamp, said: Timestamp, mut newest_first: impl Iterator<Item = Timestamp>) -> Timestamp {
    let passed = now.0.saturating_sub(said.0).max(0);
    let newest = newest_first.find(|time| *time <= now);
    newest.map_or(now, |newest| Timestamp(newest.0.saturating_add(passed).min(now.0)))
}

impl Address {
    /// Returns what a search covers by default: what is addressed.
    pub fn scope(&self) -> Scope {
        if self.conversation.is_some() { Scope::Conversation } else { Scope::Recipient }
    }
}

impl RememberCall {
    /// Creates a call that returns the most relevant utterances, without a filter.
    pub(crate) fn ranking(prompt: &str, scope: Scope, limit: usize) -> Self {
        Self {
            address: Address::default(),
            prompt: prompt.to_owned(),
            filter: Filter::default(),
            scope,
            order: Order::Relevance,
            floor: Floor::of_search(None),
            neighbors: 0,
            skip: 0,
            limit,
            patience: None,
        }
    }

    /// Returns the stored sequences that scope and filter allow.
    fn sequences(&self, state: &Conversation) -> Ranges {
        let first = self.filter.min_sequence.unwrap_or(Sequence::FIRST);
        let last = self.filter.max_sequence.unwrap_or(state.head.next).min(state.head.next);
        let mut wanted = Ranges::of(first, last);
        if self.scope == Scope::Window {
            wanted.subtract(&state.head.left);
        }
        wanted
    }

    pub(crate) fn finds(&self, utterance: &Utterance) -> bool {
        !utterance.forgotten && self.filter.accepts(utterance)
    }
}

impl Filter {
    fn accepts(&self, utterance: &Utterance) -> bool {
        let name = |wanted: &String| utterance.name() == Some(wanted);
        let note = |(key, value): (&String, &String)| {
            let metadata = utterance.more.as_ref().and_then(|more| more.metadata.get(key));
            metadata == Some(value)
        };
        (self.roles.is_empty() || self.roles.contains(&utterance.role))
            && (self.names.is_empty() || self.names.iter().any(name))
            && self.min_turn.is_none_or(|turn| utterance.turn >= turn)
            && self.max_turn.is_none_or(|turn| utterance.turn <= turn)
            && self.start_time.is_none_or(|time| utterance.create_time >= time)
            && self.end_time.is_none_or(|time| utterance.create_time < time)
            && self.pinned.is_none_or(|pinned| utterance.pinned == pinned)
            && self.metadata.iter().all(note)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_present_follows_what_was_said_but_not_ahead_of_the_clock() {
        let at = |now, said, newest_first: &[i64]| {
            present(Timestamp(now), Timestamp(said), newest_first.iter().copied().map(Timestamp)).0
        };
        assert_eq!(at(1_000, 990, &[]), 1_000);
        assert_eq!(at(1_000, 990, &[980]), 990, "said in its own time, ten ago");
        assert_eq!(at(1_000, 990, &[50, 40]), 60, "an old talk goes on in its own time");
        assert_eq!(at(1_000, 990, &[3_000, 985]), 995, "one clock is ahead");
        assert_eq!(at(3_100, 990, &[3_000, 985]), 3_100, "and is not any more");
        assert_eq!(at(1_000, 990, &[3_000, 2_000]), 1_000);
    }
}
