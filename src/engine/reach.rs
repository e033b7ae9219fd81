//! Which conversations a hard forget reaches, and what each of them loses.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use crate::{
    domain::{Conversation, ConversationKey, Ranges, Sequence, erasure::Lost, forgetting::Instruction},
    engine::{
        Engine, EngineError,
        conversations::place,
        hold::{Hold, held},
    },
    store::{Page, RecipientKey},
};

/// The number of conversations listed at a time.
const BATCH: usize = 256;

/// The other conversations that contain something of what is forgotten.
#[derive(Default)]
pub(super) struct Reached {
    /// What each of them loses.
    pub lost: BTreeMap<ConversationKey, Lost>,
    /// The ones that are not held, so what they in turn reach is unknown.
    pub unheld: BTreeSet<ConversationKey>,
}

/// What is erased from a conversation.
#[derive(Clone, Copy)]
pub(super) struct Gone<'a> {
    pub sequences: &'a Ranges,
    /// Only these are erased, even if they are part of an exchange.
    pub exact: bool,
    /// The instruction that selects from imported segments.
    pub imported: Option<&'a Instruction>,
}

/// Why a conversation loses something.
#[derive(Clone, Copy)]
enum How {
    Shared,
    Repeated,
}

impl Engine {
    /// Returns the conversations reached by erasing `gone` from `state`: those that share it, those that repeat
    /// it, and those that share or repeat theirs.
    pub(super) async fn reach(
        &self,
        state: &Arc<Conversation>,
        gone: Gone<'_>,
        holds: &[Hold],
    ) -> Result<Reached, EngineError> {
        let mut reached = Reached::default();
        if let Some(instruction) = gone.imported {
            let sharing = self.sharing(state).await?.into_iter().map(|(other, _)| other);
            sharing.for_each(|other| reached.add_imported(other, instruction, holds));
        }
        let mut next = vec![(state.clone(), gone.sequences.clone(), How::Shared)];
        while let Some((of, lost, how)) = next.pop() {
            let sharing = self.sharing(&of).await?.into_iter();
            let shared = sharing
                .map(|(other, through)| (other, lost.intersection(&Ranges::before(through.next())), how));
            let repeated = self.repeating(&of, &lost).await?.into_iter();
            for (other, lost, how) in shared.chain(repeated.map(|(other, lost)| (other, lost, How::Repeated)))
            {
                if other == *state.key() || !reached.add(&other, &lost, how) {
                    continue;
                }
                match held(holds, &other) {
                    None => _ = reached.unheld.insert(other),
                    Some(hold) => next.extend(hold.state().await?.map(|other| (other, lost, how))),
                }
            }
        }
        reached.lost.values_mut().for_each(|lost| lost.exact = gone.exact);
        Ok(reached)
    }

    /// Returns the other conversations that share utterances with `state`, which must be held; each with the
    /// last sequence both share.
    async fn sharing(&self, state: &Conversation) -> Result<Vec<(ConversationKey, Sequence)>, EngineError> {
        match state.head.trunks.is_empty() {
            true => Ok(Vec::new()),
            false => Ok(self.store.sharing(state.key()).await?),
        }
    }

    /// Returns the forks that repeat something of `lost` in new utterances, and which ones. They belong to
    /// their parent's recipient and are no older than the parent: an older one was forked from an earlier
    /// conversation of that id.
    async fn repeating(
        &self,
        state: &Conversation,
        lost: &Ranges,
    ) -> Result<Vec<(ConversationKey, Ranges)>, EngineError> {
        // a fork after the first utterance leaves a trunk; one before it repeats utterances from the first on
        if state.head.trunks.is_empty() && !lost.contains(Sequence(1)) {
            return Ok(Vec::new());
        }
        let identity = &state.head.identity;
        let namespace = identity.key.namespace.clone();
        let recipient = RecipientKey { namespace, id: identity.recipient.clone() };
        let (mut repeating, mut after) = (Vec::new(), None);
        loop {
            let heads = self.store.conversations(&recipient, Page { after, limit: BATCH }).await?;
            let more = heads.len() == BATCH;
            for head in &heads {
                if head.identity.start_time < identity.start_time {
                    return Ok(repeating);
                }
                let from = head.forked_from.as_ref().filter(|from| from.conversation == identity.key.id);
                let repeats = from.map_or_else(Ranges::new, |from| from.repeats(lost));
                if !repeats.is_empty() {
                    repeating.push((head.identity.key.clone(), repeats));
                }
            }
            after = heads.last().map(place);
            if !more {
                return Ok(repeating);
            }
        }
    }
}

impl Reached {
    /// Records a conversation that shares imported segments.
    fn add_imported(&mut self, other: ConversationKey, instruction: &Instruction, holds: &[Hold]) {
        self.lost.entry(other.clone()).or_default().imported = Some(instruction.clone());
        if held(holds, &other).is_none() {
            self.unheld.insert(other);
        }
    }

    /// Records what a conversation loses. Returns whether that was more than already known.
    fn add(&mut self, other: &ConversationKey, lost: &Ranges, how: How) -> bool {
        if lost.is_empty() {
            return false;
        }
        let known = self.lost.entry(other.clone()).or_default();
        let known = match how {
            How::Shared => &mut known.shared,
            How::Repeated => &mut known.repeated,
        };
        let more = !known.holds(lost);
        known.union(lost);
        more
    }
}
