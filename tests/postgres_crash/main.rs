//! Nothing acknowledged is lost or doubled by servers that share a database in PostgreSQL, and they come back by
//! themselves: servers and databases are killed under load, and the network between them fails.
//!
//! - [`kills`]: kill -9 of servers and of the database, at random moments, round after round.
//! - [`network`]: connections that are slow, cut or silent, and answers that are lost.
//! - [`refusals`]: a database that accepts no connections, or no writes.
//!
//! `UTTERD_CRASH_ROUNDS` sets how many times each is killed, and shows what was done. `UTTERD_CRASH_SEED` selects
//! another load. Where PostgreSQL is not installed, all are ignored; if `CI` is set, they fail.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may panic")]

mod callers;
mod calls;
#[path = "../crash/check.rs"]
mod check;
#[path = "../crash/client.rs"]
mod client;
#[path = "../support/faults.rs"]
mod faults;
mod fleet;
mod history;
mod kills;
#[path = "../crash/known.rs"]
mod known;
#[allow(dead_code)] // these tests need only a part
#[path = "../crash/ledger.rs"]
mod ledger;
#[path = "../crash/load.rs"]
mod load;
mod network;
#[path = "../crash/observed.rs"]
mod observed;
#[path = "../support/postgres/mod.rs"]
mod postgres;
#[path = "../crash/random.rs"]
mod random;
mod refusals;
#[path = "../crash/request.rs"]
mod request;
#[allow(dead_code)] // these tests need only a part
#[path = "../crash/server.rs"]
mod server;
#[path = "../crash/tally.rs"]
mod tally;
#[path = "../crash/texts.rs"]
mod texts;

use std::{env, process::ExitCode, sync::OnceLock};

use libtest_mimic::{Arguments, Completion, Trial};

use postgres::{Cluster, FAST};

/// A test. The error says why there is no PostgreSQL.
type Test = fn() -> Result<(), String>;

const TESTS: [(&str, Test); 14] = [
    ("servers_are_killed", kills::servers_are_killed),
    ("servers_are_killed_under_every_call", kills::servers_are_killed_under_every_call),
    ("the_database_is_killed", kills::the_database_is_killed),
    ("a_standby_takes_over", kills::a_standby_takes_over),
    ("packets_are_late", network::packets_are_late),
    ("connections_are_cut", network::connections_are_cut),
    ("answers_to_commits_are_lost", network::answers_to_commits_are_lost),
    ("an_answer_is_lost_with_the_database", network::an_answer_is_lost_with_the_database),
    ("commits_are_lost", network::commits_are_lost),
    ("notifications_are_lost", network::notifications_are_lost),
    ("an_idle_server_notices_what_happens", network::an_idle_server_notices_what_happens),
    ("nothing_arrives_for_a_while", network::nothing_arrives_for_a_while),
    ("the_database_is_full_of_connections", refusals::the_database_is_full_of_connections),
    ("the_database_becomes_read_only", refusals::the_database_becomes_read_only),
];

/// Tests at the same time: they mostly wait.
const THREADS: usize = 6;

fn main() -> ExitCode {
    let mut arguments = Arguments::from_args();
    arguments.test_threads.get_or_insert(THREADS);
    let trials = TESTS.map(|(name, test)| {
        Trial::ignorable_test(name, move || match test() {
            Ok(()) => Ok(Completion::Completed),
            Err(reason) if env::var_os("CI").is_some() => Err(reason.into()),
            Err(reason) => Ok(Completion::ignored_with(reason)),
        })
    });
    libtest_mimic::run(&arguments, trials.into()).exit_code()
}

/// The cluster of the tests that leave it alone. The server that `UTTERD_TEST_POSTGRES` names is
/// not used: schemas would stay there.
fn shared() -> Result<&'static Cluster, String> {
    static SHARED: OnceLock<Result<Cluster, String>> = OnceLock::new();
    SHARED.get_or_init(|| Cluster::start(&FAST)).as_ref().map_err(Clone::clone)
}

/// A number from the environment.
fn asked(variable: &str) -> Option<u64> {
    env::var(variable).ok().map(|value| match value.parse() {
        Ok(number) => number,
        Err(_) => panic!("{variable} is {value:?}, which is no number"),
    })
}

/// How often something is killed: `few` times, unless the environment sets another number.
fn rounds(few: u64) -> u64 {
    asked("UTTERD_CRASH_ROUNDS").unwrap_or(few)
}

/// The random numbers of a test.
fn random() -> random::Random {
    random::Random::new(asked("UTTERD_CRASH_SEED").unwrap_or(1))
}

/// Shows what was done in more rounds than usual.
fn show(what: &str) {
    if asked("UTTERD_CRASH_ROUNDS").is_some() {
        println!("{what}");
    }
}
