//! The memory of a server whose database holds many conversations.

use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use crate::{
    calls::{self, GET_CAPACITY, MEMORIZE},
    database::Database,
    measured::row,
    offered::{Load, Target},
    requests,
    rounds::tell_refusals,
};

const MILLION: u64 = 1_000_000;
/// Reads after the start.
const READS: u64 = 100_000;
/// Utterances of a conversation.
const SAID: usize = 2;
/// How often the progress is told.
const STEP: u64 = 50_000;
/// Longer than anything takes.
const ENOUGH: Duration = Duration::from_secs(24 * 3_600);

/// `count` conversations, a million by default.
pub fn print(database: &Database, count: Option<u64>) {
    let count = count.unwrap_or(MILLION);
    fill(database, count);
    let servers = database.servers(1);
    let after_start = servers[0].resident();
    let asked = AtomicU64::new(0);
    let reads = Load::new(&servers, GET_CAPACITY, |_, _| {
        let number = asked.fetch_add(1, Ordering::Relaxed);
        (number < READS)
            .then(|| Target { server: 0, request: calls::get_capacity(&name(mixed(number) % count)) })
    });
    tell_refusals(&reads.run(ENOUGH));
    let (after_reads, mib) =
        (servers[0].resident(), |bytes: u64| format!("{:.0}", bytes as f64 / 1_048_576.0));
    let of = format!("resident memory with {count} conversations, MiB");
    row(&format!("{of}: after a start"), mib(after_start), "≤ 256");
    row(&format!("{of}: after {READS} random reads"), mib(after_reads), "≤ 256");
    let stored = database.cluster().psql(
        "SELECT (SELECT count(*) FROM utterd.conversations), pg_size_pretty(pg_database_size(current_database()))",
    );
    let (conversations, size) = stored.split_once('|').expect("two columns");
    println!("    {conversations} conversations are {size} of the database");
}

/// Makes the conversations, without waiting for the disk.
fn fill(database: &Database, count: u64) {
    let waits = |waits: &str| {
        let sql = format!("ALTER SYSTEM SET synchronous_commit = '{waits}'");
        database.cluster().psql(&sql);
        database.cluster().psql("SELECT pg_reload_conf()");
    };
    waits("off");
    let servers = database.servers(1);
    let fill = Load::new(&servers, MEMORIZE, |_, number| {
        if number < count && number.is_multiple_of(STEP) {
            eprintln!("    {number} of {count} conversations");
        }
        (number < count)
            .then(|| Target { server: 0, request: requests::memorize_by_recipient(&name(number), 0, SAID) })
    });
    tell_refusals(&fill.run(ENOUGH));
    waits("on");
}

fn name(number: u64) -> String {
    format!("recipient-{number}")
}

/// A number that looks random (splitmix64).
fn mixed(number: u64) -> u64 {
    let mixed = number.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ (mixed >> 31)
}
