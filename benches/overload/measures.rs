//! The measures, and the table of results.

use std::{sync::Arc, thread, time::Duration};

use utterd::proto::PolicyPreset;

use crate::{
    child::ServerProcess,
    load::{self, Call},
    offered::{self, Offered, Turned, percentile},
    requests,
};

const CONVERSATIONS: usize = 256;
const CONNECTIONS: usize = 32;
/// Utterances per call: it costs most of a millisecond, many times the cost of sending and refusing it.
const BATCH: usize = 100;
/// The load is steady this long after it began.
const SETTLED: Duration = Duration::from_secs(2);
const FOR_EVER: Duration = Duration::MAX;

/// Measures the named backends, or both.
pub fn run(arguments: &[String]) {
    let quick = arguments.iter().any(|argument| argument == "quick");
    let unit = Duration::from_millis(if quick { 1_000 } else { 3_000 });
    let is_asked = |backend: &&str| {
        arguments.iter().all(|argument| argument == "quick")
            || arguments.iter().any(|argument| argument == backend)
    };
    for backend in ["in-memory", "fjall"].iter().filter(|backend| is_asked(backend)) {
        measure(backend, unit);
    }
}

fn measure(backend: &str, unit: Duration) {
    let directory = tempfile::tempdir().expect("a directory");
    let mut settings = vec![format!("backend={backend}"), "workers=1".to_owned()];
    if backend != "in-memory" {
        settings.push(format!("data_dir={}", directory.path().display()));
    }
    let server = ServerProcess::start(&settings);
    let call = prepared(&server);
    let capacity = load::unary(&server.address, &call, load::IN_FLIGHT, unit).a_second();
    println!("{backend}: capacity {capacity:.0} calls a second, {BATCH} utterances each, 64 in flight");
    let half = ramp(&server, &call, capacity, unit);
    waiting(&server, &call, capacity, unit);
    greedy(&server, &call, half, unit);
}

/// A call that memorizes in full windows.
fn prepared(server: &ServerProcess) -> Call {
    let names: Vec<_> = (0..CONVERSATIONS).map(|index| format!("c{index}")).collect();
    let create: Vec<_> = names.iter().map(|name| requests::create(name, PolicyPreset::Rolling)).collect();
    load::all(&server.address, requests::CREATE, create, 64);
    let call = names.iter().map(|name| requests::memorize(name, 0, BATCH)).collect();
    let call = Call { path: requests::MEMORIZE, requests: Arc::new(call) };
    load::unary(&server.address, &call, load::IN_FLIGHT, Duration::from_millis(500));
    call
}

/// Offers half the capacity, four times as much, and half again; returns the 99th percentile for the first
/// half.
fn ramp(server: &ServerProcess, call: &Call, capacity: f64, unit: Duration) -> Duration {
    let offer =
        |share: f64, time| offered::open_loop(&server.address, call, capacity * share, time, CONNECTIONS);
    let half = offer(0.5, unit * 2);
    tell("half", &half, Duration::ZERO, capacity);
    let before = server.resident();
    let four = offer(4.0, SETTLED + unit * 2);
    tell("4 times, its first 2 s", &first(&four), Duration::ZERO, capacity);
    tell("4 times, then", &four, SETTLED, capacity);
    let grown = server.resident().saturating_sub(before) >> 20;
    let after = offer(0.5, unit * 2);
    let p99 = |load: &Offered, from| percentile(&load.answered(from, FOR_EVER), 99);
    let (calm, loaded) = (p99(&half, Duration::ZERO), p99(&four, SETTLED));
    row("p99 of what is admitted at 4 times ÷ at half", format!("{:.1}", ratio(loaded, calm)), "≤ 3");
    row("time until p99 is within 3 times that of half again, s", recovery(&after, calm * 3), "≤ 2");
    row("resident memory that the overload added, MiB", grown.to_string(), "≤ 256");
    calm
}

/// Only the first part of a load.
fn first(load: &Offered) -> Offered {
    let ended = load.ended.iter().filter(|ended| ended.due < SETTLED);
    let ended =
        ended.map(|ended| offered::Ended { due: ended.due, took: ended.took, result: ended.result.clone() });
    Offered { ended: ended.collect(), time: SETTLED }
}

