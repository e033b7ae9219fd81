//! How many times in turn a write waits for the database.

use std::{
    collections::BTreeMap,
    thread,
    time::{Duration, Instant},
};

use http::uri::PathAndQuery;
use tonic::{Request, client::Grpc};

use crate::{
    calls::{MEMORIZE, Recipients},
    child::ServerProcess,
    database::{self, Database},
    forwarder::Forwarder,
    load::{self, Raw, connect, runtime},
    measured::{median, row},
    trips::Trip,
};

/// Conversations that only warm the connections up, and those that are measured.
const WARMING: usize = 100;
const MEASURED: usize = 200;
/// Few connections, so that each soon has its statements.
const CONNECTIONS: usize = 4;
/// Nothing was sent for so long: a call has no more to do.
const QUIET: Duration = Duration::from_millis(10);

pub fn print(database: &Database) {
    let cluster = database.cluster();
    let forwarder = Forwarder::to(cluster.address());
    let mut arguments = database::through(&forwarder.url(&cluster.url(), cluster.port()));
    arguments.push(format!("database_connections={CONNECTIONS}"));
    let [warming, measured] =
        [("warming", WARMING), ("measured", MEASURED)].map(|(kind, count)| Recipients::new(kind, count));

    let server = ServerProcess::start(&arguments);
    for recipients in [&warming, &measured] {
        load::all(&server.address, MEMORIZE, recipients.full(), load::IN_FLIGHT);
    }
    each(&server, &forwarder, &warming);
    let warm = each(&server, &forwarder, &measured);
    drop(server);
    let server = ServerProcess::start(&arguments);
    each(&server, &forwarder, &warming);
    let cold = each(&server, &forwarder, &measured);

    let trips = |calls: &[Call]| median(calls.iter().map(|call| call.in_turn() as f64).collect());
    row("round trips of a Memorize, one after the other: warm", trips(&warm), "1");
    row(
        "round trips of a Memorize, one after the other: of a server's first to a conversation",
        trips(&cold),
        "2",
    );
    show("warm", &warm);
    show("first", &cold);
}

/// The round trips of a call.
struct Call {
    answered: Instant,
    trips: Vec<Trip>,
}

impl Call {
    /// The longest chain of round trips that began after the end of the one before, before the call was
    /// answered. What the servers tell each other does not count: no call waits for it.
    fn in_turn(&self) -> usize {
        let counted =
            self.trips.iter().filter(|trip| !trip.prepares && !is_hint(trip) && trip.sent < self.answered);
        let mut chains: Vec<(Instant, usize)> = Vec::new();
        for trip in counted {
            let before = chains.iter().filter(|(end, _)| *end <= trip.sent).map(|(_, length)| *length);
            let length = before.max().unwrap_or(0) + 1;
            chains.push((trip.answered.unwrap_or(self.answered), length));
        }
        chains.iter().map(|(_, length)| *length).max().unwrap_or(0)
    }
}

fn is_hint(trip: &Trip) -> bool {
    trip.runs.iter().all(|sql| sql.contains("pg_notify"))
}

/// Says something to each recipient, one after the other.
fn each(server: &ServerProcess, forwarder: &Forwarder, recipients: &Recipients) -> Vec<Call> {
    let one_by_one = async {
        let mut client = Grpc::new(connect(&server.address).await);
        let mut calls = Vec::new();
        for number in 0..recipients.count() as u64 {
            forwarder.take();
            client.ready().await.expect("a connection");
            let (request, path) =
                (Request::new(recipients.saying(number)), PathAndQuery::from_static(MEMORIZE));
            client.unary(request, path, Raw).await.expect("an answer");
            let answered = Instant::now();
            thread::sleep(QUIET);
            while !forwarder.is_idle() {
                thread::sleep(QUIET);
            }
            calls.push(Call { answered, trips: forwarder.take() });
        }
        calls
    };
    runtime().block_on(one_by_one)
}

/// Prints what the calls sent, by statement.
fn show(name: &str, calls: &[Call]) {
    let mut times = BTreeMap::<String, usize>::new();
    for trip in calls.iter().flat_map(|call| &call.trips) {
        let prepares = if trip.prepares { "prepares, " } else { "" };
        let runs: Vec<_> = trip.runs.iter().map(|sql| named(sql)).collect();
        *times.entry(format!("{prepares}{}", runs.join("; "))).or_default() += 1;
    }
    for (statements, times) in times {
        println!("    {name}: {:>6.2} times a call {statements}", times as f64 / calls.len() as f64);
    }
}

/// The first table that a statement writes, or else reads; and how.
fn named(sql: &str) -> String {
    let words: Vec<&str> = sql.split_whitespace().collect();
    let after = |first: &str| {
        let place = words.iter().position(|word| *word == first)?;
        let table = words[place + 1..].iter().find(|word| !matches!(**word, "INTO" | "FROM"))?;
        Some(format!("{first} {table}"))
    };
    let hint = || sql.contains("pg_notify").then(|| "NOTIFY".to_owned());
    let found = hint().or_else(|| after("UPDATE")).or_else(|| after("INSERT")).or_else(|| after("DELETE"));
    found.or_else(|| after("FROM")).unwrap_or_else(|| words.into_iter().take(6).collect::<Vec<_>>().join(" "))
}
