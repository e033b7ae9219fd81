//! Compactions in random conversations, beside what was said in them.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use proptest::prelude::*;

use super::*;
use crate::domain::{
    Conversation, ConversationId, ConversationKey, Draft, Encoding, Identity, LineageId, Loaded, Marks, More,
    Namespace, Need, Policy, Ranges, Reason, RecipientId, Refusal, Role, Sequence, Timestamp, ToolCall,
    Transition, Utterance, Verdict,
    change::Context,
    edit::NewContent,
    extractive::tests::o200k,
    forget::{Forget, forget},
    forgetting,
    memorize::{Memorize, memorize},
    policy::PolicyUpdate,
    restore::{Restore, restore},
    segment::{Imported, ImportedSummary},
    update::{Update, UpdateUtterance, update, update_utterance},
};

/// A conversation, with everything that it stores.
struct Life {
    state: Conversation,
    stored: BTreeMap<Sequence, Arc<Utterance>>,
    erased: BTreeSet<u64>,
}

fn said(role: Role, content: &str) -> Draft {
    let content = content.into();
    Draft { id: None, role, content, turn: None, create_time: None, pinned: false, more: None }
}

/// The word that only the utterance with this sequence says.
fn mark(sequence: u64) -> String {
    format!("mark_{sequence}_x")
}

/// A policy with summaries by a model.
fn policy(base: Policy) -> Policy {
    Policy { llm_summaries: Some(true), ..base }
}

impl Life {
    fn new(policy: Policy) -> Self {
        let identity = Identity {
            key: ConversationKey { namespace: Namespace::default(), id: ConversationId::new("it").unwrap() },
            recipient: RecipientId::default(),
            lineage: LineageId([1; 16]),
            start_time: Timestamp(0),
            encoding: Encoding::O200kBase,
        };
        Self { state: Conversation::new(identity, policy), stored: BTreeMap::new(), erased: BTreeSet::new() }
    }

