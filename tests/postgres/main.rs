//! The PostgreSQL store, on a cluster that the tests make themselves, or on the server in
//! `UTTERD_TEST_POSTGRES`; ignored if there is neither.

#![allow(clippy::expect_used, clippy::unwrap_used)] // a test can panic

#[path = "../support/postgres/mod.rs"]
mod postgres;

use std::{
    process::ExitCode,
    sync::atomic::{AtomicUsize, Ordering},
};

use libtest_mimic::{Arguments, Trial};
use utterd::store::{
    conformance,
    postgres::{Options, PostgresStore, migrate},
};

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let cluster = postgres::shared().map(|cluster| cluster.url());
    let trials = conformance::cases().into_iter().map(|case| {
        let url = cluster.clone();
        let name = format!("postgres::{}", case.name);
        match url {
            Ok(url) => Trial::test(name, move || {
                conformance::run(fresh(&url), case.run);
                Ok(())
            }),
            Err(_) => Trial::test(name, || Ok(())).with_ignored_flag(true),
        }
    });
    libtest_mimic::run(&arguments, trials.collect()).exit_code()
}

/// A store in a schema of its own.
async fn fresh(url: &str) -> (PostgresStore, ()) {
    static SCHEMAS: AtomicUsize = AtomicUsize::new(0);
    let number = SCHEMAS.fetch_add(1, Ordering::Relaxed);
    let url = url.parse().expect("the cluster has an address");
    let options = Options { schema: format!("test_{number}"), connections: 8, ..Options::new(url) };
    migrate(&options).await.expect("a schema is made");
    (PostgresStore::open(&options).expect("a store is opened"), ())
}
