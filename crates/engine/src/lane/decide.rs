//! Asking the rules, and loading what they need first.

use std::{collections::HashSet, sync::Arc};

use crate::{
    Address, Engine, EngineError, Operation, Result,
    applied::{RuleResult, Value},
    lane::queued::{Added, QueuedWrite, WriteCall},
    offload::{LONG_LIST, LONG_TOKENS, offload},
};
use utterd_domain::{
    Change, Conversation, ConversationId, ConversationKey, Encoding, Identity, LineageId, Loaded, Need,
    Policy, Ranges, Timestamp, TokenCounter, Undecided, change::Context,
};
use utterd_telemetry::panics::{Panicked, Within};

/// Data that uncommitted changes have moved in the store, or are about to: the store does not reflect it yet.
#[derive(Default)]
pub struct Moved {
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
    pub fn add(&mut self, change: &Change) {
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

/// Whether a rule takes long to decide on a write to `before`.
///
/// Most rules look at the whole window. Memorizing only appends, which takes no longer in a large window, unless
/// something has to leave it: that is summarised.
pub fn is_long(before: &Conversation, call: &WriteCall) -> bool {
    let Added { utterances, tokens } = call.added;
    match call.operation {
        Operation::Memorize => {
            before.window.tokens() + tokens > LONG_TOKENS
                && before.window.would_be_over(&before.head.policy, utterances, tokens)
        }
        _ => tokens > LONG_TOKENS || is_large(before),
    }
}

/// Whether looking at the whole window takes long.
pub fn is_large(conversation: &Conversation) -> bool {
    conversation.window.tokens() > LONG_TOKENS || conversation.window.len() > LONG_LIST
}

/// A rule that is asked, and all that it is shown.
struct Asking<R> {
    rule: R,
    before: Arc<Conversation>,
    now: Timestamp,
    counter: &'static dyn TokenCounter,
    loaded: Loaded,
    llm: bool,
}

/// How a rule is asked.
type Ask<R, T> = fn(&mut R, &Conversation, &Context<'_>) -> Result<T, Undecided>;

impl<R> Asking<R> {
    fn ask<T>(&mut self, ask: Ask<R, T>) -> Result<T, Undecided> {
        let Self { rule, before, now, counter, loaded, llm } = self;
        ask(rule, before, &Context { now: *now, counter: *counter, loaded, llm: *llm })
    }
}

impl Engine {
    /// Asks the rule until it has seen all it needs, and returns it with its decision: `None` if it needs something
    /// that has `moved`. A panic of the rule is an error.
    async fn decide<R: Send + 'static, T: Send + 'static>(
        &self,
        rule: R,
        ask: Ask<R, T>,
        before: &Arc<Conversation>,
        moved: &Moved,
        is_long: bool,
    ) -> (R, Result<Option<T>>) {
        let mut asking = Asking {
            rule,
            before: before.clone(),
            now: self.now_for(before),
            counter: self.counter(before.head.identity.encoding),
            loaded: Loaded::default(),
            llm: self.has_summarizer(),
        };
        loop {
            let is_long = is_long || asking.loaded.tokens() > LONG_TOKENS;
            let asked = move || {
                let verdict = Within::Queue.caught(|| asking.ask(ask));
                (asking, verdict)
            };
            let (mut again, verdict) = offload(is_long, asked).await;
            let decided = match verdict {
                Err(Panicked) => Err(EngineError::Panicked),
                Ok(Ok(decision)) => Ok(Some(decision)),
                Ok(Err(Undecided::Refused(refusal))) => Err(refusal.into()),
                Ok(Err(Undecided::Needs(need))) if moved.has(&need) => Ok(None),
                Ok(Err(Undecided::Needs(need))) => match self.load(before, need, &mut again.loaded).await {
                    Ok(()) => {
                        asking = again;
                        continue;
                    }
                    Err(error) => Err(error),
                },
            };
            return (again.rule, decided);
        }
    }

    /// Asks the rule of a write.
    pub(crate) async fn decide_write(
        &self,
        write: Box<QueuedWrite>,
        before: &Arc<Conversation>,
        moved: &Moved,
        is_long: bool,
    ) -> (Box<QueuedWrite>, Result<Option<RuleResult<Value>>>) {
        let ask: Ask<Box<QueuedWrite>, _> = |write, before, context| write.request.decide(before, context);
        self.decide(write, ask, before, moved, is_long).await
    }

    async fn load(&self, before: &Conversation, need: Need, loaded: &mut Loaded) -> Result<()> {
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
            Need::ArchivedIds(ids) => loaded.add_ids(self.store.archived_ids(before.key(), &ids).await?),
        }
        Ok(())
    }

    /// Returns the bytes of archived utterances, reading a part at a time.
    async fn archived_bytes(&self, key: &ConversationKey, mut wanted: Ranges) -> Result<u64> {
        const PART: u64 = 1_000;
        let mut bytes = 0;
        while !wanted.is_empty() {
            let part = self.store.archived(key, &wanted.take_first(PART)).await?;
            bytes += part.iter().map(|utterance| utterance.stored_bytes()).sum::<u64>();
        }
        Ok(bytes)
    }

    /// Decides on a published state without committing the result.
    pub(crate) async fn rehearse<T: Send + 'static>(
        &self,
        before: &Arc<Conversation>,
        rule: impl FnMut(&Conversation, &Context<'_>) -> Result<T, Undecided> + Send + 'static,
    ) -> Result<T> {
        let nothing = Moved::default();
        let (_, decided) = self
            .decide(rule, |rule, before, context| rule(before, context), before, &nothing, is_large(before))
            .await;
        decided?.ok_or(EngineError::Interrupted)
    }

    /// Returns the time of a change to `before`: never earlier than the previous change, unless the clock was
    /// wrong then.
    pub(crate) fn now_for(&self, before: &Conversation) -> Timestamp {
        self.clock.after(before.head.update_time)
    }

    pub(crate) fn new_conversation_id(&self) -> ConversationId {
        ConversationId::assigned(self.clock.unique())
    }

    /// Returns the identity of a new conversation.
    pub(crate) fn identity(
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

    /// Returns a conversation before its first revision, by default with the server's policy. A conversation that
    /// stores a recipient's own state has no limits and never expires.
    pub(crate) fn new_conversation(
        &self,
        key: ConversationKey,
        address: &Address,
        policy: Option<&Policy>,
    ) -> Arc<Conversation> {
        let policy = match key.id.is_of_state() {
            true => Policy::SESSION,
            false => policy.unwrap_or(&self.defaults.policy).clone(),
        };
        let identity = self.identity(key, address, self.defaults.encoding, self.clock.now());
        Arc::new(Conversation::new(identity, policy))
    }
}
