//! Test helpers: conversations that follow the rules, in a store.

use std::{
    ops::{Deref, DerefMut},
    path::Path,
    sync::Arc,
    time::Duration,
};

pub use crate::store::conformance::support::values::{named, said, user};
use crate::{
    domain::{
        Conversation, ConversationId, ConversationKey, Draft, Encoding, Identity, LineageId, More, Namespace,
        Policy, Ranges, RecipientId, Revision, Role, Sequence, ToolCall, Verdict,
        compaction::Extent,
        policy::PolicyUpdate,
        state::{StateChange, StateContent, UpdateState, update_state},
    },
    store::{
        Commit, PointerWrite, Store,
        conformance::support::{
            script::{Script, Step},
            values::{self, START, attempt, outcome},
        },
        durable::{DurableStore, EngineKind, Flush, Options},
    },
};

/// An open store.
pub struct TestStore {
    runtime: tokio::runtime::Runtime,
    store: Arc<dyn Store>,
}

impl TestStore {
    pub fn open(engine: EngineKind, path: &Path) -> Self {
        let options = Options { flush: Flush::Interval(Duration::from_secs(3_600)), ..Options::default() };
        let store = Arc::new(DurableStore::open(engine, path, &options).unwrap());
        Self { runtime: tokio::runtime::Builder::new_current_thread().build().unwrap(), store }
    }
}

/// A conversation in a store. The store is open until this is dropped.
pub struct TestConversation<'s> {
    test_store: &'s TestStore,
    script: Script,
    /// The number of attempts so far, which makes request ids unique.
    attempts: u32,
}

impl Deref for TestConversation<'_> {
    type Target = Script;

    fn deref(&self) -> &Script {
        &self.script
    }
}

impl DerefMut for TestConversation<'_> {
    fn deref_mut(&mut self) -> &mut Script {
        &mut self.script
    }
}

impl<'s> TestConversation<'s> {
    /// A conversation before its first revision. `number` must be unique within a store.
    pub fn new(test_store: &'s TestStore, id: &str, number: u8, policy: Policy) -> Self {
        let recipient = RecipientId::new(&format!("friend of {id}")).unwrap();
        Self::of(test_store, ConversationId::new(id).unwrap(), recipient, number, policy)
    }

    /// Stores a recipient's own state, with some values.
    pub fn own_state(test_store: &'s TestStore, recipient: &str, number: u8) -> Arc<Conversation> {
        let recipient = RecipientId::new(recipient).unwrap();
        let id = ConversationId::of_state(&recipient);
        let mut own = Self::of(test_store, id, recipient, number, Policy::SESSION);
        let json = |text: &str| StateContent::Json(text.into());
        let set = vec![("plan".into(), json("[1]")), ("step".into(), json("2"))];
        let update = UpdateState { change: StateChange { set, ..StateChange::default() }, expected: None };
        test_store.runtime.block_on(async {
            let updated = own
                .decide(|before, context| update_state(before, &update, context).map(Verdict::Decided))
                .await;
            let step = Step::of(&own.state, updated);
            own.apply(&step).await;
        });
        own.state.clone()
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
        let script = Script { lenient: true, ..Script::of(&test_store.store, identity, policy) };
        Self { test_store, script, attempts: 0 }
    }

    /// A conversation stored in the state `state`.
    pub fn going_on(test_store: &'s TestStore, state: Arc<Conversation>) -> Self {
        let Conversation { head, .. } = &*state;
        let script = Script::of(&test_store.store, (*head.identity).clone(), head.policy.clone());
        let mut script = Script { now: head.update_time, state, lenient: true, ..script };
        let all = Ranges::of(Sequence::FIRST, script.state.head.next);
        let archived = test_store.runtime.block_on(script.archived(&all));
        script.archive = archived.into_iter().map(|utterance| (utterance.sequence, utterance)).collect();
        Self { test_store, script, attempts: 0 }
    }

