//! Rounds of what is compared.

use std::{collections::BTreeSet, time::Duration};

use crate::{
    database::Database,
    measured::median,
    offered::{Answers, Load},
};

/// The time of a round.
pub const ROUND: Duration = Duration::from_secs(4);
/// Rounds of each, after one that does not count.
const ROUNDS: usize = 5;

/// The result of a round.
pub struct Round {
    /// Calls per second.
    pub rate: f64,
    /// Microseconds of the servers' processor time per call.
    pub servers: f64,
    /// The same of PostgreSQL's.
    pub database: f64,
}

/// The rounds of one thing.
pub struct Rounds(Vec<Round>);

impl Rounds {
    /// The median of a figure.
    pub fn of(&self, figure: fn(&Round) -> f64) -> f64 {
        median(self.0.iter().map(figure).collect())
    }

    /// The median of the ratios of a figure in adjacent rounds.
    pub fn over(&self, other: &Self, figure: fn(&Round) -> f64) -> f64 {
        median(self.0.iter().zip(&other.0).map(|(one, other)| figure(one) / figure(other)).collect())
    }

    /// Prints the figures themselves.
    pub fn print(&self, name: &str) {
        println!(
            "    {name:<44} {:>7.0} a second {:>6.0} µs of the servers' processors {:>6.0} µs of PostgreSQL's",
            self.of(|round| round.rate),
            self.of(|round| round.servers),
            self.of(|round| round.database)
        );
    }
}

/// What runs for a round.
pub type Work<'a> = &'a mut dyn FnMut() -> Round;

/// Runs rounds of all in turn.
pub fn alternating<const COUNT: usize>(works: [Work<'_>; COUNT]) -> [Rounds; COUNT] {
    let mut works = works.map(|work| (work, Vec::new()));
    for round in 0..=ROUNDS {
        for (work, rounds) in &mut works {
            let result = work();
            if round > 0 {
                rounds.push(result);
            }
        }
    }
    works.map(|(_, rounds)| Rounds(rounds))
}

/// A round of `load`.
pub fn round(database: &Database, load: &Load<'_>) -> Round {
    answered(database, load).0
}

/// A round of `load`, and its answers.
pub fn answered(database: &Database, load: &Load<'_>) -> (Round, Answers) {
    let of_servers = || load.servers().iter().map(|server| server.cpu()).sum::<Duration>();
    let (servers, cpu) = (of_servers(), database.cpu());
    let answers = load.run(ROUND);
    let micros = |time: Duration| time.as_secs_f64() * 1e6 / answers.count() as f64;
    // a process that ends is counted a moment later
    let (servers, cpu) = (micros(of_servers() - servers), micros(database.cpu().saturating_sub(cpu)));
    tell_refusals(&answers);
    (Round { rate: answers.a_second(), servers, database: cpu }, answers)
}

/// Prints what was refused.
pub fn tell_refusals(answers: &Answers) {
    // two that differ in their numbers are of one kind
    let kinds: BTreeSet<_> =
        answers.refused.keys().map(|reason| reason.split(char::is_numeric).next()).collect();
    let first: Vec<_> = kinds.into_iter().flatten().take(3).collect();
    if !first.is_empty() {
        let times: u64 = answers.refused.values().sum();
        println!("    refused and sent again, {times} of {}: {}", answers.count(), first.join("; "));
    }
}
