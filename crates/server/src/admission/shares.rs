//! Which callers ask for less than an even share.

use std::{mem, sync::Arc};

use tokio::time::Instant;

use super::board::{Asked, Board};
use utterd_domain::limits::SHARE_WINDOW;

/// The calls of callers to one worker, in windows of half a second. A worker reads one connection after another, so in
/// a shorter window each caller would seem to be the only one.
///
/// A caller can have connections to several workers. At the end of each window, a worker learns how many calls its
/// callers made to the others, and how many of these were admitted. Even shares are shares of the total: a caller that
/// gets much from other workers gets less here.
#[derive(Debug)]
pub struct Shares {
    started: Instant,
    asked: Asked,
    before: Arc<Asked>,
    /// An even share, computed from the previous window; `None` if that had no calls.
    even: Option<u32>,
    /// The calls that other workers received.
    others: Vec<Arc<Asked>>,
    board: Arc<Board>,
    worker: usize,
}

impl Shares {
    /// No calls yet on a new worker, which shares `board` with the others.
    pub fn new(board: Arc<Board>, now: Instant) -> Self {
        let worker = board.join();
        let (asked, before, even, others) = Default::default();
        Self { started: now, asked, before, even, others, board, worker }
    }

    /// Counts a call whose turn has come.
    pub fn count(&mut self, now: Instant, caller: u64, is_admitted: bool) {
        self.move_on(now);
        let demand = self.asked.callers.entry(caller).or_default();
        demand.asked += 1;
        demand.admitted += u32::from(is_admitted);
        self.asked.admitted += u32::from(is_admitted);
    }

    /// Whether a caller asks for less than an even share of what is served.
    pub fn is_modest(&mut self, now: Instant, caller: u64) -> bool {
        self.move_on(now);
        let here = self.asked.by(caller).asked.max(self.before.by(caller).asked);
        match self.even {
            Some(even) => here + self.others.iter().map(|other| other.by(caller).asked).sum::<u32>() < even,
            None => here < even(self.asked.admitted, self.asked.callers.keys().map(|_| 0)),
        }
    }

    fn move_on(&mut self, now: Instant) {
        let elapsed = now.saturating_duration_since(self.started);
        if elapsed < SHARE_WINDOW {
            return;
        }
        let asked = mem::take(&mut self.asked);
        self.before = if elapsed < 2 * SHARE_WINDOW { Arc::new(asked) } else { Arc::default() };
        self.started = now;
        self.others = self.board.exchange(self.worker, self.before.clone(), now);
        let elsewhere = |caller: &u64| self.others.iter().map(|other| other.by(*caller).admitted).sum();
        let before = &self.before;
        self.even =
            (!before.callers.is_empty()).then(|| even(before.admitted, before.callers.keys().map(elsewhere)));
    }
}

/// Returns the total share of each caller, if `admitted` calls are divided among those that have fewer than the share
/// already; `elsewhere` is the number of calls that each has.
fn even(admitted: u32, elsewhere: impl Iterator<Item = u32>) -> u32 {
    let mut elsewhere: Vec<_> = elsewhere.collect();
    elsewhere.sort_unstable();
    let (mut total, mut share) = (admitted, 0);
    for (has, callers) in elsewhere.into_iter().zip(1..) {
        if callers > 1 && has >= share {
            break;
        }
        total += has;
        share = total / callers;
    }
    share
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOMENT: std::time::Duration = std::time::Duration::from_millis(1);

    #[test]
    fn whoever_asks_for_less_than_others_is_modest() {
        let mut now = Instant::now();
        let mut shares = Shares::new(Arc::default(), now);
        for round in 0..2_000 {
            now += MOMENT;
            (0..9).for_each(|call| shares.count(now, 1, call < 3));
            if round % 4 == 0 {
                assert!(shares.is_modest(now, 2) || round < 10, "{round}");
                shares.count(now, 2, true);
            }
        }
        assert!(!shares.is_modest(now, 1));
    }

    /// Each caller has a tenth of a second for itself.
    #[test]
    fn callers_one_after_another_are_not_alone() {
        let mut now = Instant::now();
        let mut shares = Shares::new(Arc::default(), now);
        let mut modest = 0;
        for call in 0..20_000 {
            now += MOMENT / 10;
            let caller = call / 1_000 % 5;
            let is_modest = shares.is_modest(now, caller);
            modest += u32::from(is_modest && call >= 10_000);
            shares.count(now, caller, is_modest || call % 4 == 0);
        }
        assert!(modest <= 5_000, "{modest}");
    }

    #[test]
    fn an_even_share_counts_what_callers_have_elsewhere() {
        for (admitted, elsewhere, share) in [
            (100, vec![0; 10], 10),
            (100, vec![100], 200),
            (100, vec![0, 50], 75),
            (100, vec![0, 100], 100),
            (100, vec![0, 900], 100),
            (90, vec![900, 0, 30, 0], 40),
            (0, vec![5, 3], 3),
        ] {
            assert_eq!(even(admitted, elsewhere.iter().copied()), share, "{elsewhere:?}");
        }
    }

    #[test]
    fn what_was_asked_for_long_ago_does_not_count() {
        let mut now = Instant::now();
        let mut shares = Shares::new(Arc::default(), now);
        (0..100).for_each(|_| shares.count(now, 1, true));
        shares.count(now, 2, true);
        now += 2 * SHARE_WINDOW;
        assert!(!shares.is_modest(now, 2), "nothing is known of anybody");
    }
}
