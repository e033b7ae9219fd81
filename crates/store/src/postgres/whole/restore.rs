//! Restores a backup to an empty schema.

use tokio::runtime::Runtime;
use tokio_postgres::Transaction;

use super::{
    conversations::conversations,
    snapshot::{self, Session, waited},
    writer::Writer,
};
use crate::{
    Result,
    backup::{Backup, RestoreError},
    postgres::{Options, migrate},
    records::Record,
};

/// Keeps servers and other restores from writing until the transaction ends.
const LOCK: &str =
    "LOCK TABLE conversations, utterances, records, readers, active, outcomes IN SHARE ROW EXCLUSIVE MODE";

/// Whether the schema holds nothing.
const IS_EMPTY: &str = "SELECT NOT (EXISTS (SELECT FROM conversations) OR EXISTS (SELECT FROM utterances)
    OR EXISTS (SELECT FROM records) OR EXISTS (SELECT FROM readers) OR EXISTS (SELECT FROM active) OR EXISTS (SELECT FROM outcomes))";

/// Restores a backup to a schema, which must be empty or be missing, in one transaction: an interrupted restore leaves
/// nothing.
///
/// - Creates the schema, or brings it to the newest version.
/// - At the end, compares the schema with the backup. It differs if the records of the backup do not fit together.
/// - Blocks: must not be called on a thread of a runtime.
pub fn restore(backup: &Backup, options: &Options) -> Result<(), RestoreError> {
    let Session { runtime, mut client } = Session::open(options)?;
    runtime.block_on(migrate(options))?;
    let transaction = waited(&runtime, client.transaction())?;
    waited(&runtime, transaction.batch_execute(LOCK))?;
    if !waited(&runtime, transaction.query_one(IS_EMPTY, &[]))?.get::<_, bool>(0) {
        return Err(RestoreError::Taken("schema"));
    }
    write(backup, &transaction, &runtime)?;
    backup.compare(|each| snapshot::each_record_in(&transaction, &runtime, each), "schema")?;
    Ok(waited(&runtime, transaction.commit())?)
}

fn write(backup: &Backup, transaction: &Transaction<'_>, runtime: &Runtime) -> Result<(), RestoreError> {
    let mut writer = Writer::new(transaction, runtime);
    for row in conversations(backup)? {
        writer.add_conversation(row?)?;
    }
    for pair in backup.records()? {
        let (key, value) = pair?;
        writer.add_record(Record::read(&key, &value)?, value)?;
    }
    Ok(writer.flush()?)
}
