//! Columns that do not agree with the records that they are derived from.

use bytes::BytesMut;
use tokio_postgres::{
    Row,
    types::{FromSql, IsNull, Type},
};

use super::{
    computed::Computed,
    conversations::{ConversationRow, Conversations},
    snapshot::Snapshot,
    tables::outcome,
};
use crate::store::postgres::types::{Param, Time, Uuid, number, params};
use crate::{
    domain::{LineageId, Sequence},
    store::{
        Result,
        durable::{
            CopyError,
            key_value::Value,
            records::{self, ConversationName, Kind, Outcomes, Utterances},
        },
    },
};

const GIVEN_IDS: &str = "SELECT lineage, sequence, given_id, record FROM utterances";

const TIMES: &str = "SELECT namespace, request, rpc, record, time FROM outcomes";

/// A row with wrong columns.
pub struct Mismatch {
    /// The name of the row's record.
    pub name: String,
    /// The columns that are wrong.
    pub columns: Vec<String>,
    /// The statement that corrects the columns, if the records are still the ones that were read.
    pub sql: String,
    /// The parameters of the statement.
    pub params: Vec<Param>,
}

/// Calls `each` for every mismatch. Skips records that cannot be read.
pub fn find(snapshot: &Snapshot<'_>, each: &mut dyn FnMut(Mismatch) -> Result<()>) -> Result<()> {
    find_conversations(snapshot, each)?;
    for row in snapshot.rows(GIVEN_IDS, &[])? {
        given_id(&row?).map_or(Ok(()), &mut *each)?;
    }
    for row in snapshot.rows(TIMES, &[])? {
        time(&row?).map_or(Ok(()), &mut *each)?;
    }
    Ok(())
}

fn find_conversations(snapshot: &Snapshot<'_>, each: &mut dyn FnMut(Mismatch) -> Result<()>) -> Result<()> {
    let sql = format!("SELECT {} FROM conversations ORDER BY lineage", Computed::NAMES.join(", "));
    let mut rows = snapshot.rows(&sql, &[])?;
    for expected in Conversations::of(snapshot) {
        let expected = match expected {
            Ok(expected) => expected,
            Err(CopyError::Read(_)) => break,
            Err(_) => continue,
        };
        let lineage = expected.columns.lineage;
        let is_other = |row: &Row| row.get::<_, Uuid>(0) != lineage;
        let Some(row) = rows.find(|row| !row.as_ref().is_ok_and(is_other)).transpose()? else { break };
        let wrong = wrong(&expected.columns, &row);
        if !wrong.is_empty() {
            each(conversation(expected, wrong))?;
        }
    }
    Ok(())
}

/// Returns the columns in which a row differs from what is expected.
fn wrong(expected: &Computed, row: &Row) -> Vec<String> {
    let values = expected.clone().into_values();
    let differs = row.columns().iter().zip(&values).enumerate().filter(|(place, (column, value))| {
        row.get::<_, Option<Raw<'_>>>(*place).map(|raw| raw.0) != written(value, column.type_()).as_deref()
    });
    differs.map(|(_, (column, _))| column.name().to_owned()).collect()
}

/// Encodes a value as PostgreSQL sends it; `None` for NULL.
fn written(value: &Param, kind: &Type) -> Option<BytesMut> {
    let mut bytes = BytesMut::new();
    match value.to_sql_checked(kind, &mut bytes) {
        Ok(IsNull::No) => Some(bytes),
        // no column holds a value that cannot be encoded
        Ok(IsNull::Yes) | Err(_) => None,
    }
}

/// A value of any type, as it was received.
struct Raw<'a>(&'a [u8]);

impl<'a> FromSql<'a> for Raw<'a> {
    fn from_sql(_: &Type, raw: &'a [u8]) -> Result<Self, Box<dyn std::error::Error + Sync + Send>> {
        Ok(Self(raw))
    }

    fn accepts(_: &Type) -> bool {
        true
    }
}

fn conversation(row: ConversationRow, columns: Vec<String>) -> Mismatch {
    let ConversationRow { key, columns: right, identity, head, policy, description, ending } = row;
    let held = "namespace =, id =, identity =, head =, policy =, description IS NOT DISTINCT FROM, \
        ending IS NOT DISTINCT FROM";
    let (namespace, id) = (key.namespace.as_str().to_owned(), key.id.as_str().to_owned());
    let mut params = right.into_values();
    params.extend(params![namespace, id, identity, head, policy, description, ending]);
    let sql = update("conversations", Computed::NAMES, held);
    Mismatch { name: records::name::<ConversationName>(&key), columns, sql, params }
}

fn given_id(row: &Row) -> Option<Mismatch> {
    let key = (LineageId(row.get::<_, Uuid>(0).0), Sequence(row.get::<_, i64>(1) as u64));
    let record: Value = row.get(3);
    let id = value::<Utterances>(&key, &record)?.given_id().map(str::to_owned);
    (id.as_deref() != row.get(2)).then(|| Mismatch {
        name: records::name::<Utterances>(&key),
        columns: vec!["given_id".to_owned()],
        sql: update("utterances", &["given_id"], "lineage =, sequence =, record ="),
        params: params![id, Uuid(key.0.0), number(key.1), record],
    })
}

fn time(row: &Row) -> Option<Mismatch> {
    let (name, record): (_, Value) = (outcome(row).ok()?, row.get(3));
    let time = Time(value::<Outcomes>(&name, &record)?.time);
    let [namespace, request, rpc] = [0, 1, 2].map(|column| row.get::<_, String>(column));
    (time != row.get(4)).then(|| Mismatch {
        name: records::name::<Outcomes>(&name),
        columns: vec!["time".to_owned()],
        sql: update("outcomes", &["time"], "namespace =, request =, rpc =, record ="),
        params: params![time, namespace, request, rpc, record],
    })
}

/// Returns a statement that sets columns if the columns in `held` still have the values that were read.
fn update(table: &str, set: &[&str], held: &str) -> String {
    let set: Vec<_> = (1..).zip(set).map(|(place, column)| format!("{column} = ${place}")).collect();
    let held: Vec<_> =
        (set.len() + 1..).zip(held.split(", ")).map(|(place, column)| format!("{column} ${place}")).collect();
    format!("UPDATE {table} SET {} WHERE {}", set.join(", "), held.join(" AND "))
}

/// Decodes the value of a record; `None` if it cannot be read.
fn value<K: Kind>(key: &K::Key, value: &[u8]) -> Option<K::Value> {
    records::decode::<K>(&records::key::<K>(key), value).ok().map(|(_, value)| value)
}
