//! A connection for work that reads or writes a whole store.

use tokio::runtime::{Builder, Runtime};
use tokio_postgres::Client;

use crate::{
    Result, StoreError,
    postgres::{
        Options,
        connection::{
            connect::{connected, quoted},
            fault::unavailable,
        },
    },
};

/// A connection, and the runtime that it is used on.
pub struct Session {
    pub runtime: Runtime,
    pub client: Client,
}

impl Session {
    /// Connects, and selects the schema. No statement times out, and each is planned for its parameters. Blocks: must
    /// not be called on a thread of a runtime.
    pub fn open(options: &Options) -> Result<Self> {
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(StoreError::unavailable)?;
        let client = runtime.block_on(connected(options))?;
        let greeting = format!(
            "SET search_path = {}; SET statement_timeout = 0; SET idle_in_transaction_session_timeout = 0;
            SET jit = off; SET plan_cache_mode = force_custom_plan; SET synchronous_commit = on",
            quoted(&options.schema)
        );
        runtime.block_on(client.batch_execute(&greeting)).map_err(|error| unavailable(&error))?;
        Ok(Self { runtime, client })
    }
}
