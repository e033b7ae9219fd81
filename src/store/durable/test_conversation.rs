//! Test helpers: conversations that follow the rules, in a store.

use std::{path::Path, sync::Arc, time::Duration};

use super::{DurableStore, EngineKind, Flush, Options, test_outcome::outcome};
pub(super) use crate::store::conformance::support::script::{named, said, user};
use crate::{
    domain::{
        ChangeId, Conversation, ConversationId, ConversationKey, Draft, Encoding, Identity, LineageId,
        Loaded, More, Namespace, Need, Policy, Ranges, RecipientId, Refusal, RequestId, Revision, Role,
        Sequence, Timestamp, ToolCall, Transition, Utterance, Verdict,
        capacity::Capacity,
        change::Context,
        compaction::{Cause, Compact, Extent, ReplaceByLlm, Undo, compact, give_up, replace_by_llm, undo},
        forget::{
            Forget, forget,
            restore::{Restore, restore},
        },
        forgetting,
        memorize::{Memorize, memorize},
        policy::PolicyUpdate,
        state::{StateChange, StateContent, UpdateState, update_state},
        update::{Update, UpdateUtterance, update, update_utterance},
    },
    store::{
        Commit, Outcome, OutcomeKey, PointerWrite, RecipientKey, Store, Write,
        conformance::support::script::{self, START, Words},
    },
};

/// An open store.
pub(super) struct TestStore {
    runtime: tokio::runtime::Runtime,
    store: DurableStore,
}

impl TestStore {
    pub(super) fn open(engine: EngineKind, path: &Path) -> Self {
        let options = Options { flush: Flush::Interval(Duration::from_secs(3_600)), ..Options::default() };
        let store = DurableStore::open(engine, path, &options).unwrap();
        Self { runtime: tokio::runtime::Builder::new_current_thread().build().unwrap(), store }
    }

    fn commit(&self, commit: Commit) {
        self.runtime.block_on(self.store.commit(commit)).unwrap();
    }

    fn archived(&self, key: &ConversationKey, wanted: &Ranges) -> Vec<Arc<Utterance>> {
        self.runtime.block_on(self.store.archived(key, wanted)).unwrap()
    }
}

/// A conversation in a store.
pub(super) struct TestConversation<'s> {
    test_store: &'s TestStore,
    pub(super) state: Arc<Conversation>,
    pub(super) now: Timestamp,
    /// The number of attempts so far, which makes request ids unique.
    attempts: u32,
}

impl<'s> TestConversation<'s> {
    /// A conversation before its first revision. `number` must be unique within a store.
    pub(super) fn new(test_store: &'s TestStore, id: &str, number: u8, policy: Policy) -> Self {
        let recipient = RecipientId::new(&format!("friend of {id}")).unwrap();
        Self::of(test_store, ConversationId::new(id).unwrap(), recipient, number, policy)
    }

    /// A recipient's own state, with some values.
    pub(super) fn own_state(test_store: &'s TestStore, recipient: &str, number: u8) -> Self {
        let recipient = RecipientId::new(recipient).unwrap();
        let id = ConversationId::of_state(&recipient);
        let mut own = Self::of(test_store, id, recipient, number, Policy::SESSION);
        let json = |text: &str| StateContent::Json(text.into());
        let set = vec![("plan".into(), json("[1]")), ("step".into(), json("2"))];
        let update = UpdateState { change: StateChange { set, ..StateChange::default() }, expected: None };
        let updated =
            own.decide(|before, context| update_state(before, &update, context).map(Verdict::Decided));
        own.apply(Some(updated));
        own
    }

    fn of(
        test_store: &'s TestStore,
        id: ConversationId,
        recipient: RecipientId,
        number: u8,
        policy: Policy,
    ) -> Self {
        let identity = Identity {
            key: ConversationKey { namespace: Namespace::default(), id },
            recipient,
            lineage: LineageId([number; 16]),
            start_time: START,
            encoding: Encoding::O200kBase,
        };
        Self { test_store, state: Arc::new(Conversation::new(identity, policy)), now: START, attempts: 0 }
    }

    /// A conversation stored in the state `state`.
    pub(super) fn going_on(test_store: &'s TestStore, state: Arc<Conversation>) -> Self {
        Self { test_store, now: state.head.update_time, state, attempts: 0 }
    }

