//! Detects that requests arrive faster than a store serves them.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use utterd_domain::limits::{LEAST_OVERLOAD, OVERLOAD_WINDOW, STANDING_WAIT};

/// Whether what serves a queue of requests is behind.
///
/// - It is behind once a request has waited longer than [`STANDING_WAIT`], and at least as many requests wait behind
///   it as waited before it: a long queue that is shrinking does not count, so a burst is served, whatever its size.
///   Nor does a queue of fewer than [`LEAST_OVERLOAD`] requests count.
/// - It has caught up once no caller was refused between two requests served, and the second has waited less than
///   [`OVERLOAD_WINDOW`].
#[derive(Default)]
pub(crate) struct Overload {
    is_behind: AtomicBool,
    /// Whether a caller was refused since the last request was served.
    was_told: AtomicBool,
}

impl Overload {
    /// Whether new requests should be refused, if `too_many` wait.
    pub(crate) fn refuses(&self, too_many: bool) -> bool {
        let refuses = self.is_behind.load(Ordering::Relaxed) && too_many;
        if refuses {
            self.was_told.store(true, Ordering::Relaxed);
        }
        refuses
    }

    /// Notes that a request is served: it has `waited`, with `before` others waiting when it came and `behind` others
    /// after it now.
    pub(crate) fn note(&self, waited: Duration, before: usize, behind: usize) {
        let is_long = before.max(behind) >= LEAST_OVERLOAD as usize;
        let was_told = self.was_told.swap(false, Ordering::Relaxed);
        if waited > STANDING_WAIT && is_long && behind >= before {
            self.is_behind.store(true, Ordering::Relaxed);
        } else if waited < OVERLOAD_WINDOW && !was_told {
            self.is_behind.store(false, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MANY: usize = 1_000;

    #[test]
    fn a_burst_is_served() {
        let overload = Overload::default();
        overload.note(10 * STANDING_WAIT, MANY, MANY - 1);
        assert!(!overload.refuses(true));
    }

    #[test]
    fn a_few_that_wait_for_long_are_not_too_many() {
        let overload = Overload::default();
        overload.note(10 * STANDING_WAIT, 10, 20);
        assert!(!overload.refuses(true));
    }

    #[test]
    fn it_has_caught_up_when_nobody_was_refused() {
        let overload = Overload::default();
        overload.note(2 * STANDING_WAIT, MANY, 4 * MANY);
        assert!(!overload.refuses(false), "few wait now");
        assert!(overload.refuses(true));
        overload.note(Duration::ZERO, 0, 0);
        assert!(overload.refuses(true), "somebody was refused before that request was served");
        overload.note(OVERLOAD_WINDOW, 0, 0);
        overload.note(Duration::ZERO, 0, 0);
        assert!(!overload.refuses(true));
    }
}