    fn decide<T>(
        &self,
        rule: impl Fn(&Conversation, &Context<'_>) -> Result<Verdict<T>, Refusal>,
    ) -> Result<T, Refusal> {
        let mut loaded = Loaded::default();
        for _ in 0..20 {
            let now = Timestamp(self.state.head.revision.get() as i64);
            let context = Context { now, counter: o200k(), loaded: &loaded, llm: false };
            match rule(&self.state, &context)? {
                Verdict::Decided(decided) => return Ok(decided),
                Verdict::Need(Need::Archive(wanted)) => {
                    let archived = wanted.intersection(&self.state.head.archived);
                    let found = archived.sequences().map(|sequence| self.stored[&sequence].clone()).collect();
                    loaded.add_archive(&wanted, found);
                }
                Verdict::Need(Need::ArchivedIds(_)) => loaded.add_ids(Default::default()),
            }
        }
        panic!("it never decides");
    }

    fn apply(&mut self, transition: Transition) {
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

    fn memorize(&mut self, drafts: Vec<Draft>) {
        let tokens = drafts.iter().map(|draft| draft.tokens(o200k())).collect();
        let command =
            Memorize { drafts, tokens, encoding: Encoding::O200kBase, expected: None, lenient: true };
        let said = self.decide(|before, context| memorize(before, &command, context)).unwrap();
        self.apply(said.transition);
    }

    /// Says `count` utterances, by turns, each with a mark.
    fn say(&mut self, count: u64) {
        for _ in 0..count {
            let sequence = self.state.head.next.get();
            let role = if sequence % 2 == 1 { Role::User } else { Role::Assistant };
            let text = format!("The decision about {} is made. It was an error in the plan.", mark(sequence));
            self.memorize(vec![said(role, &text)]);
        }
    }

    fn call_tools(&mut self, calls: usize, answers: usize) {
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

    fn compact(&mut self, keep_recent: u32) -> Result<Arc<Compaction>, Refusal> {
        let command = Compact { keep_recent, focus: Vec::new(), cause: Cause::Asked, expected: None };
        let compacted = self.decide(|before, context| compact(before, &command, context))?;
        self.apply(compacted.transition);
        Ok(compacted.compaction)
    }

    fn undo(&mut self) -> Result<Undone, Refusal> {
        let undone = self.decide(|before, context| undo(before, &Undo { expected: None }, context))?;
        self.apply(undone.transition.clone());
        Ok(undone)
    }

    fn forget(&mut self, instruction: &str, hard: bool) {
        let instruction = forgetting::parse(instruction).unwrap();
        let command = Forget { instruction, hard, expected: None };
        let forgotten = self.decide(|before, context| forget(before, &command, context)).unwrap();
        self.erased.extend(forgotten.gone.sequences().map(Sequence::get));
        forgotten.transition.into_iter().for_each(|transition| self.apply(transition));
    }

    fn id(&self, sequence: u64) -> Option<Box<str>> {
        self.stored.get(&Sequence(sequence)).map(|utterance| Box::from(&*utterance.id_text()))
    }

    fn restore(&mut self, sequence: u64) {
        let Some(id) = self.id(sequence) else { return };
        let command = Restore { ids: vec![id], expected: None };
        let restored = self.decide(|before, context| restore(before, &command, context)).unwrap();
        restored.into_iter().for_each(|transition| self.apply(transition));
    }

    fn edit(&mut self, sequence: u64) {
        let Some(id) = self.id(sequence) else { return };
        let content: Box<str> = format!("Nothing was decided, {} was a mistake.", mark(sequence)).into();
        let tokens = crate::domain::TokenCounter::count(o200k(), &content);
        let content = Some(NewContent { content, tokens, encoding: Encoding::O200kBase, max_bytes: 1 << 20 });
        let command = UpdateUtterance { id, pinned: None, metadata: None, content, expected: None };
        let updated = self.decide(|before, context| update_utterance(before, &command, context)).unwrap();
        updated.transition.into_iter().for_each(|transition| self.apply(transition));
    }

    fn limit(&mut self, limits: PolicyUpdate) {
        let command = Update { policy: Some(limits), ..Update::default() };
        let transition = self.decide(|before, context| update(before, &command, context)).unwrap();
        self.apply(transition);
    }

    /// A model tells a segment that waits; it names everything that it was shown.
    fn replace_by_llm(&mut self, which: usize) {
        let Some(command) = self.ask_model(which) else { return };
        let told = self
            .decide(|before, context| Ok(Verdict::Decided(replace_by_llm(before, &command, context))))
            .unwrap();
        told.into_iter().for_each(|transition| self.apply(transition));
    }

    fn ask_model(&self, which: usize) -> Option<ReplaceByLlm> {
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

    /// Everything that is told anywhere in the state.
    fn told(&self) -> String {
        let folded = self
            .state
            .compactions
            .iter()
            .flat_map(|made| made.folded.iter().flat_map(|folded| folded.iter()));
        let segments = self.state.summary.segments().iter().chain(folded);
        let texts = segments.map(|segment| {
            let sentences: String = segment.sentences.iter().map(|sentence| &*sentence.text).collect();
            let told = segment.awaits.as_ref().map_or("", |awaits| &awaits.told);
            format!("{}{sentences}{told}", segment.text())
        });
        texts.collect()
    }

    /// What must hold of every state.
    fn check(&self) -> Result<(), TestCaseError> {
        let (state, head) = (&self.state, &self.state.head);
        let left: BTreeSet<u64> = head.left.sequences().map(Sequence::get).collect();
        let covered = state.summary.covers();
        let told: BTreeSet<u64> = covered.sequences().map(Sequence::get).collect();
        prop_assert_eq!(told, &left - &self.erased, "what left is covered");
        let counts: u64 = state.summary.segments().iter().map(|segment| segment.covers.count()).sum();
        prop_assert_eq!(counts, covered.count(), "and covered once");
        let limit = head.policy.summary_token_limit.unwrap_or(u32::MAX);
        prop_assert!(state.summary.tokens() <= limit);
        prop_assert_eq!(
            state.summary.tokens(),
            crate::domain::TokenCounter::count(o200k(), &state.summary.text())
        );
        let window: Vec<u64> = state.window.iter().map(|utterance| utterance.sequence.get()).collect();
        prop_assert!(window.is_sorted_by(|one, other| one < other));
        let mut stored: BTreeSet<u64> = window.iter().copied().collect();
        stored.extend(head.archived.sequences().map(Sequence::get));
        prop_assert_eq!(stored.len() as u64, head.stored);
        prop_assert!(stored.iter().eq(self.stored.keys().map(|sequence| &sequence.0)));
        let fresh: crate::domain::Window = state.window.iter().cloned().collect();
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

#[derive(Clone, Debug)]
enum Step {
    Say(u64),
    Call(usize, usize),
    Compact(u32),
    Undo,
    Forget(u64, u64, bool),
    ForgetAbout(u64),
    Restore(u64),
    Edit(u64),
    ReplaceByLlm(usize),
    Narrow(u32),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        5 => (1..45u64).prop_map(Step::Say),
        1 => (1..4usize, 0..4usize).prop_map(|(calls, answers)| Step::Call(calls, answers)),
        4 => (1..30u32).prop_map(Step::Compact),
        3 => Just(Step::Undo),
        2 => (1..120u64, 0..6u64, any::<bool>()).prop_map(|(first, more, hard)| Step::Forget(first, first + more, hard)),
        1 => (1..120u64).prop_map(Step::ForgetAbout),
        1 => (1..120u64).prop_map(Step::Restore),
        1 => (1..120u64).prop_map(Step::Edit),
        4 => (0..9usize).prop_map(Step::ReplaceByLlm),
        1 => (0..80u32).prop_map(Step::Narrow),
    ];
    prop::collection::vec(step, 1..24)
}

fn policies() -> impl Strategy<Value = Policy> {
    let archive = prop_oneof![4 => Just(10_000u32), 1 => 0..60u32];
    let limit = prop_oneof![3 => Just(Some(1_000u32)), 1 => (60..400u32).prop_map(Some), 1 => Just(None)];
    let base = prop_oneof![4 => Just(Policy::SESSION), 1 => Just(Policy::TURNS), 1 => Just(Policy::ROLLING)];
    (base, archive, limit).prop_map(|(base, archive_limit, summary_token_limit)| {
        policy(Policy { archive_limit, summary_token_limit, ..base })
    })
}

fn apply(life: &mut Life, step: &Step) {
    match *step {
        Step::Say(count) => life.say(count),
        Step::Call(calls, answers) => life.call_tools(calls, answers),
        Step::Compact(keep_recent) => drop(life.compact(keep_recent)),
        Step::Undo => drop(life.undo()),
        Step::Forget(first, last, hard) => life.forget(&format!("sequence:{first}-{last}"), hard),
        Step::ForgetAbout(sequence) => life.forget(&format!("about:{}", mark(sequence)), true),
        Step::Restore(sequence) => life.restore(sequence),
        Step::Edit(sequence) => life.edit(sequence),
        Step::ReplaceByLlm(which) => life.replace_by_llm(which),
        Step::Narrow(max) => {
            life.limit(PolicyUpdate { max_utterances: Some(max), ..PolicyUpdate::default() })
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn nothing_is_lost_and_nothing_comes_back(policy in policies(), steps in steps()) {
        let mut life = Life::new(policy);
        for step in &steps {
            apply(&mut life, step);
            life.check()?;
        }
    }

    #[test]
    fn an_undo_brings_back_what_was(policy in policies(), steps in steps(), keep in 1..25u32, later in 0..5u64) {
        let mut life = Life::new(policy);
        steps.iter().for_each(|step| apply(&mut life, step));
        let before = life.state.clone();
        prop_assume!(life.compact(keep).is_ok());
        let fits = life.state.head.archived.holds(&life.state.compactions.last().unwrap().compacted);
        let rolls = life.state.head.policy.utterances.is_some() || life.state.head.policy.turns.is_some();
        if !rolls { life.say(later); }
        match life.undo() {
            Err(refusal) => prop_assert!(!fits, "{refusal}"),
            Ok(_) => {
                let said = life.state.window.len() - before.window.len();
                prop_assert!(life.state.window.iter().take(before.window.len()).eq(before.window.iter()));
                prop_assert_eq!(said as u64, if rolls { 0 } else { later });
                prop_assert_eq!(life.state.summary.text(), before.summary.text());
                prop_assert_eq!(life.state.summary.covers(), before.summary.covers());
            }
        }
        life.check()?;
    }
}

fn reason<T>(result: Result<T, Refusal>) -> Reason {
    result.err().map(|refusal| refusal.reason()).unwrap()
}

#[test]
fn all_but_the_last_utterances_become_summary() {
    let mut life = Life::new(policy(Policy::SESSION));
    life.memorize(vec![said(Role::System, "Be brief.")]);
    life.say(52);
    let made = life.compact(15).unwrap();
    let window: Vec<u64> = life.state.window.iter().map(|utterance| utterance.sequence.get()).collect();
    assert_eq!(window, [1].into_iter().chain(39..=53).collect::<Vec<_>>());
    assert_eq!((made.count, made.kept, made.number), (37, 16, 1));
    assert_eq!(made.compacted, Ranges::of(Sequence(2), Sequence(38)));
    assert!(made.tokens_after < made.tokens_before && made.ratio() > 0.3, "{}", made.ratio());
    assert_eq!(life.state.head.archived.count(), 37);
}

#[test]
fn an_exchange_at_the_cut_stays_whole() {
    let mut life = Life::new(policy(Policy::SESSION));
    life.say(30);
    life.call_tools(3, 3);
    life.say(2);
    let made = life.compact(4).unwrap();
    assert_eq!(made.compacted.last(), Some(Sequence(30)));
    assert_eq!(life.state.window.len(), 6);
}

#[test]
fn what_cannot_be_compacted_is_refused_with_its_reason() {
    let mut life = Life::new(policy(Policy::SESSION));
    life.say(29);
    assert_eq!(reason(life.compact(15)), Reason::TooShortToCompact);
    life.say(1);
    assert_eq!(reason(life.compact(30)), Reason::NothingToCompact);
    assert_eq!(reason(life.undo()), Reason::NothingToUndo);
    life.limit(PolicyUpdate { summarization_enabled: Some(false), ..PolicyUpdate::default() });
    assert_eq!(reason(life.compact(15)), Reason::SummariesDisabled);
}

#[test]
fn a_compaction_that_saves_nothing_is_irreducible() {
    let mut life = Life::new(policy(Policy::SESSION));
    life.say(41);
    life.memorize(vec![said(Role::User, &"The pump broke. ".repeat(90))]);
    life.forget("sequence:1-5", false);
    let before = life.state.clone();
    match life.compact(37) {
        Err(Refusal::Compaction(Unable::Irreducible { largest, sequence, .. })) => {
            assert_eq!((sequence, largest > 300), (Sequence(42), true));
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(life.state, before);
}

#[test]
fn the_last_compactions_are_undone_one_by_one() {
    let mut life = Life::new(policy(Policy::SESSION));
    let mut texts = Vec::new();
    for _ in 0..12 {
        life.say(40);
        texts.push((life.state.summary.text(), life.state.window.len()));
        life.compact(15).unwrap();
    }
    for (text, length) in texts.iter().rev().take(10) {
        let said_since = life.state.window.len() - 15;
        life.undo().unwrap();
        assert_eq!(&life.state.summary.text(), text);
        assert_eq!(life.state.window.len(), length + said_since);
    }
    assert_eq!(reason(life.undo()), Reason::NothingToUndo, "only the last ten can be");
}

#[test]
fn an_undo_needs_the_archive() {
    let mut life = Life::new(policy(Policy { archive_limit: 30, ..Policy::SESSION }));
    life.say(60);
    life.compact(15).unwrap();
    assert_eq!(reason(life.undo()), Reason::SourcesGone);
    life.say(25);
    life.compact(25).unwrap();
    assert!(life.undo().is_ok(), "what was compacted last is all there");
}

#[test]
fn advice_comes_at_fifty_and_every_ten_more_until_it_is_answered() {
    let mut life = Life::new(policy(Policy::SESSION));
    let advice = |life: &Life| Advice::of(&life.state).map(|advice| advice.threshold);
    life.say(49);
    assert_eq!(advice(&life), None);
    life.say(1);
    assert_eq!(advice(&life), Some(50));
    life.say(3);
    assert_eq!(advice(&life), Some(50), "it stands until it is answered");
    let answered = life
        .decide(|before, context| Ok(Verdict::Decided(answer(before, &Answer { expected: None }, context)?)))
        .unwrap();
    life.apply(answered.unwrap());
    assert_eq!(advice(&life), None);
    life.say(6);
    assert_eq!(advice(&life), None);
    life.call_tools(1, 0);
    assert_eq!(advice(&life), None, "an exchange is open");
    life.say(1);
    assert_eq!(advice(&life), Some(60));
    life.compact(45).unwrap();
    assert_eq!(advice(&life), None);
    life.say(9);
    assert_eq!((advice(&life), life.state.window.len()), (None, 54), "twenty were not said since");
    life.say(11);
    assert_eq!(advice(&life), Some(60));
}

#[test]
fn an_answer_holds_until_the_window_falls_below() {
    let mut life = Life::new(policy(Policy::SESSION));
    life.say(50);
    let answered = life
        .decide(|before, context| Ok(Verdict::Decided(answer(before, &Answer { expected: None }, context)?)))
        .unwrap();
    life.apply(answered.unwrap());
    life.forget("last:5", true);
    life.say(5);
    assert!(Advice::of(&life.state).is_some(), "it was crossed again");
}

#[test]
fn what_the_turns_or_a_narrower_policy_evict_is_a_compaction() {
    let mut life = Life::new(policy(Policy { turns: Some(Marks::of(10)), ..Policy::TURNS }));
    life.say(22);
    assert_eq!(life.state.compactions.len(), 1);
    life.limit(PolicyUpdate { max_utterances: Some(6), ..PolicyUpdate::default() });
    let causes: Vec<Cause> = life.state.compactions.iter().map(|made| made.cause).collect();
    assert_eq!(causes, [Cause::Policy; 2]);
    let mut rolling = Life::new(policy(Policy::ROLLING));
    rolling.say(60);
    assert_eq!(rolling.state.compactions.len(), 0, "rolling is no compaction");
}

#[test]
fn a_models_text_is_dropped_when_something_was_forgotten_meanwhile() {
    let ask = |life: &mut Life| life.ask_model(0).unwrap();
    for hard in [true, false] {
        let mut life = Life::new(policy(Policy::SESSION));
        life.say(60);
        life.compact(15).unwrap();
        let asked = ask(&mut life);
        life.say(1);
        life.forget("sequence:7", hard);
        let told = life
            .decide(|before, context| Ok(Verdict::Decided(replace_by_llm(before, &asked, context))))
            .unwrap();
        assert!(told.is_none(), "hard: {hard}");
        life.replace_by_llm(0);
        life.check().unwrap();
        assert_eq!(life.state.summary.provisional(), 0);
        assert_eq!(life.state.compactions[0].model.as_deref(), Some("model"));
    }
}

#[test]
fn a_compactions_figures_follow_what_stands() {
    let mut life = Life::new(policy(Policy::SESSION));
    let figures = |life: &Life| {
        let made = &life.state.compactions[0];
        assert_eq!(made.tokens_after, life.state.window.tokens() + u64::from(life.state.summary.tokens()));
        (made.tokens_after, made.model.clone())
    };
    life.say(60);
    let asked = life.compact(15).unwrap();
    assert_eq!(asked.keep_recent, Some(15));
    let (extracted, _) = figures(&life);
    life.replace_by_llm(0);
    let (told, model) = figures(&life);
    assert!(told < extracted && model.is_some(), "{told} of {extracted}");
    life.forget("sequence:7", true);
    assert_eq!(figures(&life).1, None, "what the model told is gone");
    life.replace_by_llm(0);
    let (told, model) = figures(&life);
    assert!(told < extracted && model.is_some());
    life.say(1);
    assert_eq!(life.state.compactions[0].tokens_after, told, "what is said later is no part of it");
}

#[test]
fn what_was_imported_outlives_a_compaction_and_its_undo() {
    let mut life = Life::new(policy(Policy { summary_token_limit: Some(200), ..Policy::SESSION }));
    let of = Imported { start: Timestamp(1), end: Timestamp(2), conversations: 3 };
    let periods: Vec<_> =
        (0..20).map(|n| ImportedSummary { of, text: format!("They chose plan {n}.").into() }).collect();
    let loaded = Loaded::new();
    let with = Context { now: Timestamp(0), counter: o200k(), loaded: &loaded, llm: false }
        .summary_context(&life.state.head.policy);
    life.state.summary = life.state.summary.import(&periods, &with);
    life.say(60);
    for _ in 0..2 {
        life.compact(15).unwrap();
        life.check().unwrap();
        assert!(life.state.summary.has_imported());
        life.undo().unwrap();
        life.check().unwrap();
        assert!(life.state.summary.has_imported());
        assert!(life.state.summary.covers().is_empty());
    }
}
