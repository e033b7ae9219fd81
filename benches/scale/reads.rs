//! Reads through one server, compared with an empty query by pgbench.

use bytes::Bytes;
use utterd::proto::PolicyPreset;

use crate::{
    calls::{GET_CAPACITY, MEMORIZE, get_older_capacity},
    database::Database,
    empty, load,
    measured::row,
    memorize::CONVERSATIONS,
    offered::{Load, Target},
    pgbench::Script,
    requests,
    rounds::{Round, alternating, round},
};

pub fn print(database: &Database) {
    let servers = database.servers(1);
    let names: Vec<_> = (0..CONVERSATIONS).map(|index| format!("reads-{index}")).collect();
    let created: Vec<_> = names.iter().map(|name| requests::create(name, PolicyPreset::Rolling)).collect();
    load::all(&servers[0].address, requests::CREATE, created, load::IN_FLIGHT);
    let full: Vec<_> = names.iter().map(|name| requests::memorize(name, 0, 40)).collect();
    load::all(&servers[0].address, MEMORIZE, full, load::IN_FLIGHT);
    let [newest, older] = [requests::get_capacity, get_older_capacity]
        .map(|request| names.iter().map(|name| request(name)).collect::<Vec<_>>());
    let [reads, older] = [&newest, &older].map(|asked| {
        Load::new(&servers, GET_CAPACITY, |_, number| {
            Some(Target { server: 0, request: asked[number as usize % asked.len()].clone() })
        })
    });
    let empty = Load::new(&servers, empty::PATH, |_, _| Some(Target { server: 0, request: Bytes::new() }));
    let select = Script::new("SELECT 1;\n");
    let [reads, older, empty, select] = alternating([
        &mut || round(database, &reads),
        &mut || round(database, &older),
        &mut || round(database, &empty),
        &mut || select.round(database, &[]),
    ]);
    let rate = |round: &Round| round.rate;
    let ratio = reads.over(&select, rate);
    row("GetCapacityInfo, one server ÷ SELECT 1 by pgbench, a second", format!("{ratio:.2}"), "≥ 0.8");
    // 1 if it costs as much as both
    let both = reads.over(&empty, rate) + ratio;
    row("GetCapacityInfo ÷ an empty call followed by SELECT 1", format!("{both:.2}"), "");
    let ratio = older.over(&reads, rate);
    row("GetCapacityInfo with max_staleness ÷ without, a second", format!("{ratio:.2}"), "");
    reads.print("GetCapacityInfo");
    older.print("GetCapacityInfo with max_staleness");
    empty.print("empty call to the same server");
    select.print("SELECT 1 by pgbench");
}
