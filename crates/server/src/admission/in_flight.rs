//! Counts what is in flight, in total and per caller.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use dashmap::DashMap;
use rustc_hash::FxBuildHasher;

/// Open calls or streams, counted per caller.
///
/// - All callers together have at most `most`.
/// - One caller has at most `most_each`, and once three quarters of `most` are in use, at most an even share of it.
/// - The last eighth is for callers with nothing in flight, so such a caller is refused only after that many others
///   have called.
#[derive(Debug)]
pub struct InFlight {
    most: usize,
    most_each: usize,
    total: AtomicUsize,
    callers: DashMap<u64, usize, FxBuildHasher>,
    /// The number of callers with something in flight; the map would have to lock all its shards to count them.
    active: AtomicUsize,
}

/// One call or stream in flight, until it is dropped.
#[derive(Debug)]
pub struct Held {
    of: Arc<InFlight>,
    caller: u64,
}

/// The limit that is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// The limit of all callers together.
    All,
    /// The caller's share.
    Caller,
}

impl InFlight {
    /// Allows `most` in flight, and `most_each` per caller.
    pub fn new(most: usize, most_each: usize) -> Arc<Self> {
        let (total, active) = Default::default();
        Arc::new(Self { most, most_each, total, callers: DashMap::default(), active })
    }

    /// Returns the number in flight.
    pub fn total(&self) -> usize {
        self.total.load(Ordering::Relaxed)
    }

    /// Counts one more, if the limits allow.
    pub fn hold(self: &Arc<Self>, caller: u64) -> Result<Held, Limit> {
        let total = self.total.fetch_add(1, Ordering::Relaxed);
        let held = if total < self.most { self.count(caller, total) } else { Err(Limit::All) };
        if held.is_err() {
            self.total.fetch_sub(1, Ordering::Relaxed);
        }
        held
    }

    fn count(self: &Arc<Self>, caller: u64, total: usize) -> Result<Held, Limit> {
        let mut count = self.callers.entry(caller).or_insert_with(|| {
            self.active.fetch_add(1, Ordering::Relaxed);
            0
        });
        if *count > 0 && *count >= self.share(total) {
            return Err(Limit::Caller);
        }
        *count += 1;
        Ok(Held { of: self.clone(), caller })
    }

    /// Returns how many one caller can have.
    fn share(&self, total: usize) -> usize {
        match total {
            _ if total < self.most / 4 * 3 => self.most_each,
            _ if total < self.most - self.most / 8 => {
                self.most_each.min(self.most / (self.active.load(Ordering::Relaxed) + 1))
            }
            _ => 1,
        }
    }
}

impl Held {
    /// Whether its caller has nothing else in flight.
    pub fn is_alone(&self) -> bool {
        self.of.callers.get(&self.caller).is_none_or(|count| *count <= 1)
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        let of = &self.of;
        of.total.fetch_sub(1, Ordering::Relaxed);
        let is_last = of.callers.get_mut(&self.caller).is_some_and(|mut count| {
            *count -= 1;
            *count == 0
        });
        if is_last && of.callers.remove_if(&self.caller, |_, count| *count == 0).is_some() {
            of.active.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Takes until a limit is reached; returns what it took, and the limit.
    fn take_all(of: &Arc<InFlight>, caller: u64) -> (Vec<Held>, Limit) {
        let mut held = Vec::new();
        loop {
            match of.hold(caller) {
                Ok(one) => held.push(one),
                Err(limit) => return (held, limit),
            }
        }
    }

    #[test]
    fn one_caller_leaves_room_for_others() {
        let calls = InFlight::new(100, 100);
        let (greedy, limit) = take_all(&calls, 1);
        assert_eq!((greedy.len(), limit), (75, Limit::Caller));
        let (modest, limit) = take_all(&calls, 2);
        assert_eq!((modest.len(), limit), (13, Limit::Caller));
        let few: Vec<_> = (3..15).map(|caller| calls.hold(caller).unwrap()).collect();
        assert_eq!((few.len(), calls.hold(15).unwrap_err()), (12, Limit::All));
    }

    #[test]
    fn many_callers_have_even_shares() {
        let calls = InFlight::new(100, 100);
        let _held: Vec<_> = (0..80).map(|index| calls.hold(1 + index % 10).unwrap()).collect();
        let (one, limit) = take_all(&calls, 1);
        assert_eq!((one.len(), limit), (1, Limit::Caller));
        assert!(calls.hold(11).is_ok());
    }

    #[test]
    fn each_has_its_own_limit() {
        let streams = InFlight::new(100, 25);
        for caller in 1..=4 {
            let (held, _) = take_all(&streams, caller);
            assert!(held.len() <= 25);
            drop(held);
        }
        assert_eq!(take_all(&streams, 1).0.len(), 25);
    }

    #[test]
    fn what_ends_makes_room_and_leaves_nothing_behind() {
        let calls = InFlight::new(4, 4);
        let (mut held, _) = take_all(&calls, 1);
        held.pop();
        assert!(calls.hold(1).is_ok());
        drop(held);
        assert_eq!(calls.total.load(Ordering::Relaxed), 0);
        assert_eq!(calls.active.load(Ordering::Relaxed), 0);
        assert!(calls.callers.is_empty());
    }
}