/// Callers that wait as long as they are told, 300 ms on average: enough of them to want four times the
/// capacity.
fn waiting(server: &ServerProcess, call: &Call, capacity: f64, unit: Duration) {
    let callers = (capacity * 4.0 * 0.3) as usize;
    let how = (Duration::ZERO, Turned::Waits);
    let load = offered::callers(&server.address, call, (callers, CONNECTIONS), how, SETTLED + unit);
    tell(&format!("{callers} callers that heed RetryInfo, then"), &load, SETTLED, capacity);
}

/// A caller with 4,000 calls in flight on one connection that retries immediately, next to one that calls now
/// and then.
fn greedy(server: &ServerProcess, call: &Call, calm: Duration, unit: Duration) {
    let time = SETTLED + unit;
    let (greedy, modest) = thread::scope(|scope| {
        let greedy = scope.spawn(|| {
            let how = (Duration::ZERO, Turned::Insists);
            offered::callers(&server.address, call, (4_000, 1), how, time)
        });
        let how = (Duration::from_millis(5), Turned::Insists);
        let modest = offered::callers(&server.address, call, (1, 1), how, time);
        (greedy.join().expect("its end"), modest)
    });
    let (all, served) = (modest.ended.len(), modest.answered(Duration::ZERO, FOR_EVER));
    let share = |count: usize, of: usize| format!("{:.1} %", 100.0 * count as f64 / of.max(1) as f64);
    row("a modest caller beside a greedy one: answered", share(served.len(), all), "all");
    let slow = ratio(percentile(&served, 99), calm);
    row("its p99 ÷ that at half load", format!("{slow:.1}"), "stated");
    let refused = greedy.refused(Duration::ZERO, FOR_EVER).len();
    row("the greedy one: turned away", share(refused, greedy.ended.len()), "stated");
}

fn tell(name: &str, load: &Offered, from: Duration, capacity: f64) {
    let (answered, refused) = (load.answered(from, FOR_EVER), load.refused(from, FOR_EVER));
    let seconds = load.time.saturating_sub(from).as_secs_f64();
    let all = (answered.len() + refused.len()).max(1) as f64;
    let (failed, one) = load.failed();
    let how =
        one.map(|status| format!(", such as {:?}: {}", status.code(), status.message())).unwrap_or_default();
    let ms = |times: &[Duration], percent| percentile(times, percent).as_secs_f64() * 1e3;
    println!(
        "    {name:<40} offered {:.2} of capacity; served {:.2}, p50 {:.1} ms, p99 {:.1} ms; refused {:.0} %, p50 {:.1} ms, p99 {:.1} ms; failed {failed}{how}",
        all / seconds / capacity,
        answered.len() as f64 / seconds / capacity,
        ms(&answered, 50),
        ms(&answered, 99),
        100.0 * refused.len() as f64 / all,
        ms(&refused, 50),
        ms(&refused, 99),
    );
}

/// The time from which the 99th percentile of each quarter of a second stays within `bound`.
fn recovery(load: &Offered, bound: Duration) -> String {
    const SLICE: Duration = Duration::from_millis(250);
    let slices = (load.time.as_millis() / SLICE.as_millis()) as u32;
    let is_over = |slice: &u32| percentile(&load.answered(SLICE * *slice, SLICE * (*slice + 1)), 99) > bound;
    match (0..slices).rev().find(is_over) {
        Some(last) if last + 1 == slices => format!("more than {:.1}", load.time.as_secs_f64()),
        Some(last) => format!("{:.2}", (SLICE * (last + 1)).as_secs_f64()),
        None => "0.00".to_owned(),
    }
}

fn ratio(one: Duration, other: Duration) -> f64 {
    one.as_secs_f64() / other.as_secs_f64().max(1e-9)
}

fn row(measure: &str, reached: String, to_reach: &str) {
    println!("    {measure:<66} {reached:>12}   {to_reach}");
}
