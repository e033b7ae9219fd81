//! Ranks the searched utterances.

use std::{collections::BTreeMap, ops::Range, sync::Arc};

use futures::{StreamExt, TryStreamExt, future::join_all};

use crate::{
    Engine, EngineError, Result,
    offload::{LONG_TEXT_BYTES, most_offloaded, offload},
    read::page::{PageRoom, ReadSize},
    search::{
        found::{Found, Matches, Searched, recency},
        remember::{Order, RememberCall},
    },
};
use utterd_domain::{
    Conversation, Ranges, Sequence,
    recall::{
        Floor, Hit, Index, Query, Search,
        hybrid::{Place, mix},
    },
};

/// Searching more utterances than this is long.
const LONG_SEARCH: usize = 5_000;
/// The most parts of a long search that run at a time.
const MAX_SEARCH_PARTS: usize = 4;
/// The number of conversations that are ranked together if the newest matches come first, and the number that
/// are read at a time.
const CONVERSATIONS_AT_A_TIME: usize = 16;
/// The number of candidates to consider at first. It is quadrupled each time too few of them pass.
const CANDIDATES: usize = 256;

impl Engine {
    /// Returns the searched utterances that match the prompt and pass the filter, in the requested order, as
    /// far as the page has room.
    pub(crate) async fn ranked(
        self: &Arc<Self>,
        searched: &Arc<Searched>,
        call: &RememberCall,
        room: PageRoom,
    ) -> Result<Matches> {
        let states = &searched.states;
        let now = states.first().map_or(0, |state| self.present(state).minute());
        let query = Query::new(&call.prompt).at(now);
        let mut indexes = Vec::with_capacity(states.len());
        for state in states {
            indexes.push(self.index(state).await?);
        }
        let similar = match call.order {
            Order::Relevance => self.similar(searched, &call.prompt, call.patience).await.map(Arc::new),
            Order::Recency => None,
        };
        let is_long = indexes.iter().map(Index::len).sum::<usize>() > LONG_SEARCH;
        let search = Arc::new(offload(is_long, move || Search::new(query, indexes)).await);
        let mut matches = Matches::new(states.len(), call.skip, room);
        if call.order == Order::Recency {
            self.take_newest(&mut matches, searched, call, &search, is_long).await?;
            return Ok(matches);
        }
        // meaning can raise what words leave below the floor
        let least = if similar.is_some() { Floor::of_search(Some(0.0)) } else { call.floor };
        let mut candidates = CANDIDATES.max(call.skip + call.limit + 1);
        loop {
            let mut hits = best(&search, is_long, searched, (0..states.len(), candidates), least).await;
            if let Some(similar) = &similar {
                let (similar, searched) = (similar.clone(), searched.clone());
                hits = offload(is_long, move || {
                    let states = &searched.states;
                    let stored = states.iter().map(|state| state.head.stored as usize).sum();
                    let recency = |place: Place| recency(states, place.index, place.sequence);
                    mix(hits, &similar, stored, recency, candidates)
                })
                .await;
            }
            let is_vain = !call.floor.is_reached(&hits[..hits.len().min(CANDIDATES)]);
            // When words alone rank, further candidates would rank below these, and none of these is
            // relevant.
            let exhausted = hits.len() < candidates || is_vain && similar.is_none();
            hits.retain(|hit| !is_vain && call.floor.admits(hit));
            self.take_all(&mut matches, states, hits, call, &search).await?;
            if exhausted || matches.more {
                return Ok(matches);
            }
            matches = Matches::new(states.len(), call.skip, room);
            candidates = candidates.saturating_mul(4);
        }
    }

    /// Adds the relevant matches, newest first. Ranks a few conversations at a time, so that only their hits
    /// are in memory.
    async fn take_newest(
        self: &Arc<Self>,
        matches: &mut Matches,
        searched: &Arc<Searched>,
        call: &RememberCall,
        search: &Arc<Search>,
        is_long: bool,
    ) -> Result<()> {
        let states = &searched.states;
        let floor = call.floor;
        let all = (0..states.len(), CANDIDATES);
        if floor.best > 0.0 && !floor.is_reached(&best(search, is_long, searched, all, floor).await) {
            return Ok(());
        }
        for first in (0..states.len()).step_by(CONVERSATIONS_AT_A_TIME) {
            let some = first..states.len().min(first + CONVERSATIONS_AT_A_TIME);
            let mut hits = best(search, is_long, searched, (some, usize::MAX), floor).await;
            hits.sort_by(|one, other| other.recency.total_cmp(&one.recency));
            self.take_all(matches, states, hits, call, search).await?;
            if matches.more {
                break;
            }
        }
        Ok(())
    }

