//! The mark of an unfinished copy.

use crate::store::Result;
use crate::store::postgres::{
    Options,
    connection::{
        connect::{connected, quoted},
        fault::unavailable,
    },
};

/// Returns the name of the store that the schema is an unfinished copy of, if it is one. The schema must be of
/// the newest version.
pub async fn unfinished(options: &Options) -> Result<Option<String>> {
    let client = connected(options).await?;
    let sql = format!("SELECT source FROM {}.copying", quoted(&options.schema));
    let row = client.query_opt(&sql, &[]).await.map_err(|error| unavailable(&error))?;
    Ok(row.map(|row| row.get(0)))
}
