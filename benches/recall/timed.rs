//! How long something takes.

use std::{
    hint::black_box,
    time::{Duration, Instant},
};

/// The duration of `work`, and its result.
pub fn timed<T>(work: impl FnOnce() -> T) -> (Duration, T) {
    let start = Instant::now();
    let made = black_box(work());
    (start.elapsed(), made)
}

/// The shortest of this many runs.
pub fn least<T>(runs: usize, mut work: impl FnMut() -> T) -> Duration {
    (0..runs).map(|_| timed(&mut work).0).min().unwrap_or_default()
}

/// Durations, ascending.
pub struct Times(Vec<Duration>);

impl FromIterator<Duration> for Times {
    fn from_iter<I: IntoIterator<Item = Duration>>(durations: I) -> Self {
        let mut sorted: Vec<Duration> = durations.into_iter().collect();
        sorted.sort_unstable();
        Self(sorted)
    }
}

impl Times {
    pub fn median(&self) -> Duration {
        self.0[self.0.len() / 2]
    }

    pub fn p99(&self) -> Duration {
        self.0[self.0.len() * 99 / 100]
    }
}

/// In microseconds.
pub fn micros(duration: Duration) -> String {
    format!("{:.1} µs", duration.as_secs_f64() * 1e6)
}

/// In milliseconds.
pub fn millis(duration: Duration) -> String {
    format!("{:.1} ms", duration.as_secs_f64() * 1e3)
}
