//! The measures, and the table of results.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use utterd::proto::PolicyPreset;

use crate::{
    child::ServerProcess,
    load::{self, Call},
    measured::{Measured, measure, row},
    requests, workload,
};

/// Conversations that calls are spread over.
const CONVERSATIONS: usize = 256;
/// Rounds of each call, and the time of one.
const ROUNDS: usize = 7;
const ROUND: Duration = Duration::from_millis(1_000);
/// Streams of MemorizeStream.
const STREAMS: usize = 8;
/// Utterances of the memory measure.
const MILLION: usize = 1_000_000;

/// Measures everything and prints it.
pub fn run() {
    row("measure (memory store)", "reached", "to reach");
    calls();
    long_conversation();
    long_window();
    memory();
}

fn calls() {
    let server = ServerProcess::start(&[]);
    let unary = workload::unary(&server, CONVERSATIONS);
    let messages = |combine: bool| -> Vec<_> {
        let message = |stream, first| requests::memorize_message(&workload::session(stream), first, combine);
        (0..STREAMS).map(|stream| Arc::new((0..5).map(|first| message(stream, first)).collect())).collect()
    };
    let messages = [messages(false), messages(true)];
    let mut measured: Vec<Measured> = unary.iter().map(|_| Measured::default()).collect();
    let mut streamed = [Measured::default(), Measured::default()];
    for round in 0..=ROUNDS {
        let warm = round > 0;
        for (call, measured) in unary.iter().zip(&mut measured) {
            measure(&server, warm.then_some(measured), || {
                load::unary(&server.address, call, load::IN_FLIGHT, ROUND).a_second()
            });
        }
        for (messages, streamed) in messages.iter().zip(&mut streamed) {
            measure(&server, warm.then_some(streamed), || {
                load::streams(&server.address, requests::MEMORIZE_STREAM, messages, ROUND)
            });
        }
    }
    report(&measured, &streamed);
}

fn report(measured: &[Measured], streamed: &[Measured]) {
    let [empty, session, rolling, capacity, list, context, one, ..] = measured else { return };
    let ratio = |value: f64| format!("{value:.2}");
    row("Memorize (SESSION) ÷ empty unary call, calls a second", ratio(session.over(empty)), "≥ 0.80");
    row("Memorize (ROLLING) ÷ empty unary call, calls a second", ratio(rolling.over(empty)), "≥ 0.62");
    row("Memorize, 64 in flight on one conversation ÷ on many (SESSION)", ratio(one.over(session)), "≥ 0.85");
    row("GetCapacityInfo ÷ empty unary call, calls a second", ratio(capacity.over(empty)), "≥ 0.90");
    row(
        "ListUtterances of a full window ÷ empty unary call, calls a second",
        ratio(list.over(empty)),
        "≥ 0.50",
    );
    row(
        "BuildContext of a full window ÷ empty unary call, calls a second",
        ratio(context.over(empty)),
        "≥ 0.50",
    );
    row("MemorizeStream, 8 streams ÷ Memorize, utterances a second", ratio(streamed[0].over(session)), "≥ 6");
    let added = rolling.micros() - session.micros();
    row("server time of eviction, summary and folding, a Memorize call of ROLLING, µs", ratio(added), "≤ 10");
    let names = workload::NAMES.iter().chain(&["MemorizeStream", "– responses combined"]);
    for (name, measured) in names.zip(measured.iter().chain(streamed)) {
        println!(
            "    {name:<20} {:>9.0} a second {:>7.2} µs of the server's processors",
            measured.rate(),
            measured.micros()
        );
    }
}

/// A call at the 100,000th utterance, compared with calls at about the 100th of other conversations.
fn long_conversation() {
    const ROUNDS: usize = 4_000;
    let server = ServerProcess::start(&[]);
    let short: Vec<_> = (0..ROUNDS).map(|index| format!("short-{index}")).collect();
    workload::create(&server, &short, PolicyPreset::Session);
    workload::create(&server, &["long".to_owned()], PolicyPreset::Session);
    let fill = short.iter().map(|name| requests::memorize(name, 0, 99));
    load::all(&server.address, requests::MEMORIZE, fill, 16);
    let fill = (0..100).map(|batch| requests::memorize("long", batch * 1_000, 1_000));
    load::all(&server.address, requests::MEMORIZE, fill, 1);
    let call = |requests: Vec<Bytes>| Call { path: requests::MEMORIZE, requests: Arc::new(requests) };
    let at_100 = call(short.iter().map(|name| requests::memorize(name, 99, 1)).collect());
    let at_100_000 = call(vec![requests::memorize("long", 0, 1)]);
    let times = load::one_by_one(&server.address, &[at_100, at_100_000], ROUNDS);
    let ratio = times[1].as_secs_f64() / times[0].as_secs_f64();
    row(
        "Memorize at the 100,000th utterance ÷ at the 100th, median time (SESSION)",
        format!("{ratio:.2}"),
        "≤ 1.2",
    );
}

/// A context of 8,000 tokens from a window of 10,000 utterances, compared with one from a window of 100.
fn long_window() {
    const ROUNDS: usize = 1_000;
    let server = ServerProcess::start(&[]);
    let names = ["short", "long"].map(str::to_owned);
    workload::create(&server, &names, PolicyPreset::Session);
    let fill = |name: &str, count: usize| {
        let batches = (0..count / 100).map(|batch| requests::memorize(name, batch * 100, 100));
        load::all(&server.address, requests::MEMORIZE, batches.collect::<Vec<_>>(), 1);
    };
    fill("short", 100);
    fill("long", 10_000);
    let call = |name: &str| Call {
        path: requests::BUILD_CONTEXT,
        requests: Arc::new(vec![requests::build_context(name, Some(8_000))]),
    };
    let times = load::one_by_one(&server.address, &[call("short"), call("long")], ROUNDS);
    let ratio = times[1].as_secs_f64() / times[0].as_secs_f64();
    row(
        "BuildContext of 8,000 tokens: window of 10,000 ÷ window of 100, median time (SESSION)",
        format!("{ratio:.2}"),
        "≤ 3",
    );
}

/// How much a million utterances add to the server's resident memory.
fn memory() {
    const BATCH: usize = 500;
    let server = ServerProcess::start(&[]);
    let names: Vec<_> = (0..64).map(|index| format!("session-{index}")).collect();
    workload::create(&server, &names, PolicyPreset::Session);
    let warm = names.iter().map(|name| requests::memorize(name, 0, BATCH));
    load::all(&server.address, requests::MEMORIZE, warm, 8);
    let before = server.resident();
    let batches = (0..MILLION / BATCH).map(|batch| requests::memorize(&names[batch % names.len()], 0, BATCH));
    load::all(&server.address, requests::MEMORIZE, batches, 8);
    let added = (server.resident() - before) as f64 / MILLION as f64 - requests::mean_text_bytes();
    row(
        "resident memory for each of 1,000,000 utterances beyond its text, bytes (SESSION)",
        format!("{added:.0}"),
        "≤ 250",
    );
}
