//! A conversation that is compacted, next to a record of what was said in it.

use std::{collections::BTreeSet, sync::Arc};

use proptest::prelude::*;

use super::super::*;
pub(super) use crate::test_life::{Life, said};
use crate::{
    Policy, Result, Role, Sequence,
    policy::PolicyUpdate,
    test_life::{self, result},
    testing::o200k,
    update::{Update, update},
};

/// The word that is only in the utterance with this sequence.
pub(super) fn mark(sequence: u64) -> String {
    format!("mark_{sequence}_x")
}

/// A conversation whose summaries are written by a model, with a real encoding.
pub(super) fn with_model(policy: Policy) -> Life {
    Life::counted(Policy { llm_summaries: Some(true), ..policy }, o200k())
}

impl Life {
    /// Says `count` utterances, in turns, each with a mark.
    pub(super) fn talk(&mut self, count: u64) {
        for _ in 0..count {
            let sequence = self.state.head.next.get();
            let role = if sequence % 2 == 1 { Role::User } else { Role::Assistant };
            let text = format!("The decision about {} is made. It was an error in the plan.", mark(sequence));
            self.say(vec![said(role, &text)]);
        }
    }

    pub(super) fn call_tools(&mut self, calls: usize, answers: usize) {
        let ids: Vec<String> = (0..calls).map(|call| format!("call{call}")).collect();
        let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
        let answers = ids.iter().take(answers).map(|id| result(id));
        self.say(std::iter::once(test_life::calls(&ids)).chain(answers).collect());
    }

    /// Compacts; `None` if nothing is left to compact.
    pub(super) fn compact(&mut self, keep_recent: u32) -> Result<Option<Arc<Compaction>>> {
        self.compact_by(Extent::AllBut(keep_recent), true)
    }

    pub(super) fn compact_by(&mut self, extent: Extent, summarises: bool) -> Result<Option<Arc<Compaction>>> {
        let command = Compact { extent, summarises, focus: Vec::new(), cause: Cause::Asked, expected: None };
        let compacted = self.decide(|before, context| compact(before, &command, context))?;
        let Some(Compacted { transition, compaction }) = compacted else { return Ok(None) };
        self.apply(transition);
        Ok(Some(compaction))
    }

    pub(super) fn undo(&mut self) -> Result<Undone> {
        let undone = self.decide(|before, context| undo(before, &Undo { expected: None }, context))?;
        self.apply(undone.transition.clone());
        Ok(undone)
    }

    pub(super) fn edit(&mut self, sequence: u64) {
        self.update(sequence, None, Some(&format!("Nothing was decided, {} was a mistake.", mark(sequence))));
    }

    pub(super) fn limit(&mut self, limits: PolicyUpdate) {
        let command = Update { policy: Some(limits), ..Update::default() };
        let transition = self.decide(|before, context| update(before, &command, context)).unwrap();
        self.apply(transition);
    }

    /// A model writes a waiting segment; it names everything that it was shown.
    pub(super) fn replace_by_llm(&mut self, which: usize) {
        let Some(command) = self.ask_model(which) else { return };
        let told = self.decide(|before, context| Ok(replace_by_llm(before, &command, context))).unwrap();
        told.into_iter().for_each(|transition| self.apply(transition));
    }

    pub(super) fn ask_model(&self, which: usize) -> Option<ReplaceByLlm> {
        let segments = self.state.summary.segments();
        let waiting: Vec<_> = segments.iter().filter(|segment| segment.awaits.is_some()).collect();
        let segment = waiting.get(which % waiting.len().max(1))?;
        let mut from = segment.covers.clone();
        segment.awaits.iter().for_each(|awaits| from.union(&awaits.from));
        let shown =
            |sequence: &Sequence| self.stored.get(sequence).is_some_and(|utterance| utterance.is_live());
        let text: String =
            from.sequences().filter(shown).map(|sequence| mark(sequence.get()) + " ").collect();
        let lines = segment.accept(&text, o200k()).ok()?;
        let (segment, seen) = (segment.number, self.state.head.revision);
        Some(ReplaceByLlm { segment, lines, model: "model".into(), prompt: 1, seen, from })
    }

    /// All text anywhere in the state.
    pub(super) fn told(&self) -> String {
        let folded = self
            .state
            .compactions
            .iter()
            .flat_map(|made| made.folded.iter().flat_map(|folded| folded.iter()));
        let segments = self.state.summary.segments().iter().chain(folded);
        let texts = segments.map(|segment| {
            let sentences: String = segment.items.iter().map(|item| &*item.text).collect();
            let told = segment.awaits.as_ref().map_or("", |awaits| &awaits.told);
            format!("{}{sentences}{told}", segment.text())
        });
        texts.collect()
    }

    /// What must hold for every state.
    pub(super) fn check(&self) -> Result<(), TestCaseError> {
        let (state, head) = (&self.state, &self.state.head);
        let left: BTreeSet<u64> = head.left.sequences().map(Sequence::get).collect();
        let covered = state.summary.covers();
        let told: BTreeSet<u64> = covered.sequences().map(Sequence::get).collect();
        let erased: BTreeSet<u64> = self.erased.sequences().map(Sequence::get).collect();
        prop_assert_eq!(told, &left - &erased, "what left is covered");
        let counts: u64 = state.summary.segments().iter().map(|segment| segment.covers.count()).sum();
        prop_assert_eq!(counts, covered.count(), "and covered once");
        let limit = head.policy.summary_token_limit.unwrap_or(u32::MAX);
        prop_assert!(state.summary.tokens() <= limit);
        prop_assert_eq!(state.summary.tokens(), crate::TokenCounter::count(o200k(), &state.summary.text()));
        let window: Vec<u64> = state.window.iter().map(|utterance| utterance.sequence.get()).collect();
        prop_assert!(window.is_sorted_by(|one, other| one < other));
        let mut stored: BTreeSet<u64> = window.iter().copied().collect();
        stored.extend(head.archived.sequences().map(Sequence::get));
        prop_assert_eq!(stored.len() as u64, head.stored);
        let bytes: u64 = self.stored.values().map(|utterance| utterance.stored_bytes()).sum();
        prop_assert_eq!(head.stored_bytes, bytes);
        prop_assert!(stored.iter().eq(self.stored.keys().map(|sequence| &sequence.0)));
        let fresh: crate::Window = state.window.iter().cloned().collect();
        prop_assert_eq!((fresh.tokens(), fresh.turns()), (state.window.tokens(), state.window.turns()));
        let told = self.told();
        for gone in &erased {
            prop_assert!(!told.contains(&mark(*gone)), "{} is told still", gone);
        }
        for forgotten in self.stored.values().filter(|utterance| utterance.forgotten) {
            prop_assert!(!told.contains(&mark(forgotten.sequence.get())), "{} is told", forgotten.sequence);
        }
        Ok(())
    }
}
