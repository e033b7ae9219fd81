//! The engine in a simulated world: clients that give up and retry, a store that fails and loses answers,
//! processes that are killed, a clock that jumps, a model that writes summaries, all derived from one seed.
//!
//! Each change that takes effect in the store must be what a call asks for; the naive world, which shares no code
//! with the server, does the same, and must then be what is stored. Every answer is compared with it. Calls arrive
//! through the server's layers that admit and end them, in every other run under limits or in a crowd.
//!
//! - [`world`]: the processes, the store that they share, and the record of the calls
//! - [`disk`], [`port`], [`place`], [`faults`], [`stranger`]: the store, in memory or in files, and what goes wrong
//!   with it; [`teller`]: the model
//! - [`client`], [`habits`], [`plan`], [`drafts`], [`calls`]: who calls, what they do often, what is called and
//!   said, and how
//! - [`door`], [`house`]: the server's own layers that admit and end calls, and their limits; [`crowd`]: who
//!   wants more than there is; [`shares`]: who has how much of it
//! - [`naive`]: the naive world; [`ledger`]: what took effect, and the naive world that follows it; [`checks`]: the
//!   invariants of the answers; [`rest`]: those of the final state
//! - [`story`], [`tell`]: what happened, in a readable form; [`dice`], [`clock`], [`moment`]: randomness,
//!   time and waiting, determined by the seed
//!
//! `UTTERD_SIM_SEED=17 cargo test --features full --test simulation` runs one seed and prints its story;
//! `UTTERD_SIM_SEEDS=20000` runs more of them, from `UTTERD_SIM_FIRST` on;
//! `UTTERD_SIM_WITHOUT=refuse,flush,lose,panic,stranger,kill` leaves out faults, to see which of them a failure
//! needs.
#![allow(clippy::expect_used, clippy::unwrap_used, reason = "a test may panic")]

mod calls;
mod checks;
mod client;
mod clock;
mod crowd;
mod dice;
mod disk;
mod door;
mod drafts;
mod faults;
mod habits;
mod house;
mod ledger;
mod moment;
mod naive;
mod place;
mod plan;
mod port;
mod rest;
mod run;
mod shares;
mod story;
mod stranger;
mod tell;
mod teller;
mod world;

use std::collections::BTreeMap;

use run::run;

/// Seeds per test, unless the environment sets another number.
const SEEDS: u64 = 50;
/// Runs in which calls were never answered: they are always tried.
const DEADLOCKS: [u64; 1] = [701_714];

#[test]
fn one_engine_tells_the_truth() {
    check(1);
}

#[test]
fn two_engines_tell_the_truth() {
    check(2);
}

#[test]
fn the_same_seed_is_the_same_run() {
    for (seed, hosts) in (1..=10).flat_map(|seed| [(seed, 1), (seed, 2)]) {
        let (once, again) = (run(seed, hosts).story, run(seed, hosts).story);
        let parted = once.lines().zip(again.lines()).find(|(line, other)| line != other);
        assert_eq!(parted, None, "seed {seed} is not the same twice");
        assert_eq!(once, again, "seed {seed} is not the same twice");
    }
}

/// Runs the seeds, or the one that the environment names.
fn check(hosts: usize) {
    let number = |name: &str| std::env::var(name).ok().map(|text| text.parse().expect("a number"));
    if let Some(seed) = number("UTTERD_SIM_SEED") {
        let ended = run(seed, hosts);
        println!("{}", ended.story);
        assert!(ended.wrongs.is_empty(), "{}", report(seed, &ended.wrongs));
        return;
    }
    let (mut failed, first) = (BTreeMap::new(), number("UTTERD_SIM_FIRST").unwrap_or(1));
    for seed in DEADLOCKS.into_iter().chain(first..first + number("UTTERD_SIM_SEEDS").unwrap_or(SEEDS)) {
        let ended = run(seed, hosts);
        if !ended.wrongs.is_empty() {
            failed.insert(seed, ended);
        }
    }
    let Some((seed, first)) = failed.iter().next() else { return };
    for (seed, ended) in &failed {
        ended.wrongs.iter().for_each(|wrong| println!("seed {seed}: {}: {}", wrong.rule, wrong.how));
    }
    println!("\nthe story of seed {seed}\n{}", first.story);
    panic!("{} seeds fail; of the first:\n{}", failed.len(), report(*seed, &first.wrongs));
}

/// The violations in a run, and how to run it again.
fn report(seed: u64, wrongs: &[checks::Wrong]) -> String {
    let wrongs = wrongs.iter().map(|wrong| format!("- {}: {}\n", wrong.rule, wrong.how));
    let wrongs: String = wrongs.collect();
    format!("{wrongs}UTTERD_SIM_SEED={seed} cargo test --features full --test simulation -- --nocapture")
}
