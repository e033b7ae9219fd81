//! About how many bytes a conversation takes in memory.

use std::sync::Arc;

use crate::domain::{Change, Conversation, Utterance, compaction::Compaction};

/// A queue with its place in the cache.
pub(super) const QUEUE: u64 = 512;
/// A compaction that cannot be undone any more.
const COMPACTION: usize = 256;

/// What a conversation in the state `state` takes, when the window takes `window`. Costs the same at any
/// length.
pub(super) fn queue(state: &Conversation, window: u64) -> u64 {
    let head = &state.head;
    let told = state.summary.memory_bytes() + compactions(&state.compactions);
    QUEUE + window + (head.memory_bytes() + told) as u64
}

/// Only the newest are looked at: the older ones bring nothing back.
fn compactions(all: &[Arc<Compaction>]) -> usize {
    let newest = all.iter().rev().take_while(|compaction| compaction.is_undoable());
    COMPACTION * all.len() + newest.map(|compaction| compaction.memory_bytes()).sum::<usize>()
}

/// What the window of `state` takes.
pub(super) fn window(state: &Conversation) -> u64 {
    state.window.iter().map(|utterance| of(utterance)).sum()
}

/// What the window takes after `changes`, which lead to `after`, when it took `before`. Costs by what the
/// changes are of, unless they are of something else than what joins and what leaves.
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
    use crate::domain::{
        ConversationId, ConversationKey, Draft, Encoding, Identity, LineageId, Loaded, Namespace, Policy,
        RecipientId, Role, Timestamp, TokenCounter, Transition, Verdict,
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
        let draft = |number: usize| Draft {
            id: None,
            role: Role::User,
            content: format!("The code of room {number} is R-{number}.").into(),
            turn: None,
            create_time: None,
            pinned: false,
            more: None,
        };
        let drafts: Vec<Draft> = (0..count).map(draft).collect();
        let tokens = drafts.iter().map(|draft| draft.tokens(&Bytes)).collect();
        let encoding = Encoding::O200kBase;
        let command =
            Memorize { drafts, tokens, encoding, expected: None, lenient: false, upsert: false, state: None };
        let context = Context { now: Timestamp(1), counter: &Bytes, loaded: &Loaded::default(), llm: false };
        match memorize(state, &command, &context) {
            Ok(Verdict::Decided(memorized)) => memorized.transition,
            other => panic!("{other:?}"),
        }
    }

    /// What leaves a window and what returns to it is counted as a look at all of it would.
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
        let Ok(Verdict::Decided(short)) = compact(&long.after, &command, &context) else { panic!() };
        let short = short.transition;
        let part = window_after(full, &[Arc::new(short.change.clone())], &short.after);
        assert_eq!(part, window(&short.after));
        assert!(part < full && queue(&short.after, part) > queue(&long.after, part) + COMPACTION as u64);
        loaded.add_archive(&short.after.head.archived, short.change.evicted.clone());
        let context = Context { now: Timestamp(3), counter: &Bytes, loaded: &loaded, llm: false };
        let undone = undo(&short.after, &Undo { expected: None }, &context);
        let Ok(Verdict::Decided(undone)) = undone else { panic!() };
        let undone = undone.transition;
        assert_eq!(window_after(part, &[Arc::new(undone.change)], &undone.after), full);
    }
}
