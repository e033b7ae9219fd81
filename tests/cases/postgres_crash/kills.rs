//! kill -9 of servers and of the database, under load, round after round.

use std::{cell::Cell, sync::Arc};

use tokio::{runtime::Builder, sync::Notify};
use tokio_postgres::NoTls;

use crate::{
    crash::{
        check::check,
        ledger::Ledger,
        load::{self, Watch},
        server::spin,
        tally::Tally,
    },
    postgres_crash::{
        callers::{Done, Talk, Work, talks},
        calls::{hello, hellos},
        fleet::{Fleet, is_unavailable, runtime, within},
        rounds, shared, show,
    },
    support::{postgres::Cluster, random::Random},
};

/// After a kill, the file system is synced at once, and not file by file, which takes seconds.
const SETTINGS: [(&str, &str); 1] = [("recovery_init_sync_method", "syncfs")];
/// Servers that share a database.
const SERVERS: usize = 3;
/// The most connections of each to the database.
const CONNECTIONS: usize = 16;
/// Maximum answers from the beginning of a round to a kill.
const ANSWERS: usize = 60;
/// Answers after what was killed is back.
const MORE: usize = 20;
/// Maximum spins from an answer to the kill: a few milliseconds.
const SPINS: usize = 200_000;
/// Conversations of the callers that make every call.
const CALLERS: usize = 9;

/// One or two of three servers are killed, and others answer for them.
pub fn servers_are_killed() -> Result<(), String> {
    let cluster = shared()?;
    let (rounds, mut random) = (rounds(3), super::random());
    let (mut done, mut all) = (Done::default(), Vec::new());
    runtime().block_on(async {
        let fleet = Fleet::start(&vec![cluster.url(); SERVERS], CONNECTIONS).await;
        for round in 0..rounds {
            let talks = talks(&fleet, &format!("round-{round}")).await;
            let work = Work::begin(&fleet, &talks, &mut random);
            work.goes_on(random.between(1, ANSWERS)).await;
            let first = random.below(SERVERS);
            let second = random.percent(30).then_some((first + 1) % SERVERS);
            for victim in [Some(first), second].into_iter().flatten() {
                spin(random.below(SPINS));
                fleet.kill(victim);
            }
            for victim in [Some(first), second].into_iter().flatten() {
                fleet.restart(victim).await;
            }
            work.goes_on(MORE).await;
            done += work.ends().await;
            check_all(&fleet, &talks).await;
            all.extend(talks);
        }
        check_all(&fleet, &all).await;
    });
    show(&format!("servers killed in {rounds} rounds: {done}"));
    Ok(())
}

/// What callers do with their own conversations, as in the tests of the stores in files: they also forget, restore,
/// delete and stream. What a killed server had not answered is repeated on another one.
pub fn servers_are_killed_under_every_call() -> Result<(), String> {
    let cluster = shared()?;
    let (rounds, mut random) = (rounds(3), super::random());
    let (mut ledger, mut tally) = (Ledger::new(CALLERS, 0), Tally::default());
    let runtime = Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let (database, connection) =
            tokio_postgres::connect(&cluster.url(), NoTls).await.expect("a connection");
        tokio::spawn(connection);
        let urls: Vec<_> = (0..SERVERS).map(|_| cluster.url()).collect();
        let fleet = Fleet::start(&urls, CONNECTIONS).await;
        for round in 0..=rounds {
            let addresses = fleet.addresses();
            let asked = &addresses[random.below(SERVERS)];
            let checked = within("a check", check(asked, &mut ledger, &mut random, &())).await;
            tally += checked.unwrap_or_else(|error| panic!("round {round}: {error}"));
            let victim = random.below(SERVERS);
            work_until_killed(&fleet, victim, &mut ledger, &mut random).await;
            let name = Fleet::name(victim);
            within("the end of what the server had begun", has_ended(&database, &name)).await;
            fleet.restart(victim).await;
        }
    });
    tally.acknowledged = ledger.answered();
    show(&format!("servers killed under every call: {}", Tally { crashes: rounds as usize, ..tally }));
    Ok(())
}

