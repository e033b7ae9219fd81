//! When a model server is called, and when calls to it are held back.

use std::time::Duration;

use tokio::time::Instant;

/// This many failures in a row open the breaker.
const FAILURES: u32 = 5;
/// How long the breaker is open at first; twice as long after each failed trial.
const OPEN: Duration = Duration::from_secs(5);
/// The longest time that it is open, unless the server asks for more.
const MOST_OPEN: Duration = Duration::from_secs(5 * 60);
/// The longest pause that a server can ask for.
const MOST_ASKED: Duration = Duration::from_secs(60 * 60);
/// How long a conversation waits after its first failure; twice as long after each further one.
const WAIT: Duration = Duration::from_secs(1);
/// The longest wait of a conversation.
const MOST_WAIT: Duration = Duration::from_secs(10 * 60);
/// How soon a conversation claimed by another process is tried again.
const CLAIMED_WAIT: Duration = Duration::from_secs(30);

/// Stops the calls to a server that does not answer. After five failures in a row, it lets a single call
/// through now and then, until one succeeds.
#[derive(Debug, Default)]
pub(crate) struct Breaker {
    failures: u32,
    open_until: Option<Instant>,
    /// Whether a trial call was let through and has not ended.
    trying: bool,
}

impl Breaker {
    /// Whether a call may go out at `now`; if not, returns when to ask again, if known.
    pub(crate) fn allows(&mut self, now: Instant) -> Result<(), Option<Instant>> {
        match self.open_until {
            None => Ok(()),
            Some(_) if self.trying => Err(None),
            Some(until) if now < until => Err(Some(until)),
            Some(_) => {
                self.trying = true;
                Ok(())
            }
        }
    }

    /// Records that a call was answered.
    pub(crate) fn succeeded(&mut self) {
        *self = Self::default();
    }

    /// Records that a call ended in a way that says nothing about the server.
    pub(crate) fn undecided(&mut self) {
        self.trying = false;
    }

    /// Records that a call failed, and that the server asked for a pause of `asked`.
    pub(crate) fn failed(&mut self, now: Instant, asked: Option<Duration>) {
        self.failures = self.failures.saturating_add(1);
        self.trying = false;
        let opens = self.failures.checked_sub(FAILURES).map(|times| doubled(OPEN, times, MOST_OPEN));
        let asked = asked.map(|asked| asked.min(MOST_ASKED));
        if let Some(pause) = opens.max(asked) {
            self.open_until = self.open_until.max(Some(now + pause));
        }
    }

    /// Whether calls are held back.
    pub(crate) fn is_open(&self) -> bool {
        self.open_until.is_some()
    }
}

/// Holds back a conversation after its own failures.
#[derive(Debug, Default)]
pub(crate) struct Backoff {
    failures: u32,
    until: Option<Instant>,
    /// The segment of the last unusable answer, and the number of such answers in a row for it.
    unusable: (u32, u32),
}

impl Backoff {
    /// Returns when the conversation may be tried again; `None` for immediately.
    pub(crate) fn until(&self, now: Instant) -> Option<Instant> {
        self.until.filter(|until| now < *until)
    }

    /// Records a failure.
    pub(crate) fn failed(&mut self, now: Instant) {
        self.until = Some(now + doubled(WAIT, self.failures, MOST_WAIT));
        self.failures = self.failures.saturating_add(1);
    }

    /// Records that another process has claimed the conversation.
    pub(crate) fn claimed(&mut self, now: Instant) {
        self.until = Some(now + CLAIMED_WAIT);
    }

    /// Records an unusable answer for `segment`. Returns the number of such answers in a row.
    pub(crate) fn unusable(&mut self, segment: u32, now: Instant) -> u32 {
        self.failed(now);
        self.unusable = match self.unusable {
            (number, times) if number == segment => (number, times + 1),
            _ => (segment, 1),
        };
        self.unusable.1
    }
}

fn doubled(first: Duration, times: u32, most: Duration) -> Duration {
    first.saturating_mul(1 << times.min(20)).min(most)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_server_that_fails_is_left_alone_for_longer_and_longer() {
        let now = Instant::now();
        let mut breaker = Breaker::default();
        (0..4).for_each(|_| breaker.failed(now, None));
        assert_eq!(breaker.allows(now), Ok(()));
        breaker.failed(now, None);
        assert_eq!(breaker.allows(now), Err(Some(now + OPEN)));
        let later = now + OPEN;
        assert_eq!(breaker.allows(later), Ok(()));
        assert_eq!(breaker.allows(later), Err(None), "one at a time tries");
        breaker.failed(later, None);
        assert_eq!(breaker.allows(later), Err(Some(later + 2 * OPEN)));
        (0..40).for_each(|_| breaker.failed(later, None));
        assert_eq!(breaker.allows(later), Err(Some(later + MOST_OPEN)));
        breaker.succeeded();
        assert!(breaker.allows(later).is_ok() && !breaker.is_open());
    }

    #[tokio::test]
    async fn a_server_that_asks_for_a_pause_gets_it() {
        let now = Instant::now();
        let mut breaker = Breaker::default();
        breaker.failed(now, Some(Duration::from_secs(7)));
        assert_eq!(breaker.allows(now), Err(Some(now + Duration::from_secs(7))));
        breaker.failed(now, Some(Duration::from_secs(1 << 40)));
        assert_eq!(breaker.allows(now), Err(Some(now + MOST_ASKED)));
    }

    #[tokio::test]
    async fn a_trial_that_tells_nothing_leaves_room_for_the_next() {
        let now = Instant::now();
        let mut breaker = Breaker::default();
        (0..5).for_each(|_| breaker.failed(now, None));
        let later = now + OPEN;
        assert!(breaker.allows(later).is_ok());
        breaker.undecided();
        assert!(breaker.allows(later).is_ok());
    }

    #[tokio::test]
    async fn a_conversation_waits_longer_after_each_failure() {
        let now = Instant::now();
        let mut backoff = Backoff::default();
        assert_eq!(backoff.until(now), None);
        assert_eq!(backoff.unusable(3, now), 1);
        assert_eq!(backoff.until(now), Some(now + WAIT));
        assert_eq!(backoff.unusable(3, now), 2);
        assert_eq!(backoff.until(now), Some(now + 2 * WAIT));
        assert_eq!(backoff.unusable(4, now), 1, "of another segment");
        assert_eq!(backoff.until(now + 4 * WAIT), None);
    }
}
