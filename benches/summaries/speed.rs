//! What a summary costs.

use std::{hint::black_box, sync::Arc, time::Instant};

use utterd::domain::Utterance;

use crate::{conversations::transcripts, this};

/// Each figure is the best of so many runs.
const RUNS: usize = 50;

/// Prints the time that a summary of 300 tokens takes.
pub fn print() {
    println!("\n{:<22}{:>14}{:>14}{:>14}", "best of 50, µs", "20 utterances", "200", "1,000");
    for (name, file) in [("tau", "tau-airline"), ("coding session", "pi-coding")] {
        let all: Vec<_> = transcripts(&[file]).into_iter().flat_map(|one| one.0).collect();
        if !all.is_empty() {
            let figures = [20, 200, 1_000].map(|count| format!("{:>14.0}", micros(&all, count)));
            println!("{name:<22}{}", figures.concat());
        }
    }
}

fn micros(all: &[Arc<Utterance>], count: usize) -> f64 {
    let source: Vec<_> = all.iter().cycle().take(count).cloned().collect();
    let timed = |_| {
        let start = Instant::now();
        black_box(this(black_box(&source), 300));
        start.elapsed()
    };
    (0..RUNS).map(timed).min().unwrap_or_default().as_secs_f64() * 1e6
}
