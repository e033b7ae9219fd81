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

/// Times of the updates of a call that are measured: so many in a round.
const CALLS: usize = 20_000;
const ROUNDS: usize = 11;
/// Bytes that are read in between, like those of a call.
const ELSE_READ: usize = 64 << 10;

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
    /// Microseconds that they take on as many threads as a server has by default. Between those of two calls, each thread
    /// reads other memory for `pause`, so that the threads are in each other's way as often as a server's.
    pub fn micros(&self, pause: Duration) -> f64 {
        let name = |number: usize| format!("metric_{number}");
        let counters: Vec<_> = (0..self.counters).map(|number| counter(&name(number), "A number.")).collect();
        let histograms: Vec<_> =
            (0..self.observations).map(|number| seconds(&name(number), "A time.")).collect();
        let update = || {
            counters.iter().for_each(IntCounter::inc);
            histograms.iter().for_each(|histogram| histogram.start_timer().observe_duration());
        };
        median((0..ROUNDS).map(|_| round(&update, pause)).collect())
    }
}

fn round(update: &(impl Fn() + Sync), pause: Duration) -> f64 {
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let begin = Barrier::new(threads);
    let timed = || {
        let else_read = vec![1_u8; ELSE_READ];
        let mut took = Duration::ZERO;
        begin.wait();
        for _ in 0..CALLS {
            let paused = Instant::now();
            while paused.elapsed() < pause {
                black_box(else_read.iter().map(|byte| u64::from(*byte)).sum::<u64>());
            }
            let began = Instant::now();
            update();
            took += began.elapsed();
        }
        took.as_secs_f64() * 1e6 / CALLS as f64
    };
    thread::scope(|scope| {
        let running: Vec<_> = (0..threads).map(|_| scope.spawn(timed)).collect();
        let times = running.into_iter().map(|thread| thread.join().expect("its end"));
        times.fold(0.0, f64::max)
    })
}
