//! The conversations waiting to be embedded.

use std::collections::HashSet;

use crate::models::turns::Turns;
use utterd_domain::{ConversationKey, Namespace};

/// The most waiting conversations per namespace. A conversation that finds no room is queued again by its
/// next search.
const LINE: usize = 1_024;

/// The waiting conversations; namespaces take turns.
pub(super) struct Queue {
    turns: Turns,
    waiting: HashSet<ConversationKey>,
}

impl Default for Queue {
    fn default() -> Self {
        Self { turns: Turns::new(LINE), waiting: HashSet::new() }
    }
}

impl Queue {
    /// Puts a conversation behind the others of its namespace, unless it is already waiting.
    pub(super) fn add(&mut self, key: &ConversationKey) {
        if !self.waiting.contains(key) && self.turns.add(key) {
            self.waiting.insert(key.clone());
        }
    }

    /// Returns the conversation whose turn it is.
    pub(super) fn take(&mut self) -> Option<ConversationKey> {
        let key = self.turns.take()?;
        self.waiting.remove(&key);
        Some(key)
    }

    /// Returns how many conversations of a namespace wait.
    pub(super) fn waiting(&self, namespace: &Namespace) -> usize {
        self.waiting.iter().filter(|key| key.namespace == *namespace).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use utterd_domain::ConversationId;

    fn key(namespace: &str, number: usize) -> ConversationKey {
        let id = ConversationId::new(&format!("{namespace}-{number}")).unwrap();
        ConversationKey { namespace: Namespace::new(namespace).unwrap(), id }
    }

    #[test]
    fn a_conversation_waits_once_and_a_line_is_bounded() {
        let mut queue = Queue::default();
        (0..2 * LINE).for_each(|number| queue.add(&key("a", number)));
        queue.add(&key("a", 0));
        queue.add(&key("b", 0));
        assert_eq!(["a", "b"].map(|name| queue.waiting(&key(name, 0).namespace)), [LINE, 1]);
        let took = std::iter::from_fn(|| queue.take()).map(|key| key.id.to_string()).collect::<Vec<_>>();
        assert_eq!((took.len(), &took[..3]), (LINE + 1, &["a-0", "b-0", "a-1"].map(str::to_owned)[..]));
        queue.add(&key("a", 0));
        assert_eq!(queue.take(), Some(key("a", 0)));
    }
}
