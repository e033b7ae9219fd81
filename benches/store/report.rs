//! Prints the measures: next to their targets, and store by store.

use std::time::Duration;

use utterd::store::durable::EngineKind;

use crate::{
    Plan,
    filled::{self, Filled, UTTERANCES},
    measured::{Measured, median, row},
    name,
    raw::RECORD_BYTES,
    rounds::{self, Bare, Loaded},
    texts::Texts,
};

/// Measures everything and prints it.
pub fn run(plan: &Plan) {
    let (loaded, bare) = rounds::run(plan);
    print_disk(&bare);
    let Some((memory, durable)) = loaded.split_first() else { return };
    for store in durable {
        print_rounds(store, memory, &bare);
    }
    let texts = Texts::new();
    let filled: Vec<_> = loaded.iter().map(|store| filled::run(store.engine, plan, &texts)).collect();
    println!("\ntexts: {}, {:.0} bytes in the mean", texts.source, mean_bytes(&texts, plan));
    for store in &filled {
        print_filled(store, plan);
    }
    println!();
    print_table(&loaded, &filled, plan);
}

fn mean_bytes(texts: &Texts, plan: &Plan) -> f64 {
    let count = plan.conversations / 2 * UTTERANCES;
    texts.bytes(count) as f64 / count as f64
}

fn print_disk(bare: &Bare) {
    let syncs = || bare.crowded.iter().map(|round| round.syncs);
    let (fewest, most) = (syncs().fold(f64::INFINITY, f64::min), syncs().fold(0.0, f64::max));
    let records = median(bare.crowded.iter().map(|round| round.records).collect());
    let alone = median(bare.alone.iter().map(|round| round.seconds).collect()) * 1e6;
    println!(
        "bare disk: 64 records of {RECORD_BYTES} bytes a write are synced {fewest:.0} to {most:.0} times a second, \
         in the middle {records:.0} records a second; a write of one and its sync take {alone:.0} µs\n"
    );
}

/// Prints the results of a durable store, compared with the memory store and the bare disk.
fn print_rounds(store: &Loaded, memory: &Loaded, bare: &Bare) {
    let engine = name(store.engine);
    let calls = &store.calls;
    let only_fjall = |to_reach| if store.engine == Some(EngineKind::Fjall) { to_reach } else { "stated" };
    row(&format!("measure ({engine}, each reply after its flush)"), "reached", "to reach");
    row(
        "Memorize ÷ the lesser of the memory store's and 64 raw records a write and sync",
        ratio(over_lesser(&calls.session.rates, &memory.calls.session.rates, bare)),
        only_fjall("≥ 0.50"),
    );
    row(
        "the same with ROLLING and full windows",
        ratio(over_lesser(&calls.rolling.rates, &memory.calls.rolling.rates, bare)),
        "stated",
    );
    row(
        "MemorizeStream, 8 streams ÷ Memorize, utterances a second",
        ratio(calls.streamed.over(&calls.session.rates)),
        "≥ 6",
    );
    let alone = calls.alone.halves().iter().zip(&bare.alone);
    row(
        "one caller: p50 of Memorize ÷ p50 of a raw write and sync",
        ratio(median(alone.map(|(half, raw)| half / raw.seconds).collect())),
        "≤ 2.2",
    );
}

/// The median of the ratios of adjacent rounds.
fn over_lesser(rates: &Measured, memory: &Measured, bare: &Bare) -> f64 {
    let lesser = memory.rates().iter().zip(&bare.crowded).map(|(memory, raw)| memory.min(raw.records));
    median(rates.rates().iter().zip(lesser).map(|(rate, lesser)| rate / lesser).collect())
}

