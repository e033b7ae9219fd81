//! What the store is known to contain, and how recent that knowledge is.

use std::{mem, time::Duration};

/// A value in the store, as last seen by this process.
///
/// All times are those of [`Clock::elapsed`](crate::Clock::elapsed) before a request to the store, so
/// the answer is no older than its time.
#[derive(Clone, Debug, Default)]
pub struct Confirmed<T> {
    pub value: T,
    /// When the store was last asked and had the value; `None` if the value may be older than a commit of
    /// this process.
    asked: Option<Duration>,
    replacements: u64,
}

impl<T> Confirmed<T> {
    /// Replaces the value by one that was read from the store, or committed to it, after `asked`. Returns the
    /// previous value.
    pub fn replace(&mut self, value: T, asked: Option<Duration>) -> T {
        self.asked = asked;
        self.replacements += 1;
        mem::replace(&mut self.value, value)
    }

    /// Notes that the store still had the `seen` value when it was asked, unless the value was replaced
    /// since.
    pub fn confirm(&mut self, seen: &Self, asked: Duration) {
        if self.is_as(seen) {
            self.asked = self.asked.max(Some(asked));
        }
    }

    /// Whether the value was not replaced since it was `seen`.
    pub fn is_as(&self, seen: &Self) -> bool {
        self.replacements == seen.replacements
    }

    /// Whether the store had the value less than `max_staleness` before `now`; never if that is zero.
    pub fn is_fresh(&self, max_staleness: Duration, now: Duration) -> bool {
        self.asked.is_some_and(|asked| now.saturating_sub(asked) < max_staleness)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn a_value_is_fresh_for_a_time_after_the_question() {
        let mut known = Confirmed::<&str>::default();
        assert!(!known.is_fresh(Duration::MAX, SECOND), "nothing was asked");
        known.replace("a", Some(SECOND));
        assert!(!known.is_fresh(Duration::ZERO, SECOND));
        assert!(known.is_fresh(SECOND, SECOND * 3 / 2));
        assert!(!known.is_fresh(SECOND, SECOND * 2));
        known.confirm(&known.clone(), SECOND * 2);
        known.confirm(&known.clone(), SECOND);
        assert!(known.is_fresh(SECOND, SECOND * 5 / 2), "the last question counts");
        known.replace("b", None);
        assert!(!known.is_fresh(Duration::MAX, SECOND * 2));
    }

    #[test]
    fn an_answer_confirms_only_what_was_there_before_the_question() {
        let mut known = Confirmed::default();
        known.replace("a", None);
        let seen = known.clone();
        known.replace("b", None);
        known.replace("a", None);
        known.confirm(&seen, SECOND);
        assert!(!known.is_fresh(Duration::MAX, SECOND));
    }
}
