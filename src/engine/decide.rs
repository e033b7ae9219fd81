//! Asking the rules, and loading what they need first.

use std::{collections::HashSet, sync::Arc};

use crate::{
    domain::{
        Change, Conversation, ConversationId, ConversationKey, Encoding, Identity, LineageId, Loaded, Need,
        Policy, Ranges, Refusal, Timestamp, Verdict, change::Context,
    },
    engine::{Address, Engine, EngineError, aside, queued::Rule},
};

/// Data that uncommitted changes have moved in the store, or are about to: the store does not reflect it yet.
#[derive(Default)]
pub(super) struct Moved {
    sequences: Ranges,
    /// Client-given ids of utterances that moved within the archive.
    ids: HashSet<Box<str>>,
    /// Utterances were removed, with any ids they had.
    is_shorter: bool,
    /// Values of the state changed.
    has_state: bool,
}

impl Moved {
    /// Records what a change moves.
    pub(super) fn add(&mut self, change: &Change) {
        for utterance in change.evicted.iter().chain(&change.returned).chain(&change.rewritten) {
            self.sequences.add(utterance.sequence);
            self.ids.extend(utterance.given_id().map(Into::into));
        }
        self.sequences.union(&change.dropped);
        self.sequences.union(&change.erased);
        self.has_state |= !(change.state_set.is_empty() && change.state_deleted.is_empty());
        self.is_shorter |= !(change.dropped.is_empty() && change.erased.is_empty());
    }

    /// Whether the store's answer to the need would be out of date.
    fn has(&self, need: &Need) -> bool {
        match need {
            Need::Archive(wanted) | Need::ArchivedBytes(wanted) => self.sequences.meets(wanted),
            Need::State => self.has_state,
            Need::ArchivedIds(ids) => self.is_shorter || ids.iter().any(|id| self.ids.contains(id)),
        }
    }
}

/// Whether a decision that looks at the whole window takes a long time.
pub(super) fn is_large(conversation: &Conversation) -> bool {
    const TOKENS: u64 = 20_000;
    conversation.window.tokens() > TOKENS
}

impl Engine {
    /// Asks the rule until it has seen all it needs. Returns `None` if it needs something that has `moved`.
    pub(super) async fn decide<T>(
        &self,
        before: &Conversation,
        moved: &Moved,
        decide: &mut Rule<'_, T>,
    ) -> Result<Option<T>, EngineError> {
        let now = self.now_for(before);
        let counter = self.counter(before.head.identity.encoding);
        let mut loaded = Loaded::default();
        loop {
            let context = Context { now, counter, loaded: &loaded, llm: self.has_summarizer() };
            let need = match decide(before, &context)? {
                Verdict::Decided(decision) => return Ok(Some(decision)),
                Verdict::Need(need) if moved.has(&need) => return Ok(None),
                Verdict::Need(need) => need,
            };
            match need {
                Need::Archive(wanted) => {
                    let archived = self.store.archived(before.key(), &wanted).await?;
                    loaded.add_archive(&wanted, archived);
                }
                Need::ArchivedBytes(wanted) => {
                    let bytes = self.archived_bytes(before.key(), wanted.clone()).await?;
                    loaded.add_archived_bytes(wanted, bytes);
                }
                Need::State => loaded.add_state(self.store.state(before.key(), &[]).await?),
                Need::ArchivedIds(ids) => {
                    loaded.add_ids(self.store.archived_ids(before.key(), &ids).await?);
                }
            }
        }
    }

    /// Returns the bytes of archived utterances, reading a part at a time.
    async fn archived_bytes(&self, key: &ConversationKey, mut wanted: Ranges) -> Result<u64, EngineError> {
        const PART: u64 = 1_000;
        let mut bytes = 0;
        while !wanted.is_empty() {
            let part = self.store.archived(key, &wanted.take_first(PART)).await?;
            bytes += part.iter().map(|utterance| utterance.stored_bytes()).sum::<u64>();
        }
        Ok(bytes)
    }

    /// Decides on a published state without committing the result.
    pub(super) async fn rehearse<T>(
        &self,
        before: &Conversation,
        mut decide: impl FnMut(&Conversation, &Context<'_>) -> Result<Verdict<T>, Refusal> + Send,
    ) -> Result<T, EngineError> {
        let mut decide = |before: &Conversation, context: &Context<'_>| {
            aside(is_large(before), || decide(before, context))
        };
        let decided = self.decide(before, &Moved::default(), &mut decide).await?;
        decided.ok_or(EngineError::Interrupted)
    }

    /// Returns the time of a change to `before`: never earlier than the previous change, unless the clock was
    /// wrong then.
    pub(super) fn now_for(&self, before: &Conversation) -> Timestamp {
        self.clock.after(before.head.update_time)
    }

    pub(super) fn new_conversation_id(&self) -> ConversationId {
        ConversationId::assigned(self.clock.unique())
    }

    /// Returns the identity of a new conversation.
    pub(super) fn identity(
        &self,
        key: ConversationKey,
        address: &Address,
        encoding: Encoding,
        now: Timestamp,
    ) -> Identity {
        Identity {
            key,
            recipient: address.recipient_or_default(),
            lineage: LineageId(self.clock.unique().to_be_bytes()),
            start_time: now,
            encoding,
        }
    }

    /// Returns a conversation with the server's defaults, before its first revision. A conversation that stores
    /// a recipient's own state has no limits and never expires.
    pub(super) fn new_conversation(&self, key: ConversationKey, address: &Address) -> Arc<Conversation> {
        let policy = match key.id.is_of_state() {
            true => Policy::SESSION,
            false => self.defaults.policy.clone(),
        };
        let identity = self.identity(key, address, self.defaults.encoding, self.clock.now());
        Arc::new(Conversation::new(identity, policy))
    }
}
