//! A conversation for tests of the rules, with everything it stores.

use std::{
    cell::Cell,
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

use crate::{
    Conversation, ConversationId, ConversationKey, Draft, Encoding, Head, Identity, LineageId, Loaded, More,
    Namespace, Need, Policy, Ranges, Result, Role, Sequence, Timestamp, TokenCounter, ToolCall, Transition,
    Trunk, Undecided, Utterance, Window,
    change::Context,
    edit::NewContent,
    forget::{
        Forget, ForgetSelected, Forgotten, How, Selector, forget, forget_selected,
        restore::{Restore, restore},
    },
    forgetting,
    memorize::{Memorize, Memorized, Replace, Replaced, memorize, replace},
    update::{UpdateUtterance, update_utterance},
};

/// Counts bytes.
pub(super) struct Letters;

impl TokenCounter for Letters {
    fn count(&self, text: &str) -> u32 {
        text.len() as u32
    }
}

/// Decides by a rule; `load` gets what it has to see first.
pub(super) fn decided<T>(
    rule: impl Fn(&Loaded) -> Result<T, Undecided>,
    load: impl Fn(Need, &mut Loaded),
) -> Result<T> {
    let mut loaded = Loaded::default();
    for _ in 0..20 {
        match rule(&loaded) {
            Ok(decided) => return Ok(decided),
            Err(Undecided::Refused(refusal)) => return Err(refusal),
            Err(Undecided::Needs(need)) => load(need, &mut loaded),
        }
    }
    panic!("it never decides");
}

/// A conversation with everything it stores.
#[derive(Clone)]
pub(super) struct Life {
    pub(super) state: Conversation,
    pub(super) stored: BTreeMap<Sequence, Arc<Utterance>>,
    /// What was erased.
    pub(super) erased: Ranges,
    /// The number of archived utterances that were looked at.
    pub(super) looked_at: Cell<usize>,
    pub(super) counter: &'static (dyn TokenCounter + Sync),
}

pub(super) fn name(id: &str) -> ConversationKey {
    ConversationKey { namespace: Namespace::default(), id: ConversationId::new(id).unwrap() }
}

/// The head of a conversation with these trunks, which writes to a branch of its own.
pub(super) fn head(trunks: &[(LineageId, u64)], branch: LineageId, next: u64) -> Head {
    let identity = Identity { lineage: branch, ..Identity::default() };
    let trunk = |&(lineage, through): &(_, u64)| Trunk { lineage, through: Sequence(through) };
    let trunks = trunks.iter().map(trunk).collect();
    Head { trunks, next: Sequence(next), ..Conversation::new(identity, Policy::ROLLING).head }
}

pub(super) fn said(role: Role, content: &str) -> Draft {
    Draft::of(role, content, More::default())
}

impl Life {
    pub(super) fn new(policy: Policy) -> Self {
        Self::counted(policy, &Letters)
    }

    pub(super) fn counted(policy: Policy, counter: &'static (dyn TokenCounter + Sync)) -> Self {
        let identity = Identity { key: name("parent"), lineage: LineageId([1; 16]), ..Identity::default() };
        let state = Conversation::new(identity, policy);
        Self { state, stored: BTreeMap::new(), erased: Ranges::new(), looked_at: Cell::new(0), counter }
    }

    pub(super) fn decide<T>(
        &self,
        rule: impl Fn(&Conversation, &Context<'_>) -> Result<T, Undecided>,
    ) -> Result<T> {
        let rule = |loaded: &Loaded| {
            let now = Timestamp(self.state.head.revision.get() as i64);
            rule(&self.state, &Context { now, counter: self.counter, loaded, llm: false })
        };
        decided(rule, |need, loaded| match need {
            Need::Archive(wanted) => {
                let wanted = wanted.intersection(&self.state.head.archived);
                let found: Vec<_> =
                    wanted.sequences().map(|sequence| self.stored[&sequence].clone()).collect();
                self.looked_at.set(self.looked_at.get() + found.len());
                loaded.add_archive(&wanted, found);
            }
            Need::ArchivedBytes(wanted) => {
                let bytes = wanted.sequences().map(|sequence| self.stored[&sequence].stored_bytes()).sum();
                loaded.add_archived_bytes(wanted, bytes);
            }
            Need::State => loaded.add_state(Vec::new()),
            Need::ArchivedIds(wanted) => loaded.add_ids(self.given(&wanted)),
        })
    }

    /// The archived utterances that `ids` name.
    fn given(&self, ids: &[Box<str>]) -> HashMap<Box<str>, Sequence> {
        let archived = self.stored.values().filter(|one| self.state.head.archived.contains(one.sequence));
        let given = archived.filter_map(|one| Some((one.given_id()?.into(), one.sequence)));
        given.filter(|(id, _)| ids.contains(id)).collect()
    }

    pub(super) fn apply(&mut self, transition: Transition) {
        let Transition { change, after } = transition;
        let again: Ranges = change.rewritten.iter().map(|utterance| utterance.sequence).collect();
        assert_eq!(again.count(), change.rewritten.len() as u64, "each is rewritten once");
        for utterance in change.appended.iter().chain(&change.rewritten) {
            self.stored.insert(utterance.sequence, utterance.clone());
        }
        self.stored.retain(|sequence, _| !change.removes(*sequence));
        self.erased.union(&change.erased);
        let mut kept: BTreeMap<u32, _> =
            self.state.compactions.iter().map(|made| (made.number, made.clone())).collect();
        kept.extend(change.compactions_written.iter().map(|made| (made.number, made.clone())));
        change.compactions_removed.iter().for_each(|number| drop(kept.remove(number)));
        assert_eq!(kept.into_values().collect::<Vec<_>>(), *after.compactions, "what a store would keep");
        self.state = after;
    }

    /// Says all of it, leniently.
    pub(super) fn say(&mut self, drafts: Vec<Draft>) {
        self.memorize(drafts, true).unwrap();
    }

    pub(super) fn memorize(&mut self, drafts: Vec<Draft>, lenient: bool) -> Result<Memorized> {
        self.memorize_all(Memorize { lenient, ..self.command(drafts) })
    }

    fn command(&self, drafts: Vec<Draft>) -> Memorize {
        let tokens = drafts.iter().map(|draft| draft.tokens(self.counter)).collect();
        Memorize { drafts, tokens, lenient: true, ..Memorize::default() }
    }

    fn memorize_all(&mut self, command: Memorize) -> Result<Memorized> {
        let said = self.decide(|before, context| memorize(before, &command, context))?;
        self.apply(said.transition.clone());
        Ok(said)
    }

    pub(super) fn forget(&mut self, sequence: u64, hard: bool) {
        self.forget_all(&format!("sequence:{sequence}"), hard);
    }

    /// Forgets everything that an instruction selects.
    pub(super) fn forget_all(&mut self, instruction: &str, hard: bool) -> Forgotten {
        let instruction = forgetting::parse(instruction).unwrap();
        let command = Forget { instruction, hard, expected: None };
        let forgotten = self.decide(|before, context| forget(before, &command, context)).unwrap();
        self.erased.union(&forgotten.gone);
        forgotten.transition.iter().for_each(|transition| self.apply(transition.clone()));
        forgotten
    }

    /// Removes the named utterances, and nothing else.
    pub(super) fn erase(&mut self, selector: Selector) -> Forgotten {
        let command = ForgetSelected { selector, how: How::Exact, expected: None };
        let forgotten = self.decide(|before, context| forget_selected(before, &command, context)).unwrap();
        forgotten.transition.iter().for_each(|transition| self.apply(transition.clone()));
        forgotten
    }

    /// Says `drafts` in place of everything after `after`.
    pub(super) fn replace(&mut self, after: u64, drafts: Vec<Draft>) -> Replaced {
        let command = Replace { after: Sequence(after), memorize: self.command(drafts) };
        let replaced = self.decide(|before, context| replace(before, &command, context)).unwrap();
        self.apply(replaced.transition.clone());
        replaced
    }

    /// Says a draft in place of the utterance with its id.
    pub(super) fn upsert(&mut self, draft: Draft) -> Result<Memorized> {
        self.upsert_all(vec![draft], true)
    }

    /// The same with several drafts.
    pub(super) fn upsert_all(&mut self, drafts: Vec<Draft>, lenient: bool) -> Result<Memorized> {
        self.memorize_all(Memorize { lenient, upsert: true, ..self.command(drafts) })
    }

    pub(super) fn restore(&mut self, sequence: u64) {
        let Some(id) = self.id(sequence) else { return };
        let command = Restore { ids: vec![id], expected: None };
        let restored = self.decide(|before, context| restore(before, &command, context)).unwrap();
        restored.into_iter().for_each(|transition| self.apply(transition));
    }

    /// Pins an utterance or not, or says it anew.
    pub(super) fn update(&mut self, sequence: u64, pinned: Option<bool>, content: Option<&str>) {
        let Some(id) = self.id(sequence) else { return };
        let content = content.map(|content| self.new_content(content));
        let command = UpdateUtterance { id, pinned, metadata: None, content, expected: None };
        let updated = self.decide(|before, context| update_utterance(before, &command, context)).unwrap();
        updated.transition.into_iter().for_each(|transition| self.apply(transition));
    }

    pub(super) fn new_content(&self, content: &str) -> NewContent {
        let tokens = self.counter.count(content);
        NewContent { content: content.into(), tokens, encoding: Encoding::O200kBase, max_bytes: 1_000 }
    }

    pub(super) fn id(&self, sequence: u64) -> Option<Box<str>> {
        self.stored.get(&Sequence(sequence)).map(|utterance| utterance.id_text().into())
    }

    /// Everything stored.
    pub(super) fn said(&self) -> Vec<Arc<Utterance>> {
        self.stored.values().cloned().collect()
    }

    /// Checks what holds for every conversation.
    pub(super) fn is_sound(&self) {
        assert_eq!(self.state.check(), Vec::<String>::new());
        let (head, window, summary) = (&self.state.head, &self.state.window, &self.state.summary);
        let live: Vec<_> = window.iter().cloned().collect();
        let of: Vec<_> = live.iter().map(|live| self.stored[&live.sequence].clone()).collect();
        assert_eq!(live, of, "the window shows what is stored");
        let mut both: Ranges = live.iter().map(|live| live.sequence).collect();
        assert!(!both.meets(&head.left), "what left the window is not in it");
        both.union(&head.archived);
        assert_eq!(both, self.stored.keys().copied().collect(), "window and archive are what is stored");
        assert_eq!(head.stored, self.stored.len() as u64);
        let bytes: u64 = self.stored.values().map(|utterance| utterance.stored_bytes()).sum();
        assert_eq!(head.stored_bytes, bytes);
        let fresh: Window = live.into_iter().collect();
        let numbers = |window: &Window| {
            let sizes = (window.tokens(), window.turns(), window.extras_bytes(), window.memory_bytes());
            (sizes, window.forgotten(), window.pinned(), window.instructions())
        };
        assert_eq!(numbers(window), numbers(&fresh), "the window's numbers are those of what it holds");
        assert!(head.left.holds(&head.archived));
        let archived = self.stored.values().filter(|one| one.pinned && head.archived.contains(one.sequence));
        assert_eq!(
            *head.pinned_away,
            archived.map(|one| one.sequence).collect(),
            "what is pinned in the archive"
        );
        assert!(head.left.holds(&summary.covers()));
        assert_eq!(summary.covered_count(), summary.covers().count(), "no two segments cover the same");
        for segment in summary.segments() {
            assert!(segment.covers.holds(&segment.known()));
        }
        let limit = head.policy.summary_token_limit.unwrap_or(u32::MAX);
        assert!(summary.tokens() <= limit);
        assert!(head.trunks.iter().all(|trunk| trunk.through < head.next));
    }
}

pub(super) fn calls(ids: &[&str]) -> Draft {
    let call = |id: &&str| ToolCall { id: (*id).into(), name: "find".into(), arguments_json: "{}".into() };
    let more = More { tool_calls: ids.iter().map(call).collect(), ..More::default() };
    Draft { more: Some(Box::new(more)), ..said(Role::Assistant, "") }
}

pub(super) fn result(id: &str) -> Draft {
    let more = More { tool_call_id: Some(id.into()), ..More::default() };
    Draft { more: Some(Box::new(more)), ..said(Role::Tool, "found") }
}
