//! The approximate size of a conversation in memory.

use std::sync::Arc;

use utterd_domain::{Change, Conversation, Utterance, compaction::Compaction};

/// The bytes of a queue and its entry in the cache.
pub(super) const QUEUE: u64 = 512;
/// The bytes that each compaction takes, even if it can no longer be undone.
const COMPACTION: usize = 256;

/// Returns the bytes of a conversation in the state `state` whose window takes `window`. The cost does not
/// grow with the length of the conversation.
pub(super) fn queue(state: &Conversation, window: u64) -> u64 {
    let head = &state.head;
    let told = state.summary.memory_bytes() + compactions(&state.compactions);
    QUEUE + window + (head.memory_bytes() + told) as u64
}

/// Returns the bytes of the compactions. Reads only the newest ones, because older ones cannot be undone.
fn compactions(all: &[Arc<Compaction>]) -> usize {
    let newest = all.iter().rev().take_while(|compaction| compaction.is_undoable());
    COMPACTION * all.len() + newest.map(|compaction| compaction.memory_bytes()).sum::<usize>()
}

/// Returns the bytes of the window of `state`.
pub(super) fn window(state: &Conversation) -> u64 {
    state.window.iter().map(|utterance| of(utterance)).sum()
}

/// Returns the bytes of the window after `changes`, which lead to `after`, given its bytes `before`. If the
/// changes only append and evict, the cost depends only on them; otherwise the whole window is counted.
pub(super) fn window_after(before: u64, changes: &[Arc<Change>], after: &Conversation) -> u64 {
    let moves = |change: &Arc<Change>| {
        change.rewritten.is_empty() && change.erased.is_empty() && change.returned.is_empty()
    };
    if !changes.iter().all(moves) {
        return window(after);
    }
    let total = |utterances: &[Arc<Utterance>]| utterances.iter().map(|utterance| of(utterance)).sum::<u64>();
    let added: u64 = changes.iter().map(|change| total(&change.appended)).sum();
    let gone: u64 = changes.iter().map(|change| total(&change.evicted)).sum();
    (before + added).saturating_sub(gone)
}

fn of(utterance: &Utterance) -> u64 {
    utterance.memory_bytes() as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use utterd_domain::{
        ConversationId, ConversationKey, Draft, Encoding, Identity, LineageId, Loaded, More, Namespace,
        Policy, RecipientId, Role, Timestamp, TokenCounter, Transition,
        change::Context,
        compaction::{Cause, Compact, Extent, Undo, compact, undo},
        memorize::{Memorize, memorize},
    };

    struct Bytes;

    impl TokenCounter for Bytes {
        fn count(&self, text: &str) -> u32 {
            text.len() as u32
        }
    }

    fn said(state: &Conversation, count: usize) -> Transition {
        let draft = |number: usize| {
            Draft::of(Role::User, format!("The code of room {number} is R-{number}."), More::default())
        };
        let drafts: Vec<Draft> = (0..count).map(draft).collect();
        let tokens = drafts.iter().map(|draft| draft.tokens(&Bytes)).collect();
        let encoding = Encoding::O200kBase;
        let command =
            Memorize { drafts, tokens, encoding, expected: None, lenient: false, upsert: false, state: None };
        let context = Context { now: Timestamp(1), counter: &Bytes, loaded: &Loaded::default(), llm: false };
        memorize(state, &command, &context).unwrap().transition
    }

    /// Following evicted and returned utterances gives the same size as counting the whole window again.
    #[test]
    fn a_window_is_followed_through_compactions() {
        let identity = Identity {
            key: ConversationKey { namespace: Namespace::default(), id: ConversationId::new("it").unwrap() },
            recipient: RecipientId::default(),
            lineage: LineageId([1; 16]),
            start_time: Timestamp(0),
            encoding: Encoding::O200kBase,
        };
        let long = said(&Conversation::new(identity, Policy::SESSION), 40);
        let full = window_after(0, &[Arc::new(long.change)], &long.after);
        assert_eq!(full, window(&long.after));
        let mut loaded = Loaded::default();
        let context = Context { now: Timestamp(2), counter: &Bytes, loaded: &loaded, llm: false };
        let command = Compact {
            extent: Extent::AllBut(15),
            summarises: true,
            focus: Vec::new(),
            cause: Cause::Asked,
            expected: None,
        };
        let short = compact(&long.after, &command, &context).unwrap().unwrap().transition;
        let part = window_after(full, &[Arc::new(short.change.clone())], &short.after);
        assert_eq!(part, window(&short.after));
        assert!(part < full && queue(&short.after, part) > queue(&long.after, part) + COMPACTION as u64);
        loaded.add_archive(&short.after.head.archived, short.change.evicted.clone());
        let context = Context { now: Timestamp(3), counter: &Bytes, loaded: &loaded, llm: false };
        let undone = undo(&short.after, &Undo { expected: None }, &context).unwrap().transition;
        assert_eq!(window_after(part, &[Arc::new(undone.change)], &undone.after), full);
    }
}
