//! Writes through one server, compared with the same work done by pgbench.

use crate::{
    calls::{MEMORIZE, Recipients},
    database::Database,
    load,
    measured::row,
    offered::{Load, Target},
    rounds::{alternating, round},
    yardstick::Yardstick,
};

/// Conversations that calls are spread over.
pub const CONVERSATIONS: usize = 1_024;

pub fn print(database: &Database) {
    let servers = database.servers(1);
    let recipients = Recipients::new("memorize", CONVERSATIONS);
    load::all(&servers[0].address, MEMORIZE, recipients.full(), load::IN_FLIGHT);
    let yardstick = Yardstick::of(database, CONVERSATIONS);
    let said = Load::new(&servers, MEMORIZE, |_, number| {
        Some(Target { server: 0, request: recipients.saying(number) })
    });
    let [memorize, pgbench] = alternating([&mut || round(database, &said), &mut || yardstick.round()]);
    let ratio = memorize.over(&pgbench, |round| round.rate);
    row("Memorize (ROLLING), one server ÷ pgbench, a second", format!("{ratio:.2}"), "≥ 0.6");
    let ratio = memorize.over(&pgbench, |round| round.database);
    row("Memorize, PostgreSQL's processor time a call ÷ pgbench's", format!("{ratio:.2}"), "≤ 1.3");
    memorize.print("Memorize");
    pgbench.print("pgbench");
}
