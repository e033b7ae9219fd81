//! Reads a schema at one moment, as the records of the durable stores.

use tokio::runtime::{Builder, Runtime};
use tokio_postgres::{Client, Error, IsolationLevel, Row, Transaction};

use super::tables::{TABLES, Table};
use crate::postgres::{
    Options,
    connection::{
        connect::{connected, quoted},
        fault::unavailable,
    },
};
use crate::{EachRecord, Result, StoreError};

/// Bytes of records to fetch at a time, approximately.
const FETCH_BYTES: usize = 1 << 20;
/// Rows to fetch at first, and at most.
const ROWS: [usize; 2] = [50, 2_000];

/// Passes every record of a schema to `each`, as of one moment: see
/// [`Upkeep::each_record`](crate::Upkeep::each_record). Servers keep running. Until it is done, VACUUM cannot free
/// rows that are removed meanwhile.
pub fn each_record(options: &Options, each: &mut EachRecord<'_>) -> Result<()> {
    let Session { runtime, mut client } = Session::open(options)?;
    let transaction = client.build_transaction().isolation_level(IsolationLevel::RepeatableRead);
    let transaction = waited(&runtime, transaction.read_only(true).start())?;
    each_record_in(&transaction, &runtime, each)
}

/// Passes every record that a transaction sees to `each`.
pub fn each_record_in(
    transaction: &Transaction<'_>,
    runtime: &Runtime,
    each: &mut EachRecord<'_>,
) -> Result<()> {
    TABLES.iter().try_for_each(|table| each_row(transaction, runtime, table, each))
}

/// Fetches the rows of a table in parts.
fn each_row(
    transaction: &Transaction<'_>,
    runtime: &Runtime,
    (sql, pair): &Table,
    each: &mut EachRecord<'_>,
) -> Result<()> {
    let portal = waited(runtime, transaction.bind(*sql, &[]))?;
    let mut wanted = ROWS[0];
    loop {
        let rows = waited(runtime, transaction.query_portal(&portal, wanted as i32))?;
        rows.iter().try_for_each(|row| each(pair(row)))?;
        if rows.len() < wanted {
            return Ok(());
        }
        let bytes: usize = rows.iter().map(Row::raw_size_bytes).sum();
        wanted = (FETCH_BYTES / (bytes / rows.len().max(1)).max(1)).clamp(1, ROWS[1]);
    }
}

/// Waits for an answer of the database.
pub fn waited<T>(runtime: &Runtime, answer: impl Future<Output = Result<T, Error>>) -> Result<T> {
    runtime.block_on(answer).map_err(|error| unavailable(&error))
}

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
        waited(&runtime, client.batch_execute(&greeting))?;
        Ok(Self { runtime, client })
    }
}
