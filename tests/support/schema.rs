//! Stores in PostgreSQL, each in a schema of its own.

use std::{env, thread};

use libtest_mimic::Trial;
use tokio_postgres::NoTls;
use utterd::{
    config::{Backend, Settings},
    server::database::migrate,
    store::postgres::{Options, PostgresStore},
};

use super::{
    possible,
    postgres::{self, Cluster},
};

/// A test that needs PostgreSQL. Where there is none, it is ignored, or fails if `CI` is set.
pub fn trial(name: String, run: impl FnOnce(&'static Cluster) + Send + 'static) -> Trial {
    possible(name, move || postgres::shared().map(run))
}

/// Names a server that the tests have not started: see [`postgres::shared`].
const OUTSIDE: &str = "UTTERD_TEST_POSTGRES";

/// A schema with the tables of a store. On a server that the tests have not started, it is removed when it is
/// dropped.
pub struct Schema {
    url: String,
    name: String,
}

impl Schema {
    /// A new one, which no other process uses by accident.
    pub fn new(cluster: &Cluster) -> Self {
        let name = format!("test_{}", ulid::Ulid::new()).to_lowercase();
        let schema = Self { url: cluster.url(), name };
        let settings = schema.settings(&Settings::default());
        finish(async move { migrate(&settings).await.map(drop) }).expect("the schema is made");
        schema
    }

    /// The settings of a server over it, whose trace is its own: like that of a server over another backend, it
    /// includes reads.
    pub fn settings(&self, settings: &Settings) -> Settings {
        let database_url = Some(self.url.parse().expect("the server has a URL"));
        let (backend, database_schema) = (Backend::Postgres, self.name.clone());
        Settings { backend, database_url, database_schema, database_events: false, ..settings.clone() }
    }

    /// Its name.
    #[allow(dead_code)] // each test uses its part
    pub fn name(&self) -> &str {
        &self.name
    }

    /// A store over it, as of another process than those before.
    pub fn store(&self) -> PostgresStore {
        let url = self.url.parse().expect("the server has a URL");
        let options = Options { schema: self.name.clone(), ..Options::new(url) };
        PostgresStore::open(&options).expect("the options are good")
    }
}

impl Drop for Schema {
    fn drop(&mut self) {
        if env::var_os(OUTSIDE).is_none() {
            return;
        }
        let (url, name) = (self.url.clone(), self.name.clone());
        let removed = finish(async move {
            let (client, connection) = tokio_postgres::connect(&url, NoTls).await?;
            tokio::spawn(connection);
            // a statement whose caller is gone can still be using a table
            let remove = format!("SET lock_timeout = '5s'; DROP SCHEMA {name} CASCADE");
            client.batch_execute(&remove).await
        });
        if let Err(error) = removed {
            eprintln!("the schema {} stays: {error}", self.name);
        }
    }
}

/// Runs a future to its end on a thread of its own: the caller may be running others.
fn finish<T: Send + 'static>(future: impl Future<Output = T> + Send + 'static) -> T {
    let thread = thread::spawn(|| {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.expect("a runtime starts").block_on(future)
    });
    thread.join().expect("it does not panic")
}
