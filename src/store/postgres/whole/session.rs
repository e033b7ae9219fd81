//! A connection for work that reads or writes a whole store, without a server.

use std::future::Future;

use tokio::runtime::{Builder, Runtime};
use tokio_postgres::Client;

use crate::store::postgres::{
    Options,
    connection::{
        connect::{connected, quoted},
        fault::unavailable,
    },
};
use crate::store::{Result, StoreError};

/// A connection, and the runtime that it is used on. The methods block: they must not be called on a thread of
/// another runtime.
pub struct Session {
    pub runtime: Runtime,
    pub client: Client,
}

impl Session {
    /// Connects, and selects the schema. No statement times out, and each is planned for its parameters.
    pub fn open(options: &Options) -> Result<Self> {
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| StoreError::Unavailable(error.to_string()))?;
        let client = runtime.block_on(connected(options))?;
        let session = Self { runtime, client };
        let greeting = format!(
            "SET search_path = {}; SET statement_timeout = 0; SET idle_in_transaction_session_timeout = 0;
            SET jit = off; SET plan_cache_mode = force_custom_plan; SET synchronous_commit = on",
            quoted(&options.schema)
        );
        session.run(&greeting)?;
        Ok(session)
    }

    /// Runs statements without parameters.
    pub fn run(&self, sql: &str) -> Result<()> {
        self.wait(self.client.batch_execute(sql))
    }

    /// Waits for the answer of the database.
    pub fn wait<T>(&self, answer: impl Future<Output = Result<T, tokio_postgres::Error>>) -> Result<T> {
        self.runtime.block_on(answer).map_err(|error| unavailable(&error))
    }
}