fn print_filled(store: &Filled, plan: &Plan) {
    let Some(files) = &store.files else { return };
    let all = grouped(plan.conversations);
    row(&format!("measure ({})", name(store.engine)), "reached", "to reach");
    row(
        "ListUtterances of a full window: cold conversation ÷ warm",
        ratio(files.cold.as_secs_f64() / files.warm.as_secs_f64()),
        "stated",
    );
    row(
        &format!("opening a store with {all} conversations × {UTTERANCES} utterances, s"),
        format!("{:.2}", files.open.as_secs_f64()),
        "≤ 5",
    );
    row(
        &format!("bytes on disk ÷ bytes of text, {} utterances, scrubbed", grouped(held(plan))),
        ratio(files.bytes_of_text),
        "≤ 4",
    );
}

/// Prints a column for each store.
fn print_table(loaded: &[Loaded], filled: &[Filled], plan: &Plan) {
    let names = loaded.iter().map(|store| format!(" {} |", name(store.engine)));
    println!("| |{}", names.collect::<String>());
    println!("|---|{}", "---|".repeat(loaded.len()));
    let calls = |title: &str, cell: &dyn Fn(&rounds::Calls) -> String| {
        print_line(title, loaded.iter().map(|store| cell(&store.calls)));
    };
    calls("Memorize a second, 64 in flight", &|calls| rate(&calls.session.rates));
    calls("– latency: p50, p99, worst", &|calls| times(&calls.session));
    calls("– CPU time of the server, µs a call", &|calls| micros(&calls.session.rates));
    calls("the same, ROLLING with full windows", &|calls| rate(&calls.rolling.rates));
    calls("– CPU time of the server, µs a call", &|calls| micros(&calls.rolling.rates));
    calls("MemorizeStream, 8 streams, utterances a second", &|calls| rate(&calls.streamed));
    calls("– CPU time of the server, µs an utterance", &|calls| micros(&calls.streamed));
    calls("Memorize a second, one caller", &|calls| rate(&calls.alone.rates));
    calls("– latency: p50, p99, worst", &|calls| times(&calls.alone));
    let resident = |store: &Filled| format!("{} MiB", store.resident >> 20);
    let title = format!("memory of the server with {} utterances", grouped(held(plan)));
    print_line(&title, filled.iter().map(resident));
    let files = |title: &str, cell: &dyn Fn(&filled::Files) -> String| {
        print_line(title, filled.iter().map(|store| store.files.as_ref().map_or("–".to_owned(), cell)));
    };
    files("ListUtterances of a cold conversation, of a warm one", &|files| {
        format!("{}, {}", time(files.cold), time(files.warm))
    });
    let title = format!("opening with {} utterances", grouped(plan.conversations * UTTERANCES));
    files(&title, &|files| time(files.open));
    files("bytes on disk per byte of text", &|files| ratio(files.bytes_of_text));
    let title = format!("scrub of {} utterances", grouped(held(plan)));
    files(&title, &|files| time(files.scrub));
}

fn print_line(title: &str, cells: impl Iterator<Item = String>) {
    println!("| {title} | {} |", cells.collect::<Vec<_>>().join(" | "));
}

/// The number of utterances of a filled store.
fn held(plan: &Plan) -> usize {
    plan.conversations / 2 * UTTERANCES
}

fn ratio(value: f64) -> String {
    format!("{value:.2}")
}

fn rate(measured: &Measured) -> String {
    grouped(measured.rate() as usize)
}

fn micros(measured: &Measured) -> String {
    format!("{:.1}", measured.micros())
}

fn times(timed: &rounds::Timed) -> String {
    format!("{}, {}, {}", time(timed.half()), time(timed.most()), time(timed.worst()))
}

fn time(time: Duration) -> String {
    match time.as_secs_f64() {
        seconds if seconds < 0.001 => format!("{:.0} µs", seconds * 1e6),
        seconds if seconds < 1.0 => format!("{:.1} ms", seconds * 1e3),
        seconds => format!("{seconds:.1} s"),
    }
}

/// A number with thousands separators.
fn grouped(number: usize) -> String {
    match number {
        0..1_000 => number.to_string(),
        _ => format!("{},{:03}", grouped(number / 1_000), number % 1_000),
    }
}
