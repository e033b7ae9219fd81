//! Which callers ask for less than an even share.

use std::mem;

use rustc_hash::FxHashMap;
use tokio::time::Instant;

use crate::domain::limits::SHARE_WINDOW;

/// What callers ask for, in windows of half a second: a worker reads one connection after another, so in a shorter
/// window each caller would seem to be alone.
#[derive(Debug)]
pub struct Shares {
    started: Instant,
    asked: Asked,
    before: Asked,
}

/// What was asked for in one window.
#[derive(Debug, Default)]
struct Asked {
    callers: FxHashMap<u64, u32>,
    admitted: u32,
}

impl Shares {
    /// No calls yet.
    pub fn new(now: Instant) -> Self {
        let (asked, before) = Default::default();
        Self { started: now, asked, before }
    }

    /// Counts a call whose turn has come.
    pub fn count(&mut self, now: Instant, caller: u64, is_admitted: bool) {
        self.move_on(now);
        *self.asked.callers.entry(caller).or_default() += 1;
        self.asked.admitted += u32::from(is_admitted);
    }

    /// Whether a caller asks for less than an even share of what is served.
    pub fn is_modest(&mut self, now: Instant, caller: u64) -> bool {
        self.move_on(now);
        let even = if self.before.callers.is_empty() { self.asked.even() } else { self.before.even() };
        self.asked.by(caller).max(self.before.by(caller)) < even
    }

    fn move_on(&mut self, now: Instant) {
        let elapsed = now.saturating_duration_since(self.started);
        if elapsed >= SHARE_WINDOW {
            self.before = mem::take(&mut self.asked);
            self.started = now;
        }
        if elapsed >= 2 * SHARE_WINDOW {
            self.before = Asked::default();
        }
    }
}

impl Asked {
    fn by(&self, caller: u64) -> u32 {
        self.callers.get(&caller).copied().unwrap_or(0)
    }

    fn even(&self) -> u32 {
        self.admitted / u32::try_from(self.callers.len()).unwrap_or(u32::MAX).max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOMENT: std::time::Duration = std::time::Duration::from_millis(1);

    #[test]
    fn whoever_asks_for_less_than_others_is_modest() {
        let mut now = Instant::now();
        let mut shares = Shares::new(now);
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
        let mut shares = Shares::new(now);
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
    fn what_was_asked_for_long_ago_does_not_count() {
        let mut now = Instant::now();
        let mut shares = Shares::new(now);
        (0..100).for_each(|_| shares.count(now, 1, true));
        shares.count(now, 2, true);
        now += 2 * SHARE_WINDOW;
        assert!(!shares.is_modest(now, 2), "nothing is known of anybody");
    }
}