/// The database is killed and restarted, while the servers stay.
pub fn the_database_is_killed() -> Result<(), String> {
    let mut cluster = Cluster::start(&SETTINGS)?;
    let (rounds, mut random) = (rounds(3), super::random());
    let (mut done, mut all) = (Done::default(), Vec::new());
    runtime().block_on(async {
        let fleet = Fleet::start(&vec![cluster.url(); SERVERS], CONNECTIONS).await;
        fleet.expect_outages();
        for round in 0..rounds {
            let talks = talks(&fleet, &format!("round-{round}")).await;
            let work = Work::begin(&fleet, &talks, &mut random);
            work.goes_on(random.between(1, ANSWERS)).await;
            spin(random.below(SPINS));
            cluster.kill();
            are_unavailable(&fleet).await;
            cluster.restart();
            are_back(&fleet).await;
            work.goes_on(MORE).await;
            done += work.ends().await;
            check_all(&fleet, &talks).await;
            all.extend(talks);
        }
        check_all(&fleet, &all).await;
    });
    show(&format!("the database killed in {rounds} rounds: {done}"));
    Ok(())
}

/// The database is killed, and its synchronous standby takes its place.
pub fn a_standby_takes_over() -> Result<(), String> {
    let mut primary = Cluster::start(&SETTINGS)?;
    let (rounds, mut random) = (rounds(1), super::random());
    let mut done = Done::default();
    for _ in 0..rounds {
        let mut standby = primary.standby()?;
        primary.wait_for_standby(true);
        let url =
            format!("postgres://utterd@127.0.0.1:{},127.0.0.1:{}/postgres", primary.port(), standby.port());
        runtime().block_on(async {
            let fleet = Fleet::start(&vec![url; SERVERS], CONNECTIONS).await;
            fleet.expect_outages();
            let talks = talks(&fleet, "talk").await;
            let work = Work::begin(&fleet, &talks, &mut random);
            work.goes_on(random.between(1, ANSWERS)).await;
            spin(random.below(SPINS));
            primary.kill();
            are_unavailable(&fleet).await;
            standby.promote();
            are_back(&fleet).await;
            work.goes_on(MORE).await;
            done += work.ends().await;
            check_all(&fleet, &talks).await;
        });
        primary = standby;
    }
    show(&format!("a standby took over in {rounds} rounds: {done}"));
    Ok(())
}

async fn check_all(fleet: &Fleet, talks: &[Arc<Talk>]) {
    for talk in talks {
        talk.check(fleet).await;
    }
}

/// Every server answers that it cannot answer, and reports it.
async fn are_unavailable(fleet: &Fleet) {
    for number in 0..fleet.size() {
        is_unavailable(hello(fleet.client(number))).await;
        is_unavailable(hellos(fleet.client(number))).await;
        fleet.does_not_serve(number).await;
    }
}

/// Every server serves again.
async fn are_back(fleet: &Fleet) {
    for number in 0..fleet.size() {
        fleet.serves(number).await;
    }
}

/// Lets callers work on all servers; one of these is killed slightly after some calls are answered.
async fn work_until_killed(fleet: &Fleet, victim: usize, ledger: &mut Ledger, random: &mut Random) {
    let (answers, spins) = (random.between(1, 2 * ANSWERS), random.below(SPINS));
    let fuse = Fuse { left: Cell::new(answers), reached: Notify::new(), is_over: Cell::new(false) };
    let addresses = fleet.addresses();
    let addresses: Vec<_> = addresses.iter().map(String::as_str).collect();
    let kill = async {
        fuse.reached.notified().await;
        spin(spins);
        fleet.kill(victim);
        fuse.is_over.set(true);
    };
    let work = load::work(&addresses, ledger, random, &fuse);
    within("the calls before a kill", async { tokio::join!(work, kill) }).await;
}

/// Waits until the database has ended everything of a server that is gone.
async fn has_ended(database: &tokio_postgres::Client, name: &str) {
    let sql = "SELECT count(*) FROM pg_stat_activity WHERE application_name = $1";
    while database.query_one(sql, &[&name]).await.expect("an answer").get::<_, i64>(0) > 0 {}
}

/// Counts answers down to the kill.
struct Fuse {
    left: Cell<usize>,
    reached: Notify,
    is_over: Cell<bool>,
}

impl Watch for Fuse {
    fn answered(&self, _: &str) {
        self.left.set(self.left.get().wrapping_sub(1));
        if self.left.get() == 0 {
            self.reached.notify_one();
        }
    }

    fn is_over(&self) -> bool {
        self.is_over.get()
    }
}