    pub(super) fn say(&mut self, drafts: Vec<Draft>) {
        let tokens = drafts.iter().map(|draft| draft.tokens(&Words)).collect();
        let command = Memorize {
            drafts,
            tokens,
            encoding: Encoding::O200kBase,
            expected: None,
            lenient: true,
            upsert: false,
            state: None,
        };
        let said = self.decide(|before, context| memorize(before, &command, context));
        self.apply(Some(said.transition));
    }

    pub(super) fn forget(&mut self, instruction: &str, hard: bool) {
        let instruction = forgetting::parse(instruction).unwrap();
        let command = Forget { instruction, hard, expected: None };
        let forgotten = self.decide(|before, context| forget(before, &command, context));
        self.apply(forgotten.transition);
    }

    pub(super) fn restore(&mut self, sequences: &[u64]) {
        let ids = sequences.iter().filter_map(|sequence| self.id_of(*sequence)).collect();
        let command = Restore { ids, expected: None };
        let transition = self.decide(|before, context| restore(before, &command, context));
        self.apply(transition);
    }

    pub(super) fn pin(&mut self, sequence: u64, pinned: bool) {
        let Some(id) = self.id_of(sequence) else { return };
        let command =
            UpdateUtterance { id, pinned: Some(pinned), metadata: None, content: None, expected: None };
        let updated = self.decide(|before, context| update_utterance(before, &command, context));
        self.apply(updated.transition);
    }

    pub(super) fn limit(&mut self, policy: PolicyUpdate) {
        let command = Update { policy: Some(policy), ..Update::default() };
        let transition = self.decide(|before, context| update(before, &command, context));
        self.apply(Some(transition));
    }

    /// Compacts the conversation to its last `keep_recent` utterances, if possible.
    pub(super) fn compact(&mut self, keep_recent: u32) {
        let command = Compact {
            extent: Extent::AllBut(keep_recent),
            summarises: true,
            focus: Vec::new(),
            cause: Cause::Asked,
            expected: None,
        };
        let compacted = self.decided(|before, context| compact(before, &command, context));
        self.apply(compacted.ok().flatten().map(|compacted| compacted.transition));
    }

    /// Undoes the last compaction in effect, if possible.
    pub(super) fn undo(&mut self) {
        let undone = self.decided(|before, context| undo(before, &Undo { expected: None }, context));
        self.apply(undone.ok().map(|undone| undone.transition));
    }

    /// Replaces the oldest waiting segment by a model's text; without a text, gives up the wait.
    pub(super) fn tell(&mut self, text: Option<&str>) {
        let mut segments = self.state.summary.segments().iter();
        let Some(segment) = segments.find(|segment| segment.awaits.is_some()).cloned() else { return };
        let context = Context { now: self.now, counter: &Words, loaded: &Loaded::default(), llm: false };
        let Some(text) = text else { return self.apply(give_up(&self.state, segment.number, &context)) };
        let Ok(lines) = segment.accept(text, &Words) else { return };
        let command = ReplaceByLlm {
            segment: segment.number,
            lines,
            model: "small".into(),
            prompt: 1,
            seen: self.state.head.revision,
            from: self.state.summary.covers(),
        };
        self.apply(replace_by_llm(&self.state, &command, &context));
    }

    /// Makes the conversation its recipient's active one, and stores an outcome, if the conversation exists.
    pub(super) fn call(&mut self) {
        if self.state.head.revision == Revision::NONE {
            return;
        }
        let identity = self.state.head.identity.clone();
        let namespace = identity.key.namespace.clone();
        let recipient = RecipientKey { namespace: namespace.clone(), id: identity.recipient.clone() };
        let active = self.test_store.runtime.block_on(self.test_store.store.active(&recipient)).unwrap();
        let pointer = PointerWrite { recipient, before: active, after: Some(identity.key.id.clone()) };
        self.attempts += 1;
        let request = RequestId::new(&format!("{} {}", identity.key.id, self.attempts)).unwrap();
        let key = OutcomeKey { namespace, rpc: "Memorize", request };
        let outcome = (key, Arc::new(self.outcome()));
        self.test_store.commit(Commit {
            pointers: vec![pointer],
            outcomes: vec![outcome],
            ..Commit::default()
        });
    }

