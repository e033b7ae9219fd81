//! One conversation that three servers write at the same time.

use std::time::Duration;

use crate::{
    calls::{MEMORIZE, Recipients},
    database::Database,
    load,
    measured::{median, row},
    offered::{Answers, Load, Target},
    rounds::{alternating, answered},
};

const CALLERS: usize = 12;

pub fn print(database: &Database) {
    let servers = database.servers(3);
    let [at_one, at_three] = ["one", "three"].map(|name| Recipients::new(name, 1));
    for recipients in [&at_one, &at_three] {
        load::all(&servers[0].address, MEMORIZE, recipients.full(), 1);
    }
    let one = Load::new(&servers[..1], MEMORIZE, |_, number| {
        Some(Target { server: 0, request: at_one.saying(number) })
    });
    let three = Load::new(&servers, MEMORIZE, |caller, number| {
        Some(Target { server: caller % servers.len(), request: at_three.saying(number) })
    });
    let (one, three) = (one.with_callers(CALLERS), three.with_callers(CALLERS));
    let (mut seen_one, mut seen_three) = (Seen::default(), Seen::default());
    let [of_one, of_three] = alternating([
        &mut || {
            let (round, answers) = answered(database, &one);
            seen_one.add(&answers);
            round
        },
        &mut || {
            let (round, answers) = answered(database, &three);
            seen_three.add(&answers);
            round
        },
    ]);
    let ratio = of_three.over(&of_one, |round| round.rate);
    row("Memorize to one conversation, three servers ÷ one, a second", format!("{ratio:.2}"), "≥ 0.3");
    let share = median(seen_three.least_shares.clone());
    row("the slowest caller's share of an even one, three servers", format!("{share:.2}"), "> 0");
    of_one.print("one server, 12 callers");
    seen_one.print();
    of_three.print("three servers, 4 callers each");
    seen_three.print();
}

/// What callers experienced, by round.
#[derive(Default)]
struct Seen {
    p50: Vec<f64>,
    p99: Vec<f64>,
    longest: Vec<f64>,
    least_shares: Vec<f64>,
}

impl Seen {
    fn add(&mut self, answers: &Answers) {
        let mut times: Vec<Duration> = answers.times.concat();
        times.sort_unstable();
        let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize].as_secs_f64() * 1e3;
        self.p50.push(at(0.5));
        self.p99.push(at(0.99));
        self.longest.push(at(1.0));
        let least = answers.times.iter().map(Vec::len).min().unwrap_or(0);
        self.least_shares.push(least as f64 * answers.times.len() as f64 / times.len() as f64);
    }

    fn print(&self) {
        println!(
            "        half of the calls take {:.1} ms, 99 of 100 {:.1} ms, all {:.1} ms; the slowest caller's share is {:.2}",
            median(self.p50.clone()),
            median(self.p99.clone()),
            median(self.longest.clone()),
            median(self.least_shares.clone())
        );
    }
}
