//! Whose turn it is: namespaces take turns, so that none waits for all that another has queued.

use std::{
    collections::{BTreeMap, VecDeque},
    ops::Bound::{Excluded, Unbounded},
};

use crate::domain::{ConversationKey, Namespace};

/// Conversations that a model may be asked about, those of a namespace in the order of the queue.
pub(super) struct Turns {
    /// Places in the line of a namespace.
    places: usize,
    lines: BTreeMap<Namespace, VecDeque<ConversationKey>>,
    /// Whose turn it was last.
    last: Option<Namespace>,
    /// More of a namespace wait than have a place in its line.
    left_out: bool,
}

impl Turns {
    /// Lines with so many places each, where a queue is read for them: the fewer, the sooner what is new has its
    /// turn; the more, the less often a long queue is read.
    pub(super) fn new(places: usize) -> Self {
        Self { places, lines: BTreeMap::new(), last: None, left_out: false }
    }

    /// Gives the places up, for the queue to be read again: unless it is so long that it is read only once all
    /// that have one had their turns.
    pub(super) fn renew(&mut self) {
        if !self.left_out {
            self.lines.clear();
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// The queue is read from its beginning.
    pub(super) fn start(&mut self) {
        self.left_out = false;
    }

    /// The next conversation of the queue; answers whether it has a place.
    pub(super) fn add(&mut self, key: &ConversationKey) -> bool {
        let line = self.lines.entry(key.namespace.clone()).or_default();
        let has_room = line.len() < self.places;
        match has_room {
            true => line.push_back(key.clone()),
            false => self.left_out = true,
        }
        has_room
    }

    /// The conversation whose turn it is.
    pub(super) fn take(&mut self) -> Option<ConversationKey> {
        let last = self.last.take();
        let behind = last.and_then(|last| self.lines.range((Excluded(last), Unbounded)).next());
        let namespace = behind.or_else(|| self.lines.first_key_value())?.0.clone();
        let line = self.lines.get_mut(&namespace)?;
        let key = line.pop_front();
        if line.is_empty() {
            self.lines.remove(&namespace);
        }
        self.last = Some(namespace);
        key
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::ConversationId;

    const LINE: usize = 16;

    fn key(namespace: &str, number: usize) -> ConversationKey {
        let id = ConversationId::new(&format!("{namespace}-{number}")).unwrap();
        ConversationKey { namespace: Namespace::new(namespace).unwrap(), id }
    }

    fn read(turns: &mut Turns, queue: &[ConversationKey]) {
        turns.start();
        for key in queue {
            turns.add(key);
        }
    }

    fn took(turns: &mut Turns, count: usize) -> Vec<String> {
        std::iter::from_fn(|| turns.take()).take(count).map(|key| key.id.to_string()).collect()
    }

    /// Of 10,000 of one namespace, none has a second turn before another's first.
    #[test]
    fn namespaces_take_turns() {
        let mut queue: Vec<_> = (0..10_000).map(|number| key("b", number)).collect();
        queue.extend([key("a", 0), key("c", 0), key("c", 1)]);
        let mut turns = Turns::new(LINE);
        read(&mut turns, &queue);
        assert_eq!(took(&mut turns, 7), ["a-0", "b-0", "c-0", "b-1", "c-1", "b-2", "b-3"]);
    }

    /// It goes on behind the one that was served last, whatever is read anew between.
    #[test]
    fn a_new_reading_gives_no_one_another_turn() {
        let queue = [key("a", 0), key("a", 1), key("b", 0)];
        let mut turns = Turns::new(LINE);
        read(&mut turns, &queue);
        assert_eq!(took(&mut turns, 1), ["a-0"]);
        turns.renew();
        read(&mut turns, &queue[1..]);
        assert_eq!(took(&mut turns, 3), ["b-0", "a-1"]);
        assert!(turns.is_empty() && turns.take().is_none());
    }

    /// A long queue is read again once those in line have had their turns; a short one each time.
    #[test]
    fn a_long_queue_is_read_seldom() {
        let queue: Vec<_> = (0..100).map(|number| key("a", number)).collect();
        let mut turns = Turns::new(LINE);
        read(&mut turns, &queue);
        turns.renew();
        assert_eq!(took(&mut turns, 100).len(), LINE);
        read(&mut turns, &queue[..LINE]);
        turns.renew();
        assert!(turns.is_empty());
    }
}