    /// Deletes the conversation, if it exists; afterwards, it can start again.
    pub(super) fn delete(&mut self) {
        if self.state.head.revision == Revision::NONE {
            return;
        }
        let identity = &self.state.head.identity;
        let recipient =
            RecipientKey { namespace: identity.key.namespace.clone(), id: identity.recipient.clone() };
        let active = self.test_store.runtime.block_on(self.test_store.store.active(&recipient)).unwrap();
        let pointer = active.map(|before| PointerWrite { recipient, before: Some(before), after: None });
        let write = Write::Delete { before: self.state.clone() };
        self.test_store.commit(Commit {
            writes: vec![write],
            pointers: pointer.into_iter().collect(),
            ..Commit::default()
        });
        let mut identity = (**identity).clone();
        identity.lineage.0[15] = identity.lineage.0[15].wrapping_add(1);
        self.state = Arc::new(Conversation::new(identity, self.state.head.policy.clone()));
    }

    /// Returns the stored utterances in order.
    pub(super) fn stored(&self) -> Vec<Arc<Utterance>> {
        let mut stored = self.test_store.archived(self.state.key(), &self.state.head.archived);
        stored.extend(self.state.window.iter().cloned());
        stored.sort_by_key(|utterance| utterance.sequence);
        stored
    }

    fn id_of(&self, sequence: u64) -> Option<Box<str>> {
        let stored = self.stored();
        let utterance = stored.iter().find(|utterance| utterance.sequence == Sequence(sequence))?;
        Some(utterance.id_text().into())
    }

    fn outcome(&self) -> Outcome {
        let identity = &self.state.head.identity;
        outcome(identity.key.id.clone(), self.now, self.state.head.revision, Capacity::of(&self.state))
    }

    fn apply(&mut self, transition: Option<Transition>) {
        let Some(Transition { change, mut after }) = transition else { return };
        after.head.change = ChangeId(u128::from(after.head.revision.get()).to_be_bytes());
        let before = (self.state.head.revision != Revision::NONE).then(|| self.state.clone());
        assert_eq!(after.check(), [""; 0]);
        self.state = Arc::new(after);
        let write = Write::Change {
            before,
            changes: [Arc::new(change)].into_iter().collect(),
            after: self.state.clone(),
        };
        self.test_store.commit(Commit { writes: vec![write], ..Commit::default() });
    }

    fn decide<T>(&self, rule: impl Fn(&Conversation, &Context<'_>) -> Result<Verdict<T>, Refusal>) -> T {
        self.decided(rule).unwrap()
    }

    fn decided<T>(
        &self,
        rule: impl Fn(&Conversation, &Context<'_>) -> Result<Verdict<T>, Refusal>,
    ) -> Result<T, Refusal> {
        let mut loaded = Loaded::default();
        loop {
            let context = Context { now: self.now, counter: &Words, loaded: &loaded, llm: false };
            match rule(&self.state, &context)? {
                Verdict::Decided(decided) => return Ok(decided),
                Verdict::Need(Need::Archive(wanted)) => {
                    let utterances = self.test_store.archived(self.state.key(), &wanted);
                    loaded.add_archive(&wanted, utterances);
                }
                Verdict::Need(Need::ArchivedBytes(wanted)) => {
                    let utterances = self.test_store.archived(self.state.key(), &wanted);
                    let bytes = utterances.iter().map(|utterance| utterance.stored_bytes()).sum();
                    loaded.add_archived_bytes(wanted, bytes);
                }
                Verdict::Need(Need::State) => loaded.add_state(Vec::new()),
                Verdict::Need(Need::ArchivedIds(ids)) => {
                    let found = self.test_store.store.archived_ids(self.state.key(), &ids);
                    loaded.add_ids(self.test_store.runtime.block_on(found).unwrap());
                }
            }
        }
    }
}

/// An assistant's calls, by their ids.
pub(super) fn calls(ids: &[&str]) -> Draft {
    let call = |id: &&str| ToolCall { id: (*id).into(), name: "find".into(), arguments_json: "{}".into() };
    let more = More { tool_calls: ids.iter().map(call).collect(), ..More::default() };
    Draft { more: Some(Box::new(more)), ..said(Role::Assistant, "") }
}

/// A tool's result.
pub(super) fn result(id: &str) -> Draft {
    script::result(id, "The port is 8080.")
}
