//! Reads through one server, compared with an empty query by pgbench.

use utterd::proto::PolicyPreset;

use crate::{
    calls::{GET_CAPACITY, MEMORIZE},
    database::Database,
    load,
    measured::row,
    memorize::CONVERSATIONS,
    offered::{Load, Target},
    pgbench::Script,
    requests,
    rounds::{alternating, round},
};

pub fn print(database: &Database) {
    let servers = database.servers(1);
    let names: Vec<_> = (0..CONVERSATIONS).map(|index| format!("reads-{index}")).collect();
    let created: Vec<_> = names.iter().map(|name| requests::create(name, PolicyPreset::Rolling)).collect();
    load::all(&servers[0].address, requests::CREATE, created, load::IN_FLIGHT);
    let full: Vec<_> = names.iter().map(|name| requests::memorize(name, 0, 40)).collect();
    load::all(&servers[0].address, MEMORIZE, full, load::IN_FLIGHT);
    let asked: Vec<_> = names.iter().map(|name| requests::get_capacity(name)).collect();
    let reads = Load::new(&servers, GET_CAPACITY, |_, number| {
        Some(Target { server: 0, request: asked[number as usize % asked.len()].clone() })
    });
    let empty = Script::new("SELECT 1;\n");
    let [reads, empty] = alternating([&mut || round(database, &reads), &mut || empty.round(database, &[])]);
    let ratio = reads.over(&empty, |round| round.rate);
    row("GetCapacityInfo, one server ÷ SELECT 1 by pgbench, a second", format!("{ratio:.2}"), "≥ 0.8");
    reads.print("GetCapacityInfo");
    empty.print("SELECT 1 by pgbench");
}
