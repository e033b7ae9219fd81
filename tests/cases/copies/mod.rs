//! Backups of every backend, restored to every other, and what `verify` finds in PostgreSQL.
//!
//! - [`round_trips`]: what every kind of life leaves is restored and the same.
//! - [`attempts`]: restores to a schema are interrupted, and refused if they do not fit.
//! - [`damage`]: each wrong record and column is named.
//! - [`commands`]: all of it as a person does it, while a server writes.

mod attempts;
mod commands;
mod damage;
mod home;
mod round_trips;

use libtest_mimic::Trial;

use crate::support::{postgres::Cluster, schema};

pub fn trials() -> Vec<Trial> {
    let mut trials: Vec<Trial> = Vec::new();
    trials.extend(round_trips::trials());
    trials.extend(attempts::trials());
    trials.extend(damage::trials());
    trials.extend(commands::trials());
    trials
}

fn trial(name: String, run: impl FnOnce(&'static Cluster) + Send + 'static) -> Trial {
    schema::trial(format!("copies::{name}"), run)
}
