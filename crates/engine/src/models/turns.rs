//! Turns: namespaces alternate, so that none waits for the whole queue of another.

use std::{
    collections::{BTreeMap, HashSet, VecDeque},
    ops::Bound::{Excluded, Unbounded},
};

use utterd_domain::{ConversationKey, Namespace};

/// Conversations that a model may be asked about, each once; those of a namespace are in queue order.
pub(crate) struct Turns {
    /// The most conversations in the line of a namespace.
    places: usize,
    lines: BTreeMap<Namespace, VecDeque<ConversationKey>>,
    /// All that are in a line.
    waiting: HashSet<ConversationKey>,
    /// The namespace that had the last turn.
    last: Option<Namespace>,
    /// Whether some waiting conversations have no place in their namespace's line.
    left_out: bool,
}

impl Turns {
    /// Creates lines of `places` places, to be filled from a queue: with fewer places, new entries get their
    /// turn sooner; with more, a long queue is read less often.
    pub(crate) fn new(places: usize) -> Self {
        Self { places, lines: BTreeMap::new(), waiting: HashSet::new(), last: None, left_out: false }
    }

    /// Clears the lines so that the queue is read again. If the queue is long, does nothing: a long queue is
    /// read again only once all lines are empty.
    pub(crate) fn renew(&mut self) {
        if !self.left_out {
            self.lines.clear();
            self.waiting.clear();
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// Marks that the queue is being read from its beginning.
    pub(crate) fn start(&mut self) {
        self.left_out = false;
    }

    /// Adds the next conversation of the queue to its namespace's line, if there is a place and it is not there yet.
    pub(crate) fn add(&mut self, key: &ConversationKey) {
        let line = self.lines.entry(key.namespace.clone()).or_default();
        if line.len() >= self.places {
            self.left_out = true;
        } else if self.waiting.insert(key.clone()) {
            line.push_back(key.clone());
        }
    }

    /// Returns how many conversations of a namespace wait.
    pub(crate) fn waiting(&self, namespace: &Namespace) -> usize {
        self.lines.get(namespace).map_or(0, VecDeque::len)
    }

    /// Returns the conversation whose turn it is.
    pub(crate) fn take(&mut self) -> Option<ConversationKey> {
        let last = self.last.take();
        let behind = last.and_then(|last| self.lines.range((Excluded(last), Unbounded)).next());
        let namespace = behind.or_else(|| self.lines.first_key_value())?.0.clone();
        let line = self.lines.get_mut(&namespace)?;
        let key = line.pop_front();
        if let Some(key) = &key {
            self.waiting.remove(key);
        }
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
    use utterd_domain::ConversationId;

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

    /// A namespace with 10,000 waiting conversations gets no second turn before the first turns of the
    /// others.
    #[test]
    fn namespaces_take_turns() {
        let mut queue: Vec<_> = (0..10_000).map(|number| key("b", number)).collect();
        queue.extend([key("a", 0), key("c", 0), key("c", 1)]);
        let mut turns = Turns::new(LINE);
        read(&mut turns, &queue);
        assert_eq!(took(&mut turns, 7), ["a-0", "b-0", "c-0", "b-1", "c-1", "b-2", "b-3"]);
    }

    /// The turns continue after the namespace that was served last, even if the queue is read again in
    /// between.
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

    /// A long queue is read again once the lines are empty; a short one every time.
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

    #[test]
    fn a_conversation_waits_once_and_a_line_is_bounded() {
        let mut turns = Turns::new(LINE);
        (0..2 * LINE).for_each(|number| turns.add(&key("a", number)));
        [key("a", 0), key("b", 0), key("b", 0)].iter().for_each(|key| turns.add(key));
        assert_eq!(["a", "b"].map(|name| turns.waiting(&key(name, 0).namespace)), [LINE, 1]);
        assert_eq!(took(&mut turns, 3), ["a-0", "b-0", "a-1"]);
        assert_eq!(took(&mut turns, 100).len(), LINE - 2);
        turns.add(&key("a", 0));
        assert_eq!(turns.take(), Some(key("a", 0)));
    }
}
