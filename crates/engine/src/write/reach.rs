//! Which conversations a hard forget reaches, and what each of them loses.

use std::{collections::BTreeMap, sync::Arc};

use crate::{Engine, Result};
use utterd_domain::{
    Conversation, ConversationKey, Ranges, Transition,
    change::Context,
    forget::erasure::{InForks, Lost, erase_lost},
    forgetting::Instruction,
};

/// What each other conversation loses.
pub type Reached = BTreeMap<ConversationKey, Lost>;

/// States of conversations.
pub type States = BTreeMap<ConversationKey, Arc<Conversation>>;

/// What is erased from a conversation.
#[derive(Debug, Default)]
pub struct Gone {
    /// The sequences that are erased completely.
    pub sequences: Ranges,
    /// Whether only these are erased, even if they are part of an exchange.
    pub exact: bool,
    /// The instruction that selects from imported segments, which forks share.
    pub imported: Option<Instruction>,
}

impl Engine {
    /// Returns what each other conversation loses if `gone` is erased from `state`: those that share erased
    /// utterances or imported segments, or have copies of erased utterances. They are found by the lineages
    /// that they name, even if the conversations between them and `state` no longer exist. No namespace
    /// reaches another, whatever a record names.
    ///
    /// The states of those that will be changed too must be `known` already: a fork of one of them that is made
    /// after they were asked for then makes the commit fail.
    pub(crate) async fn reach(
        &self,
        state: &Arc<Conversation>,
        gone: &Gone,
        known: &States,
    ) -> Result<Reached> {
        let Gone { sequences, exact, imported } = gone;
        let (exact, origins) = (*exact, state.head.origins_of(sequences));
        let mut reached = Reached::new();
        let sharing = self.store.sharing(state.key()).await?.into_iter();
        for (key, _) in sharing.filter(|(key, _)| key.namespace == state.key().namespace) {
            let Some(other) = self.relative(&key, known).await? else { continue };
            let had = other.head.having(&origins);
            if !had.is_empty() || imported.is_some() {
                reached.insert(key, Lost { had, imported: imported.clone(), exact });
            }
        }
        Ok(reached)
    }

    /// Returns the stored state of a related conversation, without waiting for a writer that holds it. A commit
    /// in flight changes which origins the conversation has only by the utterances that it adds.
    async fn relative(&self, key: &ConversationKey, known: &States) -> Result<Option<Arc<Conversation>>> {
        if let Some(known) = known.get(key) {
            return Ok(Some(known.clone()));
        }
        let known = self.queues.get(key).and_then(|queue| queue.published().state());
        if known.is_some() && !self.is_shared() {
            return Ok(known);
        }
        let change = known.as_ref().map(|state| state.head.change);
        Ok(self.store.load_if_newer(key, change).await?.or(known))
    }

    /// Returns the change that removes `lost` from a conversation; `None` if the conversation has none of it.
    pub(crate) async fn lose(&self, before: &Arc<Conversation>, lost: &Lost) -> Result<Option<Transition>> {
        let lost = lost.clone();
        self.rehearse(before, move |before: &Conversation, context: &Context<'_>| {
            Ok(erase_lost(before, &lost, context)?)
        })
        .await
    }

    /// Returns what an erasure would remove from other conversations, without making it.
    pub(crate) async fn would_reach(&self, state: &Arc<Conversation>, gone: &Gone) -> Result<InForks> {
        let mut in_forks = InForks::default();
        let known = States::new();
        for (key, lost) in self.reach(state, gone, &known).await? {
            let Some(other) = self.relative(&key, &known).await? else { continue };
            self.lose(&other, &lost).await?.iter().for_each(|lost| in_forks.add(lost));
        }
        Ok(in_forks)
    }
}
