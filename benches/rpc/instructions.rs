//! The instructions that a server executes for a call. Unlike times, they hardly depend on what else the machine does.

use std::path::Path;

use crate::{child::ServerProcess, load, measured::row, workload};

/// Conversations that calls are spread over.
const CONVERSATIONS: usize = 16;
/// Calls in flight.
const IN_FLIGHT: usize = 4;
/// Calls that are not counted, and calls that are.
const WARM: usize = 500;
const COUNTED: usize = 1_000;

/// Counts the instructions of each call with valgrind, and prints them.
pub fn run() {
    row("instructions of the server, thousands a call", "counted", "to reach");
    let log = std::env::temp_dir().join(format!("utterd-instructions-{}", std::process::id()));
    let to_reach = ["50", "85", "125", "", "", "", "", "", ""];
    for (call, (name, to_reach)) in workload::NAMES.iter().zip(to_reach).enumerate() {
        let [few, many] = [WARM, WARM + COUNTED].map(|count| counted(call, count, &log));
        row(&format!("  {name}"), format!("{:.1}", (many - few) as f64 / COUNTED as f64 / 1e3), to_reach);
    }
    let _ = std::fs::remove_file(log);
}

/// The instructions of a server from its start to its end that answers `count` of a kind of call.
fn counted(call: usize, count: usize, log: &Path) -> u64 {
    let server = ServerProcess::counted(log);
    let call = &workload::unary(&server, CONVERSATIONS)[call];
    let requests = call.requests.iter().cycle().take(count).cloned();
    load::all(&server.address, call.path, requests, IN_FLIGHT);
    server.end();
    let log = std::fs::read_to_string(log).expect("valgrind's log");
    let counted = log.lines().find_map(|line| line.split_once("I   refs:")).expect("the count").1;
    counted.trim().replace(',', "").parse().expect("a number")
}
