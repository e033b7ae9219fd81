//! A conversation that grows by one message at a time.

use std::sync::Arc;

use utterd::{
    domain::{
        Conversation, Draft, Encoding, Identity, Loaded, Policy, Timestamp, TokenCounter, Utterance,
        change::Context,
        memorize::{Memorize, memorize},
    },
    tokenizer,
};

/// The encoding used for all counts here.
pub fn counter() -> &'static dyn TokenCounter {
    tokenizer::counter(Encoding::O200kBase)
}

/// A conversation, and what happened to its window.
pub struct Said {
    /// Its state.
    pub conversation: Conversation,
    /// Changes by which something left the window.
    pub evictions: usize,
    /// Changes by which segments were folded.
    pub folds: usize,
    /// What left the window, in order.
    pub left: Vec<Arc<Utterance>>,
}

impl Said {
    /// An empty conversation with a policy.
    pub fn nothing(policy: Policy) -> Self {
        let identity = Identity { start_time: Timestamp(1_772_366_400_000_000), ..Identity::default() };
        Self { conversation: Conversation::new(identity, policy), evictions: 0, folds: 0, left: Vec::new() }
    }

    /// Says one more message, leniently; returns whether it moved the window.
    pub fn say(&mut self, draft: &Draft) -> bool {
        let command = Memorize {
            drafts: vec![draft.clone()],
            tokens: vec![draft.tokens(counter())],
            lenient: true,
            ..Memorize::default()
        };
        let now = self.conversation.head.update_time.plus(std::time::Duration::from_secs(1));
        let loaded = Loaded::default();
        let memorized = memorize(
            &self.conversation,
            &command,
            &Context { now, counter: counter(), loaded: &loaded, llm: false },
        );
        let memorized = memorized.expect("a real message is taken");
        let change = &memorized.transition.change;
        let moved = !change.evicted.is_empty();
        self.evictions += usize::from(moved);
        self.left.extend(change.evicted.iter().cloned());
        self.folds += usize::from(change.segments_written.iter().any(|segment| segment.level > 0));
        self.conversation = memorized.transition.after.clone();
        moved
    }

    /// Utterances that a search could have found: a few from everything that left the window.
    pub fn recallable(&self) -> Vec<Arc<Utterance>> {
        let every = self.left.len() / 3 + 1;
        self.left.iter().step_by(every).cloned().collect()
    }
}
