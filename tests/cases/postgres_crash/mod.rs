//! Nothing acknowledged is lost or doubled by servers that share a database in PostgreSQL, and they come back by
//! themselves: servers and databases are killed under load, and the network between them fails.
//!
//! - [`kills`]: kill -9 of servers and of the database, at random moments, round after round.
//! - [`network`]: connections that are slow, cut or silent, and answers that are lost.
//! - [`refusals`]: a database that accepts no connections, or no writes.
//!
//! `UTTERD_CRASH_ROUNDS` sets how many times each is killed, and shows what was done. `UTTERD_CRASH_SEED` selects
//! another load. Where PostgreSQL is not installed, all are ignored; if `CI` is set, they fail.

mod callers;
mod calls;
mod fleet;
mod history;
mod kills;
mod network;
mod refusals;

use std::sync::OnceLock;

use libtest_mimic::Trial;

use crate::{
    support::{
        asked,
        postgres::{Cluster, FAST},
        random::Random,
    },
    trials_of,
};

pub fn trials() -> Vec<Trial> {
    let tests = named![
        kills::servers_are_killed,
        kills::servers_are_killed_under_every_call,
        kills::the_database_is_killed,
        kills::a_standby_takes_over,
        network::packets_are_late,
        network::connections_are_cut,
        network::answers_to_commits_are_lost,
        network::an_answer_is_lost_with_the_database,
        network::commits_are_lost,
        network::notifications_are_lost,
        network::an_idle_server_notices_what_happens,
        network::nothing_arrives_for_a_while,
        refusals::the_database_is_full_of_connections,
        refusals::the_database_becomes_read_only,
    ];
    trials_of("postgres_crash", &tests)
}

/// The cluster of the tests that leave it alone. The server that `UTTERD_TEST_POSTGRES` names is
/// not used: schemas would stay there.
fn shared() -> Result<&'static Cluster, String> {
    static SHARED: OnceLock<Result<Cluster, String>> = OnceLock::new();
    SHARED.get_or_init(|| Cluster::start(&FAST)).as_ref().map_err(Clone::clone)
}

/// How often something is killed: `few` times, unless the environment sets another number.
fn rounds(few: u64) -> u64 {
    asked("UTTERD_CRASH_ROUNDS").unwrap_or(few)
}

/// The random numbers of a test.
fn random() -> Random {
    Random::new(asked("UTTERD_CRASH_SEED").unwrap_or(1))
}

/// Shows what was done in more rounds than usual.
fn show(what: &str) {
    if asked("UTTERD_CRASH_ROUNDS").is_some() {
        println!("{what}");
    }
}
