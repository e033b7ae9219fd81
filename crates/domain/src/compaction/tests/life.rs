//! A conversation that is compacted, next to a record of what was said in it.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use proptest::prelude::*;

use super::super::*;
use crate::{
    Conversation, ConversationId, ConversationKey, Draft, Encoding, Identity, LineageId, Loaded, More,
    Namespace, Need, Policy, RecipientId, Result, Role, Sequence, Timestamp, ToolCall, Transition, Undecided,
    Utterance,
    change::Context,
    edit::NewContent,
    forget::{
        Forget, forget,
        restore::{Restore, restore},
    },
    forgetting,
    memorize::{Memorize, memorize},
    policy::PolicyUpdate,
    test_life::decided,
    testing::o200k,
    update::{Update, UpdateUtterance, update, update_utterance},
};

/// A conversation with everything it stores.
pub(super) struct Life {
    pub(super) state: Conversation,
    pub(super) stored: BTreeMap<Sequence, Arc<Utterance>>,
    pub(super) erased: BTreeSet<u64>,
}

pub(super) fn said(role: Role, content: &str) -> Draft {
    Draft::of(role, content, More::default())
}

/// The word that is only in the utterance with this sequence.
pub(super) fn mark(sequence: u64) -> String {
    format!("mark_{sequence}_x")
}

/// A policy with summaries by a model.
pub(super) fn policy(base: Policy) -> Policy {
    Policy { llm_summaries: Some(true), ..base }
}

impl Life {
    pub(super) fn new(policy: Policy) -> Self {
        let identity = Identity {
            key: ConversationKey { namespace: Namespace::default(), id: ConversationId::new("it").unwrap() },
            recipient: RecipientId::default(),
            lineage: LineageId([1; 16]),
            start_time: Timestamp(0),
            encoding: Encoding::O200kBase,
        };
        Self { state: Conversation::new(identity, policy), stored: BTreeMap::new(), erased: BTreeSet::new() }
    }

    pub(super) fn decide<T>(
        &self,
        rule: impl Fn(&Conversation, &Context<'_>) -> Result<T, Undecided>,
    ) -> Result<T> {
        let rule = |loaded: &Loaded| {
            let now = Timestamp(self.state.head.revision.get() as i64);
            rule(&self.state, &Context { now, counter: o200k(), loaded, llm: false })
        };
        decided(rule, |need, loaded| match need {
            Need::Archive(wanted) => {
                let archived = wanted.intersection(&self.state.head.archived);
                let found = archived.sequences().map(|sequence| self.stored[&sequence].clone()).collect();
                loaded.add_archive(&wanted, found);
            }
            Need::ArchivedBytes(wanted) => {
                let bytes = wanted.sequences().map(|sequence| self.stored[&sequence].stored_bytes()).sum();
                loaded.add_archived_bytes(wanted, bytes);
            }
            Need::State => loaded.add_state(Vec::new()),
            Need::ArchivedIds(_) => loaded.add_ids(Default::default()),
        })
    }

    pub(super) fn apply(&mut self, transition: Transition) {
        let Transition { change, after } = transition;
        for utterance in change.appended.iter().chain(&change.rewritten) {
            self.stored.insert(utterance.sequence, utterance.clone());
        }
        self.erased.extend(change.erased.sequences().map(Sequence::get));
        self.stored.retain(|sequence, _| !change.removes(*sequence));
        let mut kept: BTreeMap<u32, Arc<Compaction>> =
            self.state.compactions.iter().map(|made| (made.number, made.clone())).collect();
        kept.extend(change.compactions_written.iter().map(|made| (made.number, made.clone())));
        change.compactions_removed.iter().for_each(|number| drop(kept.remove(number)));
        assert_eq!(kept.into_values().collect::<Vec<_>>(), *after.compactions, "what a store would keep");
        self.state = after;
    }

    pub(super) fn memorize(&mut self, drafts: Vec<Draft>) {
        let tokens = drafts.iter().map(|draft| draft.tokens(o200k())).collect();
        let command = Memorize {
            drafts,
            tokens,
            encoding: Encoding::O200kBase,
            expected: None,
            lenient: true,
            upsert: false,
            state: None,
        };
        let said = self.decide(|before, context| memorize(before, &command, context)).unwrap();
        self.apply(said.transition);
    }

    /// Says `count` utterances, in turns, each with a mark.
    pub(super) fn say(&mut self, count: u64) {
        for _ in 0..count {
            let sequence = self.state.head.next.get();
            let role = if sequence % 2 == 1 { Role::User } else { Role::Assistant };
            let text = format!("The decision about {} is made. It was an error in the plan.", mark(sequence));
            self.memorize(vec![said(role, &text)]);
        }
    }

    pub(super) fn call_tools(&mut self, calls: usize, answers: usize) {
        let names: Vec<String> = (0..calls).map(|call| format!("call{call}")).collect();
        let tool_calls = names.iter().map(|id| ToolCall {
            id: id.as_str().into(),
            name: "look".into(),
            arguments_json: "{}".into(),
        });
        let mut drafts = vec![said(Role::Assistant, "")];
        drafts[0].more = Some(Box::new(More { tool_calls: tool_calls.collect(), ..More::default() }));
        for id in names.iter().take(answers) {
            let mut draft = said(Role::Tool, "found");
            draft.more = Some(Box::new(More { tool_call_id: Some(id.as_str().into()), ..More::default() }));
            drafts.push(draft);
        }
        self.memorize(drafts);
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

    pub(super) fn forget(&mut self, instruction: &str, hard: bool) {
        let instruction = forgetting::parse(instruction).unwrap();
        let command = Forget { instruction, hard, expected: None };
        let forgotten = self.decide(|before, context| forget(before, &command, context)).unwrap();
        self.erased.extend(forgotten.gone.sequences().map(Sequence::get));
        forgotten.transition.into_iter().for_each(|transition| self.apply(transition));
    }

    pub(super) fn id(&self, sequence: u64) -> Option<Box<str>> {
        self.stored.get(&Sequence(sequence)).map(|utterance| Box::from(&*utterance.id_text()))
    }

    pub(super) fn restore(&mut self, sequence: u64) {
        let Some(id) = self.id(sequence) else { return };
        let command = Restore { ids: vec![id], expected: None };
        let restored = self.decide(|before, context| restore(before, &command, context)).unwrap();
        restored.into_iter().for_each(|transition| self.apply(transition));
    }

    pub(super) fn edit(&mut self, sequence: u64) {
        let Some(id) = self.id(sequence) else { return };
        let content: Box<str> = format!("Nothing was decided, {} was a mistake.", mark(sequence)).into();
        let tokens = crate::TokenCounter::count(o200k(), &content);
        let content = Some(NewContent { content, tokens, encoding: Encoding::O200kBase, max_bytes: 1 << 20 });
        let command = UpdateUtterance { id, pinned: None, metadata: None, content, expected: None };
        let updated = self.decide(|before, context| update_utterance(before, &command, context)).unwrap();
        updated.transition.into_iter().for_each(|transition| self.apply(transition));
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
        prop_assert_eq!(told, &left - &self.erased, "what left is covered");
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
        for gone in &self.erased {
            prop_assert!(!told.contains(&mark(*gone)), "{} is told still", gone);
        }
        for forgotten in self.stored.values().filter(|utterance| utterance.forgotten) {
            prop_assert!(!told.contains(&mark(forgotten.sequence.get())), "{} is told", forgotten.sequence);
        }
        Ok(())
    }
}
