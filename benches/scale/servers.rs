//! One, two and three servers, and what a call costs them and the database.

use crate::{
    calls::{MEMORIZE, Recipients},
    child::ServerProcess,
    database::Database,
    load,
    measured::row,
    memorize::CONVERSATIONS,
    offered::{Load, Target},
    rounds::{Rounds, alternating, round},
    yardstick::Yardstick,
};

pub fn print(database: &Database) {
    let servers = database.servers(3);
    // of their own, so that no server finds what another has changed in between
    let kinds = ["one", "two", "three", "any-two", "any-three"];
    let recipients = kinds.map(|kind| Recipients::new(kind, CONVERSATIONS));
    for of_kind in &recipients {
        load::all(&servers[0].address, MEMORIZE, of_kind.full(), load::IN_FLIGHT);
    }
    let yardstick = Yardstick::of(database, CONVERSATIONS);
    let [one, two, three, any_two, any_three] = &recipients;
    let one = with_affinity(&servers[..1], one);
    let two = with_affinity(&servers[..2], two);
    let three = with_affinity(&servers, three);
    let any_two = in_turn(&servers[..2], any_two);
    let any_three = in_turn(&servers, any_three);
    let [one, two, three, any_two, any_three, pgbench] = alternating([
        &mut || round(database, &one),
        &mut || round(database, &two),
        &mut || round(database, &three),
        &mut || round(database, &any_two),
        &mut || round(database, &any_three),
        &mut || yardstick.round(),
    ]);
    let faster = |several: &Rounds, count: &str, asked: &str| {
        let ratio = several.over(&one, |round| round.rate);
        row(&format!("Memorize, {count} ÷ one, a second"), format!("{ratio:.2}"), asked);
    };
    faster(&two, "two servers", "≥ 1");
    faster(&three, "three servers", "≥ 1");
    faster(&any_two, "two servers, any for each call", "");
    faster(&any_three, "three servers, any for each call", "");
    let costs = |rounds: &Rounds, count: &str, asked: &str| {
        let ratio = rounds.over(&pgbench, |round| round.database);
        row(
            &format!("PostgreSQL's processor time a call ÷ pgbench's, {count}"),
            format!("{ratio:.2}"),
            asked,
        );
    };
    costs(&one, "one server", "≤ 1.3");
    costs(&three, "three servers", "≤ 1.3");
    costs(&any_three, "three servers, any for each call", "");
    one.print("one server");
    two.print("two servers");
    three.print("three servers");
    any_two.print("two servers, any for each call");
    any_three.print("three servers, any for each call");
    pgbench.print("pgbench");
}

/// Each conversation always at the same server.
fn with_affinity<'a>(servers: &'a [ServerProcess], recipients: &'a Recipients) -> Load<'a> {
    Load::new(servers, MEMORIZE, |_, number| {
        let server = number as usize % recipients.count() % servers.len();
        Some(Target { server, request: recipients.saying(number) })
    })
}

/// Each call of a conversation at another server than the one before.
fn in_turn<'a>(servers: &'a [ServerProcess], recipients: &'a Recipients) -> Load<'a> {
    Load::new(servers, MEMORIZE, |_, number| {
        let (times_around, place) =
            (number as usize / recipients.count(), number as usize % recipients.count());
        Some(Target { server: (place + times_around) % servers.len(), request: recipients.saying(number) })
    })
}
