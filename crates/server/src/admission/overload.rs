//! Decides whether a worker is overloaded.

use std::time::Duration;

use tokio::time::Instant;

use utterd_domain::limits::{OVERLOAD_WAIT, STANDING_WAIT};

/// How long the calls of one worker wait for its thread. It has no clock: callers pass the time.
///
/// - Nothing is late while a long queue gets shorter again: so a burst of many calls is served, and so are thousands of
///   callers that each wait for an answer before they call again.
/// - The worker is overloaded after a [`STANDING_WAIT`] in which every call waited for longer than that. Then a call is
///   late if it waited longer than [`OVERLOAD_WAIT`].
/// - The overload ends after a [`STANDING_WAIT`] in which no call was late.
#[derive(Debug)]
pub struct Overload {
    is_on: bool,
    /// The beginning of the current period.
    started: Instant,
    /// The shortest wait of a call in it; `None` if there was none.
    least_wait: Option<Duration>,
    was_late: bool,
}

impl Overload {
    /// A new worker, at `now`.
    pub fn new(now: Instant) -> Self {
        Self { is_on: false, started: now, least_wait: None, was_late: false }
    }

    /// Notes that a call has its turn after it `waited`; returns whether it is late.
    pub fn is_late(&mut self, now: Instant, waited: Duration) -> bool {
        if now.saturating_duration_since(self.started) >= STANDING_WAIT {
            self.start_period(now);
        }
        self.least_wait = Some(self.least_wait.map_or(waited, |least| least.min(waited)));
        let is_late = self.is_on && waited > OVERLOAD_WAIT;
        self.was_late |= is_late;
        is_late
    }

    fn start_period(&mut self, now: Instant) {
        let is_on = if self.is_on { self.was_late } else { self.least_wait > Some(STANDING_WAIT) };
        if is_on != self.is_on {
            tracing::warn!(
                is_overloaded = is_on,
                "calls that wait too long for a worker are refused, or no longer"
            );
        }
        *self = Self { is_on, ..Self::new(now) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOMENT: Duration = Duration::from_millis(1);

    /// Serves calls for `time`, of which so many arrive each millisecond, and one is served; returns the late ones.
    fn serve(
        queue: &mut Vec<Instant>,
        overload: &mut Overload,
        now: &mut Instant,
        arrive: usize,
        time: u32,
    ) -> u32 {
        let mut late = 0;
        for _ in 0..time {
            *now += MOMENT;
            queue.extend(std::iter::repeat_n(*now, arrive));
            while !queue.is_empty() {
                let came = queue.remove(0);
                match overload.is_late(*now, *now - came) {
                    true => late += 1,
                    false => break,
                }
            }
        }
        late
    }

    #[test]
    fn what_waits_too_long_is_late_until_the_overload_is_over() {
        let mut now = Instant::now();
        let (mut overload, mut queue) = (Overload::new(now), Vec::new());
        assert_eq!(serve(&mut queue, &mut overload, &mut now, 1, 2_000), 0);
        let late = serve(&mut queue, &mut overload, &mut now, 4, 4_000);
        assert!((10_000..13_000).contains(&late), "{late} of 16,000");
        assert!(queue.len() < 500, "{} wait", queue.len());
        serve(&mut queue, &mut overload, &mut now, 0, 1_000);
        assert_eq!(serve(&mut queue, &mut overload, &mut now, 1, 2_000), 0);
        assert!(!overload.is_on);
    }

    #[test]
    fn a_burst_is_served() {
        let mut now = Instant::now();
        let (mut overload, mut queue) = (Overload::new(now), vec![now; 900]);
        assert_eq!(serve(&mut queue, &mut overload, &mut now, 0, 900), 0);
    }
}
