//! Stores in files, as their operators see them: damaged files, and stores of the first format.
//!
//! - [`damage`]: files are cut, flipped, zeroed, swapped and removed; a server reports it or has lost
//!   nothing.
//! - [`fixture`]: a store of each kind, kept in `tests/fixtures`, still has its data.
//! - [`recipient`]: no file contains anything of a deleted recipient.
//!
//! `UTTERD_DAMAGE_CASES` sets how many times each store is damaged, `UTTERD_DAMAGE_SEED` how.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may panic")]

mod answers;
mod call;
mod damage;
mod files;
mod fixture;
mod home;
mod json;
mod life;
#[path = "../crash/random.rs"]
#[allow(dead_code, reason = "each test uses its part")]
mod random;
mod recipient;
#[path = "../support/mod.rs"]
mod support;

/// A number from the environment.
fn asked(variable: &str) -> Option<u64> {
    std::env::var(variable).ok().map(|value| match value.parse() {
        Ok(number) => number,
        Err(_) => panic!("{variable} is {value:?}, which is no number"),
    })
}
