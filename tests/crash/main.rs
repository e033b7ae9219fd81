//! Nothing acknowledged is lost: the built server is killed under load, and its disk is reset to what it
//! might hold after a loss of power; then the server starts again and must have everything that it
//! acknowledged.
//!
//! - [`kill`]: kill -9 at random moments, round after round on one directory.
//! - [`power`]: a loss of power at random moments of such a run, from a log of every write and sync.
//! - [`faults`]: writes and syncs that fail.
//! - [`syncs`]: each reply comes after a sync that follows its write.
//!
//! `UTTERD_CRASH_ROUNDS` sets how many times the server is killed, `UTTERD_CRASH_IMAGES` how many disks are
//! tried. `UTTERD_CRASH_SEED` selects another load and other disks; how far a load gets before a kill is
//! never the same twice. `UTTERD_CRASH_KEEP` names a directory in which disks are kept on which a check
//! failed.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may panic")]

mod check;
mod client;
mod disk;
mod faults;
mod kill;
mod known;
mod ledger;
mod load;
mod log;
mod observed;
mod power;
mod random;
#[cfg(target_os = "linux")]
mod recorder_tests;
mod request;
mod server;
mod syncs;
mod tally;
mod texts;

/// A number from the environment.
fn asked(variable: &str) -> Option<u64> {
    std::env::var(variable).ok().map(|value| match value.parse() {
        Ok(number) => number,
        Err(_) => panic!("{variable} is {value:?}, which is no number"),
    })
}