    pub fn say(&mut self, drafts: Vec<Draft>) {
        self.test_store.runtime.block_on(self.script.say(drafts));
    }

    pub fn forget(&mut self, instruction: &str, hard: bool) {
        self.test_store.runtime.block_on(self.script.forget(instruction, hard));
    }

    /// Restores the units of those of these utterances that are stored.
    pub fn restore(&mut self, sequences: &[u64]) {
        let stored: Vec<_> = sequences.iter().copied().filter(|sequence| self.has(*sequence)).collect();
        self.test_store.runtime.block_on(self.script.restore(&stored));
    }

    /// Pins or unpins an utterance's unit, if the utterance is stored.
    pub fn pin(&mut self, sequence: u64, pinned: bool) {
        if self.has(sequence) {
            self.test_store.runtime.block_on(self.script.mark(sequence, pinned, "marked"));
        }
    }

    pub fn limit(&mut self, policy: PolicyUpdate) {
        self.test_store.runtime.block_on(self.script.limit(policy));
    }

    /// Compacts the conversation to its last `keep_recent` utterances, if possible.
    pub fn compact(&mut self, keep_recent: u32) {
        let compacting = self.script.try_compact(Extent::AllBut(keep_recent), true);
        let _refused = self.test_store.runtime.block_on(compacting);
    }

    /// Undoes the last compaction in effect, if possible.
    pub fn undo(&mut self) {
        let _refused = self.test_store.runtime.block_on(self.script.try_undo());
    }

    /// Replaces the oldest waiting segment by a model's text; without a text, gives up the wait.
    pub fn tell(&mut self, text: Option<&str>) {
        let Some(&segment) = self.awaiting().first() else { return };
        self.test_store.runtime.block_on(async {
            match text {
                Some(text) => self.script.replace_by_llm(segment, text).await,
                None => self.script.give_up(segment).await,
            }
        });
    }

    /// Makes the conversation its recipient's active one, and stores an outcome, if the conversation exists.
    pub fn call(&mut self) {
        if self.state.head.revision == Revision::NONE {
            return;
        }
        let id = self.key().id.clone();
        self.attempts += 1;
        let key = attempt(&format!("{id} {}", self.attempts));
        let pointer = PointerWrite { recipient: self.recipient(), before: self.active(), after: Some(id) };
        let outcomes = vec![(key, outcome(&self.state, self.now))];
        self.commit(Commit { pointers: vec![pointer], outcomes, ..Commit::default() });
    }

    /// Deletes the conversation, if it exists; afterwards, it can start again.
    pub fn delete(&mut self) {
        if self.state.head.revision == Revision::NONE {
            return;
        }
        let pointer = self.active().map(|before| PointerWrite {
            recipient: self.recipient(),
            before: Some(before),
            after: None,
        });
        let pointers = pointer.into_iter().collect();
        self.commit(Commit { writes: vec![self.deleting()], pointers, ..Commit::default() });
        self.renew();
    }

    fn active(&self) -> Option<ConversationId> {
        self.test_store.runtime.block_on(self.store.active(&self.recipient())).unwrap()
    }

    fn commit(&self, commit: Commit) {
        self.test_store.runtime.block_on(self.store.commit(commit)).unwrap();
    }

    fn has(&self, sequence: u64) -> bool {
        self.stored().any(|utterance| utterance.sequence == Sequence(sequence))
    }
}

/// An assistant's calls, by their ids.
pub fn calls(ids: &[&str]) -> Draft {
    let call = |id: &&str| ToolCall { id: (*id).into(), name: "find".into(), arguments_json: "{}".into() };
    let more = More { tool_calls: ids.iter().map(call).collect(), ..More::default() };
    Draft { more: Some(Box::new(more)), ..said(Role::Assistant, "") }
}

/// A tool's result.
pub fn result(id: &str) -> Draft {
    values::result(id, "The port is 8080.")
}
