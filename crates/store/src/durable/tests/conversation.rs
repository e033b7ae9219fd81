//! Test helpers: conversations that follow the rules, in a store.

use std::{
    ops::{Deref, DerefMut},
    path::Path,
    sync::Arc,
    time::Duration,
};

pub use crate::conformance::support::values::{named, said, user};
use crate::{
    Commit, PointerWrite, Store,
    conformance::support::{
        script::{Script, Step},
        values::{self, START, attempt, outcome},
    },
    durable::{DurableStore, EngineKind, Flush, Options},
};
use utterd_domain::{
    Conversation, ConversationId, ConversationKey, Draft, Encoding, Identity, LineageId, More, Namespace,
    Policy, RecipientId, Revision, Role, ToolCall,
    compaction::Extent,
    state::{StateChange, StateContent, UpdateState, update_state},
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
            let updated = own.decide(|before, context| Ok(update_state(before, &update, context)?)).await;
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

    pub fn say(&mut self, drafts: Vec<Draft>) {
        self.test_store.runtime.block_on(self.script.say(drafts));
    }

    pub fn forget(&mut self, instruction: &str, hard: bool) {
        self.test_store.runtime.block_on(self.script.forget(instruction, hard));
    }

    /// Compacts the conversation to its last `keep_recent` utterances, if possible.
    pub fn compact(&mut self, keep_recent: u32) {
        let compacting = self.script.try_compact(Extent::AllBut(keep_recent), true);
        let _refused = self.test_store.runtime.block_on(compacting);
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

    fn active(&self) -> Option<ConversationId> {
        self.test_store.runtime.block_on(self.store.active(&self.recipient())).unwrap()
    }

    fn commit(&self, commit: Commit) {
        self.test_store.runtime.block_on(self.store.commit(commit)).unwrap();
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
