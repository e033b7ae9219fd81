//! Which conversations a hard forget reaches, and what each of them loses.

use std::{collections::BTreeMap, sync::Arc};

use crate::{
    domain::{
        Conversation, ConversationKey, Ranges, Sequence, Transition, Verdict,
        change::Context,
        forget::erasure::{InForks, Lost, erase_lost},
        forgetting::Instruction,
        fork::origin::Had,
        import::has_imported_ending,
    },
    engine::{
        Engine, EngineError,
        lane::{
            hold::{Hold, held},
            queue::Published,
        },
        read::conversations::place,
    },
    store::{Page, RecipientKey},
};

/// The number of conversations listed at a time.
const BATCH: usize = 256;

/// What each conversation loses, the erasing one included if it has other copies of what it erases.
pub(in crate::engine) type Reached = BTreeMap<ConversationKey, Lost>;

/// What is erased from a conversation.
#[derive(Debug, Default)]
pub(in crate::engine) struct Gone {
    /// The sequences of which nothing is left.
    pub sequences: Ranges,
    /// Only these are erased, even if they are part of an exchange.
    pub exact: bool,
    /// The instruction that selects from imported segments, which forks share.
    pub imported: Option<Instruction>,
}

impl Engine {
    /// Returns what each conversation loses if something of `state` is erased: those that share what is erased, or
    /// have copies of it. All are relatives of `state` by the lineages that they name, whatever became of the
    /// conversations between them. Those of other namespaces are not reached: a file can name any lineage.
    pub(in crate::engine) async fn reach(
        &self,
        state: &Arc<Conversation>,
        gone: &Gone,
        holds: &[Hold],
    ) -> Result<Reached, EngineError> {
        let Gone { sequences, exact, imported } = gone;
        let (exact, origins) = (*exact, state.head.origins_of(sequences));
        let mut reached = Reached::new();
        let again = state.head.having(&origins).without(sequences);
        if !again.is_empty() {
            reached.insert(state.key().clone(), Lost { had: again, imported: None, exact });
        }
        let sharing = self.store.sharing(state.key()).await?.into_iter();
        for (key, _) in sharing.filter(|(key, _)| key.namespace == state.key().namespace) {
            let Some(other) = self.relative(&key, holds).await? else { continue };
            let had = other.head.having(&origins);
            if !had.is_empty() || imported.is_some() || has_imported_ending(&other.head) {
                reached.insert(key, Lost { had, imported: imported.clone(), exact });
            }
        }
        for (key, had) in self.repeating(state, sequences).await? {
            reached.entry(key).or_insert(Lost { had, imported: None, exact });
        }
        Ok(reached)
    }

    /// Returns the state of a relative, without waiting for whoever holds it: which origins a conversation has
    /// changes only by what its commit adds.
    async fn relative(
        &self,
        key: &ConversationKey,
        holds: &[Hold],
    ) -> Result<Option<Arc<Conversation>>, EngineError> {
        if let Some(hold) = held(holds, key) {
            return hold.state().await;
        }
        match self.queues.get(key).map(|queue| queue.published()) {
            Some(Published::State(state)) => Ok(Some(state)),
            _ => Ok(self.store.load(key).await?),
        }
    }

    /// Returns the change that takes what is lost from a conversation, if it has any of it.
    pub(in crate::engine) async fn lose(
        &self,
        before: &Arc<Conversation>,
        lost: &Lost,
    ) -> Result<Option<Transition>, EngineError> {
        let lost = lost.clone();
        self.rehearse(before, move |before: &Conversation, context: &Context<'_>| {
            Ok(erase_lost(before, &lost, context).map_or_else(Verdict::Need, Verdict::Decided))
        })
        .await
    }

    /// Returns what an erasure that is not made would remove from other conversations.
    pub(in crate::engine) async fn would_reach(
        &self,
        state: &Arc<Conversation>,
        gone: &Gone,
    ) -> Result<InForks, EngineError> {
        let mut in_forks = InForks::default();
        let mut reached = self.reach(state, gone, &[]).await?;
        reached.remove(state.key());
        for (key, lost) in reached {
            let Some(other) = self.relative(&key, &[]).await? else { continue };
            self.lose(&other, &lost).await?.iter().for_each(|lost| in_forks.add(lost));
        }
        Ok(in_forks)
    }

    /// Returns what old forks repeat of the first exchange, if that is among `gone`: they share nothing with
    /// their parent, and name only its id. They belong to its recipient and are no older: an older one was
    /// forked from an earlier conversation of that id.
    async fn repeating(
        &self,
        state: &Conversation,
        gone: &Ranges,
    ) -> Result<Vec<(ConversationKey, Had)>, EngineError> {
        let (mut repeating, mut after) = (Vec::new(), None);
        if !gone.contains(Sequence::FIRST) {
            return Ok(repeating);
        }
        let identity = &state.head.identity;
        let namespace = identity.key.namespace.clone();
        let recipient = RecipientKey { namespace, id: identity.recipient.clone() };
        loop {
            let heads = self.store.list(Page { after, limit: BATCH }.of(&recipient)).await?;
            for head in &heads {
                if head.identity.start_time < identity.start_time {
                    return Ok(repeating);
                }
                let from = head.forked_from.as_ref().filter(|from| from.conversation == identity.key.id);
                if let Some(last) = from.and_then(|from| from.repeats_through) {
                    let copied = Ranges::before(last);
                    let had = Had { copied, edited: Ranges::of(last, last), ..Had::default() };
                    repeating.push((head.identity.key.clone(), had));
                }
            }
            if heads.len() < BATCH {
                return Ok(repeating);
            }
            after = heads.last().map(place);
        }
    }
}