    /// Adds the hits that pass the filter, in order, until the page ends.
    async fn take_all(
        self: &Arc<Self>,
        matches: &mut Matches,
        states: &[Arc<Conversation>],
        hits: Vec<Hit>,
        call: &RememberCall,
        search: &Arc<Search>,
    ) -> Result<()> {
        let (mut hits, mut size) = (hits.into_iter(), ReadSize::new());
        while !matches.more && hits.len() > 0 {
            let some = hits.by_ref().take(size.get() as usize).collect();
            let found = self.look_up(states, some, call).await?;
            size.learn(found.iter().map(|found| &found.utterance));
            for found in matched(search.clone(), found).await {
                self.take(matches, states, found, call).await?;
            }
        }
        Ok(())
    }

    async fn look_up(
        self: &Arc<Self>,
        states: &[Arc<Conversation>],
        hits: Vec<Hit>,
        call: &RememberCall,
    ) -> Result<Vec<Found>> {
        let mut wanted: BTreeMap<usize, Ranges> = BTreeMap::new();
        hits.iter().for_each(|hit| wanted.entry(hit.index).or_default().add(Sequence(hit.sequence)));
        let reads = wanted.into_iter().map(|(index, wanted)| async move {
            let mut stored = self.stored(&states[index], &wanted).await?;
            let silenced = self.silenced_elsewhere(states, &states[index], &wanted, call).await?;
            stored.retain(|one| !silenced.contains(one.sequence));
            Ok::<_, EngineError>((index, stored))
        });
        let reads = futures::stream::iter(reads).buffer_unordered(CONVERSATIONS_AT_A_TIME);
        let utterances: BTreeMap<_, _> = reads.try_collect().await?;
        let found = hits.into_iter().filter_map(|hit| {
            let stored = utterances.get(&hit.index)?;
            let place = stored.binary_search_by_key(&hit.sequence, |u| u.sequence.get()).ok()?;
            call.finds(&stored[place]).then(|| Found {
                score: hit.score,
                relevance: hit.relevance,
                ..Found::new(&states[hit.index], stored[place].clone(), hit.recency)
            })
        });
        Ok(found.collect())
    }
}

/// Returns the best `most` hits, not below the floor, in some of the conversations. A long search is done in parts.
async fn best(
    search: &Arc<Search>,
    is_long: bool,
    searched: &Arc<Searched>,
    (among, most): (Range<usize>, usize),
    floor: Floor,
) -> Vec<Hit> {
    let parts = if is_long { most_offloaded().min(MAX_SEARCH_PARTS) } else { 1 };
    let each = among.len().div_ceil(parts).max(1);
    let part = |from| {
        let (search, searched) = (search.clone(), searched.clone());
        let part = from..among.end.min(from + each);
        offload(is_long, move || {
            let eligible = |hit: &Hit| floor.admits(hit) && searched.has(hit.index, hit.sequence);
            search.hits_among(part, eligible, most)
        })
    };
    let parts = join_all(among.clone().step_by(each).map(part)).await;
    match parts.len() {
        1 => parts.into_iter().flatten().collect(),
        _ => Hit::first(parts.into_iter().flatten(), most),
    }
}

/// Adds to each match where its text and the prompt match.
async fn matched(search: Arc<Search>, mut found: Vec<Found>) -> Vec<Found> {
    let bytes: usize = found.iter().map(|found| found.utterance.content.len()).sum();
    offload(bytes > LONG_TEXT_BYTES, move || {
        let mut matched = search.matched();
        for found in &mut found {
            found.matched = matched.of(&found.utterance.content);
        }
        found
    })
    .await
}
