//! That nothing acknowledged is lost: the built server is killed under load, and its disk is taken
//! back to what it may hold after a loss of power; then it starts again and has to know everything
//! that it has answered.
//!
//! - [`kill`]: kill -9 at random moments, round after round on one directory.
//! - [`power`]: a loss of power at random moments of such a run, from a log of every write and sync.
//! - [`faults`]: writes and syncs that fail.
//! - [`syncs`]: each reply comes after a sync that follows its write.
//!
//! `UTTERD_CRASH_ROUNDS` sets how many times the server is killed, `UTTERD_CRASH_IMAGES` how many
//! disks are tried. `UTTERD_CRASH_SEED` begins another load and other disks; how far a load gets
//! before a kill is never twice the same. `UTTERD_CRASH_KEEP` names a directory where disks are left
//! on which a check failed.
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

/// A number that the environment may set.
fn asked(variable: &str) -> Option<u64> {
    std::env::var(variable).ok().map(|value| match value.parse() {
        Ok(number) => number,
        Err(_) => panic!("{variable} is {value:?}, which is no number"),
    })
}
