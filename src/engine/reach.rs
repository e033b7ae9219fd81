//! Which conversations a hard forget reaches, and what is lost in each.

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

/// Conversations that are listed at a time.
const BATCH: usize = 256;

/// The other conversations that have something of what is forgotten.
#[derive(Default)]
pub(super) struct Reached {
    /// What is lost in each.
    pub lost: BTreeMap<ConversationKey, Lost>,
    /// Those that are not held: what they lead to is not known.
    pub unheld: BTreeSet<ConversationKey>,
}

/// What is gone from a conversation.
#[derive(Clone, Copy)]
pub(super) struct Gone<'a> {
    pub sequences: &'a Ranges,
    /// Only that goes, also where it is a part of an exchange.
    pub exact: bool,
    /// What selects of the imported segments.
    pub imported: Option<&'a Instruction>,
}

/// How something is lost.
#[derive(Clone, Copy)]
enum How {
    Shared,
    Repeated,
}

impl Engine {
    /// What is reached by what is gone from `state`: whoever shares it, whoever repeats it, and whoever shares or
    /// repeats that.
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

    /// The other conversations that share what `state` holds, which is held; each with the last sequence that
    /// both share.
    async fn sharing(&self, state: &Conversation) -> Result<Vec<(ConversationKey, Sequence)>, EngineError> {
        match state.head.trunks.is_empty() {
            true => Ok(Vec::new()),
            false => Ok(self.store.sharing(state.key()).await?),
        }
    }

    /// The forks in which something of `lost` is said anew, and where. They are their parent's recipient's, and
    /// no older than it: an older one came from another conversation of that name.
    async fn repeating(
        &self,
        state: &Conversation,
        lost: &Ranges,
    ) -> Result<Vec<(ConversationKey, Ranges)>, EngineError> {
        // a fork behind the first utterance leaves a trunk; one before it repeats what begins with that
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
    /// Notes a conversation that shares what was imported.
    fn add_imported(&mut self, other: ConversationKey, instruction: &Instruction, holds: &[Hold]) {
        self.lost.entry(other.clone()).or_default().imported = Some(instruction.clone());
        if held(holds, &other).is_none() {
            self.unheld.insert(other);
        }
    }

    /// Notes what is lost in a conversation; whether that is more than was known.
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
