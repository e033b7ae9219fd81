//! What a context recalls: the matches of a search, with their exchanges.

use std::sync::Arc;

use crate::{
    Address, BuildContextCall, Caller, Engine, Recall, RememberCall, Result, Scope, read::page::PageRoom,
    search::found::Searched,
};
use utterd_domain::{
    Conversation, Ranges, Sequence, Utterance,
    context::{Found, Match, Source, surrounding},
    recall::Floor,
};

/// One match is considered per this many tokens of the budget, so that even short matches can fill recall's
/// share.
const TOKENS_PER_MATCH: u32 = 16;
/// The least and the most matches considered when the caller sets no limit.
const MATCHES: (usize, usize) = (64, 512);
/// How many utterances after a match are first read for the rest of its exchange, and the factor by which
/// this grows each time the exchange continues.
const BEHIND: u64 = 4;

impl Engine {
    /// Returns the stored utterances that are most relevant to the prompt, best first: the `wanted` ones of
    /// this conversation and, if requested, those of the recipient's other conversations that this one does
    /// not share.
    pub(crate) async fn matches(
        self: &Arc<Self>,
        caller: &Caller,
        state: &Arc<Conversation>,
        call: &BuildContextCall,
        recall: &Recall,
        (wanted, budget): (Ranges, Option<u32>),
    ) -> Result<Vec<Match>> {
        let Some(floor) = Floor::of_recall(&recall.prompt, recall.min_relevance) else {
            return Ok(Vec::new());
        };
        let mut searched = vec![(state.clone(), wanted)];
        if recall.scope == Scope::Recipient {
            let (recipient, max_staleness) =
                (state.head.identity.recipient.clone(), call.address.max_staleness);
            let all = self.of_recipient(caller, recipient, max_staleness).await?;
            let others = all.into_iter().filter(|other| other.key() != state.key());
            searched.extend(others.map(|other| (other.clone(), of_another(&other, state))));
        }
        searched.retain(|(_, wanted)| !wanted.is_empty());
        let (states, wanted) = searched.into_iter().unzip();
        let searched = Arc::new(Searched { states, wanted });
        let states = &searched.states;
        let count = recall.looked_at(budget);
        let address = Address { conversation: Some(state.key().id.clone()), ..Address::default() };
        let call =
            RememberCall { address, floor, ..RememberCall::ranking(&recall.prompt, recall.scope, count) };
        let found = self.ranked(&searched, &call, PageRoom::of_items(count)).await?.found;
        let mut around = Vec::with_capacity(states.len());
        for searched in states {
            let of_it = found.iter().filter(|one| one.state.key() == searched.key());
            let mut near = self.around(searched, of_it.map(|one| &*one.utterance)).await?;
            let sequences = near.iter().map(|one| one.sequence).collect();
            let silenced = self.silenced_elsewhere(states, searched, &sequences, &call).await?;
            near.retain(|one| !silenced.contains(one.sequence));
            around.push(near);
        }
        let place = |of: &Conversation| states.iter().position(|state| state.key() == of.key());
        let source = |of: &Conversation| (of.key() != state.key()).then(|| Arc::new(Source::of(&of.head)));
        let matches = found.into_iter().map(|one| Match {
            matched: one.matched.ranges,
            around: place(&one.state)
                .map_or_else(Vec::new, |place| surrounding(&around[place], &one.utterance)),
            found: Found { source: source(&one.state), utterance: one.utterance, quoted: Vec::new() },
        });
        Ok(matches.collect())
    }

    /// Returns the `sequences` of `state` that a search by recipient must leave out, because they are
    /// soft-forgotten in another searched conversation that shares them or has copies. None are left out of
    /// the conversation that the call names.
    pub(crate) async fn silenced_elsewhere(
        self: &Arc<Self>,
        states: &[Arc<Conversation>],
        state: &Conversation,
        sequences: &Ranges,
        call: &RememberCall,
    ) -> Result<Ranges> {
        let mut silenced = Ranges::new();
        if call.scope != Scope::Recipient || call.address.conversation.as_ref() == Some(&state.key().id) {
            return Ok(silenced);
        }
        let origins = state.head.origins_of(sequences);
        for other in states.iter().filter(|other| other.key() != state.key()) {
            let had = other.head.having(&origins).all().intersection(&other.head.kept());
            if had.is_empty() {
                continue;
            }
            let stored = self.stored(other, &had).await?;
            let forgotten: Ranges =
                stored.iter().filter(|one| one.forgotten).map(|one| one.sequence).collect();
            silenced.union(&state.head.having(&other.head.origins_of(&forgotten)).all());
        }
        Ok(silenced.intersection(sequences))
    }

    /// Returns the stored utterances of the units of `found`, and the utterance before each unit, ascending.
    async fn around(
        self: &Arc<Self>,
        state: &Arc<Conversation>,
        found: impl Iterator<Item = &Utterance>,
    ) -> Result<Vec<Arc<Utterance>>> {
        let (mut wanted, mut open, mut behind) = (Ranges::new(), Vec::new(), BEHIND);
        for utterance in found {
            let before = Sequence(utterance.unit.get().saturating_sub(1).max(1));
            wanted.insert(before, utterance.sequence);
            let alone = utterance.unit == utterance.sequence && utterance.tool_calls().is_empty();
            open.extend((!alone).then_some((utterance.unit, utterance.sequence)));
        }
        loop {
            for (_, last) in &open {
                wanted.insert(last.next(), Sequence(last.get() + behind));
            }
            let stored = self.stored(state, &wanted.intersection(&state.head.kept())).await?;
            open.retain_mut(|(unit, last)| {
                let goes_on = stored.iter().rfind(|other| other.sequence.get() <= last.get() + behind);
                let goes_on = goes_on.filter(|other| other.unit == *unit && other.sequence > *last);
                *last = goes_on.map_or(*last, |other| other.sequence);
                goes_on.is_some()
            });
            if open.is_empty() {
                return Ok(stored);
            }
            behind *= BEHIND;
        }
    }
}

impl Recall {
    /// Returns the number of matches to consider.
    fn looked_at(&self, budget: Option<u32>) -> usize {
        let (least, most) = MATCHES;
        let fill = budget.map_or(most, |budget| (budget / TOKENS_PER_MATCH) as usize).clamp(least, most);
        // some of the best may already be in the context, or be too long
        self.limits.matches.map_or(fill, |limit| (4 * limit).clamp(least, most))
    }
}

/// Returns the sequences of `other` that can be recalled in the context of `state`: without instructions, and
/// without utterances that `state` shares or has copies of.
fn of_another(other: &Conversation, state: &Conversation) -> Ranges {
    let mut wanted = other.head.kept();
    let instructions = other.window.iter().take_while(|utterance| utterance.instruction);
    wanted.subtract(&instructions.map(|utterance| utterance.sequence).collect());
    let known = state.head.origins_of(&Ranges::before(state.head.next));
    wanted.subtract(&other.head.having(&known).all());
    wanted
}
