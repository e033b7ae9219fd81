//! Servers that share a PostgreSQL, compared with pgbench on the same cluster in the same run.
//!
//! `cargo bench --bench scale` starts a cluster that waits for the disk as usual, starts servers as separate
//! processes, loads them from this one, and prints ratios. Rounds of what is compared alternate, so that a
//! machine that slows down slows both; each figure is the median of its rounds. `-- memorize` and the like
//! measure one part:
//!
//! - *memorize*: writes through one server, compared with the same work done by pgbench
//! - *round_trips*: how many times in turn a write waits for the database, on a server's first write to a
//!   conversation and on later ones
//! - *servers*: one, two and three servers, and what a call costs them and the database
//! - *hot*: one conversation that three servers write at the same time
//! - *reads*: reads through one server, compared with an empty query by pgbench
//! - *million*: the memory of a server whose database holds a million conversations, or as many as the number
//!   after it says; only if named
//!
//! An argument such as `database_connections=32` is a setting of the servers.
#![allow(clippy::disallowed_methods, clippy::expect_used)] // A bench measures time, and can panic.

mod calls;
#[allow(dead_code, reason = "other benches look at more")]
#[path = "../rpc/child.rs"]
mod child;
mod database;
#[path = "../rpc/empty.rs"]
mod empty;
mod forwarder;
mod hot;
#[allow(dead_code, reason = "other benches load one server at a time")]
#[path = "../rpc/load.rs"]
mod load;
#[allow(dead_code, reason = "other benches measure a server alone")]
#[path = "../rpc/measured.rs"]
mod measured;
mod memorize;
mod million;
mod offered;
mod pgbench;
#[path = "../../tests/support/postgres/mod.rs"]
mod postgres;
mod reads;
#[allow(dead_code, reason = "other benches send more")]
#[path = "../rpc/requests.rs"]
mod requests;
mod round_trips;
mod rounds;
mod servers;
mod trips;
mod yardstick;

use database::Database;

/// The same as in the server's own program.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The parts that are measured unless some are named.
const USUAL: [&str; 5] = ["memorize", "round_trips", "servers", "hot", "reads"];
const MILLION: &str = "million";

fn main() {
    let mut arguments = std::env::args().skip(1);
    match arguments.next().as_deref() {
        Some(child::SERVE) => child::serve(arguments),
        _ => measure(),
    }
}

fn measure() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let is_named = |part: &&str| words.iter().any(|word| word == part);
    let named: Vec<&str> = USUAL.into_iter().chain([MILLION]).filter(is_named).collect();
    let parts = if named.is_empty() { USUAL.to_vec() } else { named };
    // one for each part, so that none finds the tables that another has filled
    for (place, part) in parts.into_iter().enumerate() {
        let database = match Database::start() {
            Ok(database) => database,
            Err(reason) => return println!("nothing is measured: {reason}"),
        };
        if place == 0 {
            measured::row("measure (PostgreSQL)", "reached", "to reach");
        }
        match part {
            "memorize" => memorize::print(&database),
            "round_trips" => round_trips::print(&database),
            "servers" => servers::print(&database),
            "hot" => hot::print(&database),
            "reads" => reads::print(&database),
            _ => million::print(&database, words.iter().find_map(|word| word.parse().ok())),
        }
    }
}
