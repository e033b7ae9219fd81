//! Counts who has how much, independently of the admission layer, and checks it: limits hold, and nobody who
//! has less than a fair share is refused because of what others have.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::Arc,
    time::Duration,
};

use parking_lot::Mutex;
use tokio::time::Instant;
use utterd::domain::limits::STREAMS_SHARE;

use crate::{
    checks::Wrong,
    crowd::STAYS,
    door::Head,
    house::{Crowd, House},
};

/// Nothing is left of a run's crowd this long after its start: 2 seconds after the last of it.
const RECOVERED: Duration = STAYS.saturating_add(Duration::from_secs(2));

/// The kinds that are counted separately.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Unary,
    Stream,
}

/// What the callers of a door have.
pub struct Shares {
    house: House,
    calls: Open,
    streams: Open,
    /// When calls were counted for the rate limit.
    counted: BTreeMap<u64, VecDeque<Instant>>,
    pub wrongs: Vec<Wrong>,
    opened: Instant,
}

/// What each caller has open.
#[derive(Debug)]
struct Open {
    most: usize,
    most_each: usize,
    of: BTreeMap<u64, usize>,
}

/// Why it would be wrong to refuse a call, by the limit.
pub struct Unfair {
    by_share: Option<String>,
    by_rate: Option<String>,
}

/// What one call occupies, until it is dropped.
pub struct Place {
    shares: Arc<Mutex<Shares>>,
    head: Head,
}

impl Shares {
    pub fn new(house: &House) -> Self {
        let (counted, wrongs) = Default::default();
        let calls = Open::new(house.calls, house.calls);
        let streams = Open::new(house.streams, (house.streams / STREAMS_SHARE).max(1));
        Self { house: house.clone(), calls, streams, counted, wrongs, opened: Instant::now() }
    }

    /// Why it would be wrong to refuse a call that arrives now.
    pub fn unfair_to(&mut self, head: Head) -> Unfair {
        Unfair { by_share: self.open(head.kind).is_fair_to(head.caller), by_rate: self.is_slow(head.caller) }
    }

    /// A call was refused: there must be a reason. What was `unfair` when it arrived still is.
    pub fn turned_away(&mut self, head: Head, reason: &str, unfair: &Unfair) {
        let unfair = match reason {
            "OVERLOADED" => self.is_its_only_one(head),
            "TOO_MANY_CALLS" | "TOO_MANY_STREAMS" => {
                self.count(head.caller);
                unfair.by_share.clone()
            }
            "TOO_MANY_CALLS_A_SECOND" => unfair.by_rate.clone(),
            _ => Some("nobody knows this reason".to_owned()),
        };
        let told = unfair.map(|how| format!("caller {} is turned away, {reason}: {how}", head.caller));
        self.wrongs.extend(told.map(|how| Wrong::new("nobody is turned away for what others do", how)));
    }

    /// Why it is wrong to refuse a call because its worker is overloaded.
    fn is_its_only_one(&mut self, head: Head) -> Option<String> {
        if self.house.crowd != Some(Crowd::Rush) || self.opened.elapsed() > RECOVERED {
            return Some("there is no crowd".to_owned());
        }
        (self.open(head.kind).own(head.caller) < 2).then(|| "it is its caller's only call".to_owned())
    }

    /// Why it is wrong to refuse a call because the caller calls too often.
    fn is_slow(&self, caller: u64) -> Option<String> {
        let calls = self.counted_since(caller, Duration::from_secs(1));
        let most = self.house.calls_per_second as usize;
        (most == 0 || calls + 1 < most).then(|| format!("it made {calls} calls in a second, of {most}"))
    }

    /// Counts a call for its caller's rate limit.
    fn count(&mut self, caller: u64) {
        self.counted.entry(caller).or_default().push_back(Instant::now());
        let most = self.house.calls_per_second as usize;
        let calls = self.counted_since(caller, Duration::from_secs(1));
        if most > 0 && calls > 2 * most + 1 {
            self.wrongs
                .push(Wrong::new("limits hold", format!("caller {caller} made {calls} calls in a second")));
        }
    }

    fn counted_since(&self, caller: u64, time: Duration) -> usize {
        let moments = self.counted.get(&caller).into_iter().flatten();
        moments.rev().take_while(|moment| moment.elapsed() <= time).count()
    }

    fn take(&mut self, head: Head) {
        self.count(head.caller);
        let open = self.open(head.kind);
        *open.of.entry(head.caller).or_default() += 1;
        let broken = open.is_beyond(head.caller).then(|| Wrong::new("limits hold", format!("{open:?}")));
        self.wrongs.extend(broken);
    }

    fn give_back(&mut self, head: Head) {
        let open = self.open(head.kind);
        if let Some(count) = open.of.get_mut(&head.caller) {
            *count -= 1;
        }
        open.of.retain(|_, count| *count > 0);
    }

    fn open(&mut self, kind: Kind) -> &mut Open {
        match kind {
            Kind::Unary => &mut self.calls,
            Kind::Stream => &mut self.streams,
        }
    }
}

impl Open {
    fn new(most: usize, most_each: usize) -> Self {
        Self { most, most_each, of: BTreeMap::new() }
    }

    fn total(&self) -> usize {
        self.of.values().sum()
    }

    fn own(&self, caller: u64) -> usize {
        self.of.get(&caller).copied().unwrap_or(0)
    }

    fn is_beyond(&self, caller: u64) -> bool {
        self.total() > self.most || self.own(caller) > self.most_each
    }

    /// Why it is wrong to refuse a caller.
    fn is_fair_to(&self, caller: u64) -> Option<String> {
        let (own, total, others) = (self.own(caller), self.total(), self.of.len());
        let share = self.most / (others + 1);
        let is_room = own < self.most_each && total < self.most / 4 * 3;
        let is_kept_for_others = total >= self.most - self.most / 8;
        let is_unfair = match own {
            0 => total < self.most || others < self.most / 8,
            _ => is_room || (own < share.min(self.most_each) && !is_kept_for_others),
        };
        is_unfair.then(|| format!("it has {own}, of {total}: {self:?}"))
    }
}

impl Place {
    /// Counts a call that is started.
    pub fn taken(shares: &Arc<Mutex<Shares>>, head: Head) -> Self {
        shares.lock().take(head);
        Self { shares: shares.clone(), head }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.shares.lock().give_back(self.head);
    }
}
