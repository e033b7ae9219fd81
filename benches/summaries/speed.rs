//! What a summary costs.

use std::{
    hint::black_box,
    sync::Arc,
    time::{Duration, Instant},
};

use utterd::domain::Utterance;

use crate::{conversations::transcripts, table::Table, this};

/// Runs per figure.
const RUNS: usize = 50;

/// Prints the time that a summary of 300 tokens takes.
pub fn print() {
    let columns = ["20 utterances", "200", "1,000"];
    let mut table = Table::new("best / median of 50, µs, at 300").columns(columns);
    for (name, file) in [("service", "tau-airline"), ("coding session", "pi-coding")] {
        let all: Vec<_> = transcripts(&[file]).into_iter().flat_map(|one| one.0).collect();
        if !all.is_empty() {
            table.row(name, [20, 200, 1_000].map(|count| figure(&all, count)));
        }
    }
    table.row("to reach", ["≤ 200", "", "≤ 10,000"].map(str::to_owned));
    table.print();
}

fn figure(all: &[Arc<Utterance>], count: usize) -> String {
    let source: Vec<_> = all.iter().cycle().take(count).cloned().collect();
    let mut times: Vec<Duration> = (0..RUNS).map(|_| timed(&source)).collect();
    times.sort_unstable();
    format!("{} / {}", times[0].as_micros(), times[RUNS / 2].as_micros())
}

fn timed(source: &[Arc<Utterance>]) -> Duration {
    let start = Instant::now();
    black_box(this(black_box(source), 300));
    start.elapsed()
}
