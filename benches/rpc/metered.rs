//! What metrics add to a call. They cannot be turned off, so the updates of a call are counted in the metrics themselves,
//! and the same updates are then timed alone.

use std::{
    collections::HashMap,
    hint::black_box,
    io::{Read as _, Write as _},
    os::unix::net::UnixStream,
    sync::Barrier,
    thread,
    time::{Duration, Instant},
};

use tempfile::TempDir;
use utterd::telemetry::{IntCounter, counter, seconds};

use crate::measured::median;

/// How often each thread makes the updates of a call.
const CALLS: usize = 100_000;
/// Bytes that are read in between, like those of a call.
const OTHER: usize = 64 << 10;

/// Where a server shows its metrics.
pub struct Page(TempDir);

/// The metrics of a server at some time.
pub struct Shown(HashMap<String, f64>);

/// The updates of metrics by one call.
pub struct Updates {
    /// The counters that the calls changed, as if each call changed each.
    pub counters: usize,
    /// Observations of histograms, rounded up.
    pub observations: usize,
}

impl Page {
    pub fn new() -> Self {
        Self(tempfile::tempdir().expect("a directory"))
    }

    /// The setting that makes a server show its metrics here.
    pub fn setting(&self) -> String {
        format!("metrics_listen=unix:{}/metrics", self.0.path().display())
    }

    pub fn read(&self) -> Shown {
        let mut stream = UnixStream::connect(self.0.path().join("metrics")).expect("the metrics");
        stream.write_all(b"GET /metrics HTTP/1.0\r\n\r\n").expect("a request");
        let mut page = String::new();
        stream.read_to_string(&mut page).expect("an answer");
        let samples = page.lines().filter(|line| !line.starts_with('#')).filter_map(|line| {
            let (name, value) = line.rsplit_once(' ')?;
            Some((name.to_owned(), value.parse().ok()?))
        });
        Shown(samples.collect())
    }
}

impl Shown {
    /// The updates of one of the calls since `before`.
    pub fn updates_since(&self, before: &Self) -> Updates {
        let grown = self.0.iter().filter_map(|(name, value)| {
            let more = value - before.0.get(name).copied().unwrap_or(0.0);
            let metric = name.split('{').next()?;
            (more > 0.0 && !metric.starts_with("process_")).then_some((metric, more))
        });
        let grown: Vec<(&str, f64)> = grown.collect();
        let more = |end| grown.iter().filter(move |(metric, _)| metric.ends_with(end)).map(|(_, more)| more);
        let calls: f64 = more("grpc_server_started_total").sum();
        let observations: f64 = more("_count").sum();
        Updates { counters: more("_total").count(), observations: (observations / calls).ceil() as usize }
    }
}

impl Updates {
    /// Microseconds that they take in the median, on as many threads as a server has by default. Between those of two calls,
    /// each thread reads other memory for `pause`, so that the threads are in each other's way as often as a server's.
    pub fn micros(&self, pause: Duration) -> f64 {
        let name = |number: usize| format!("metric_{number}");
        let counters: Vec<_> = (0..self.counters).map(|number| counter(&name(number), "A number.")).collect();
        let histograms: Vec<_> =
            (0..self.observations).map(|number| seconds(&name(number), "A time.")).collect();
        let update = || {
            counters.iter().for_each(IntCounter::inc);
            histograms.iter().for_each(|histogram| histogram.start_timer().observe_duration());
        };
        let threads = thread::available_parallelism().map_or(1, usize::from);
        let begin = Barrier::new(threads);
        let timed = || {
            begin.wait();
            (0..CALLS).map(|_| once(update, pause)).collect::<Vec<f64>>()
        };
        thread::scope(|scope| {
            let running: Vec<_> = (0..threads).map(|_| scope.spawn(timed)).collect();
            median(running.into_iter().flat_map(|thread| thread.join().expect("its end")).collect())
        })
    }
}

/// Microseconds of one `update`, after `pause`.
fn once(update: impl Fn(), pause: Duration) -> f64 {
    let (paused, other) = (Instant::now(), [1_u8; OTHER]);
    while paused.elapsed() < pause {
        black_box(black_box(&other).iter().map(|byte| u64::from(*byte)).sum::<u64>());
    }
    let began = Instant::now();
    update();
    began.elapsed().as_secs_f64() * 1e6
}
