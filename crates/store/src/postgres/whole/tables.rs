//! The tables as records of the durable stores: for each kind that a backup has, its rows in the order of their keys.

use std::fmt::Display;

use tokio_postgres::Row;

use crate::postgres::{read::key_of, types::Uuid};
use crate::{
    RecipientKey, Result, StoreError,
    records::{
        self, Active, ConversationName, Descriptions, Heads, Key, Kind, LineageReader, OutcomeName, Outcomes,
        Readers, Utterances, Value,
    },
};
use utterd_domain::{ConversationKey, LineageId, Namespace, RecipientId, RequestId, Sequence};

/// The rows that hold the records of a kind.
pub struct Table {
    /// Selects the rows, in the order of the records' keys.
    pub sql: &'static str,
    /// Converts a row to its record.
    pub pair: fn(&Row) -> Pair,
}

type Pair = Result<(Key, Value)>;

impl Table {
    const fn new(sql: &'static str, pair: fn(&Row) -> Pair) -> Self {
        Self { sql, pair }
    }
}

/// The tables, ascending by kind. In keys, each text follows its length, except for a last one.
pub const TABLES: [Table; 10] = [
    Table::new(
        "SELECT namespace, id, identity FROM conversations ORDER BY octet_length(namespace), namespace, id",
        |row| Ok(stored::<ConversationName>(&conversation(row)?, row.get(2))),
    ),
    Table::new("SELECT lineage, head FROM conversations ORDER BY lineage", of_conversation::<Heads>),
    Table::new(
        "SELECT lineage, description FROM conversations WHERE description IS NOT NULL ORDER BY lineage",
        of_conversation::<Descriptions>,
    ),
    // the segments
    Table::new(
        "SELECT key, record FROM records WHERE key >= '\\x06' AND key < '\\x07' ORDER BY key",
        recorded,
    ),
    Table::new("SELECT lineage, sequence, record FROM utterances ORDER BY lineage, sequence", |row| {
        Ok(stored::<Utterances>(&(lineage(row), sequence(row, 1)?), row.get(2)))
    }),
    Table::new(
        "SELECT namespace, conversation, recipient FROM active
            ORDER BY octet_length(namespace), namespace, recipient",
        |row| Ok(records::pair::<Active>(&recipient(row)?, &conversation(row)?.id)),
    ),
    Table::new(
        "SELECT namespace, request, rpc, record FROM outcomes
            ORDER BY octet_length(namespace), namespace, octet_length(rpc), rpc, request",
        |row| Ok(stored::<Outcomes>(&outcome(row)?, row.get(3))),
    ),
    Table::new(
        "SELECT namespace, id, lineage, reader, through FROM readers ORDER BY lineage, reader",
        |row| {
            let [lineage, reader] = [2, 3].map(|column| LineageId(row.get::<_, Uuid>(column).0));
            let shared = LineageReader { conversation: conversation(row)?, through: sequence(row, 4)? };
            Ok(records::pair::<Readers>(&(lineage, reader), &shared))
        },
    ),
    // the compactions
    Table::new(
        "SELECT key, record FROM records WHERE key >= '\\x12' AND key < '\\x13' ORDER BY key",
        recorded,
    ),
    // the values of states
    Table::new(
        "SELECT key, record FROM records WHERE key >= '\\x19' AND key < '\\x1a' ORDER BY key",
        recorded,
    ),
];

/// Returns a record whose value is stored as it is.
fn stored<K: Kind>(key: &K::Key, value: &[u8]) -> (Key, Value) {
    (records::key::<K>(key), value.to_vec())
}

fn of_conversation<K: Kind<Key = LineageId>>(row: &Row) -> Pair {
    Ok(stored::<K>(&lineage(row), row.get(1)))
}

fn recorded(row: &Row) -> Pair {
    Ok((row.get(0), row.get(1)))
}

fn lineage(row: &Row) -> LineageId {
    LineageId(row.get::<_, Uuid>(0).0)
}

fn sequence(row: &Row, column: usize) -> Result<Sequence> {
    u64::try_from(row.get::<_, i64>(column)).map(Sequence).map_err(|error| wrong("a sequence", error))
}

/// The conversation in the first two columns.
fn conversation(row: &Row) -> Result<ConversationKey> {
    key_of(row)
}

/// The namespace in the first column.
fn namespace(row: &Row) -> Result<Namespace> {
    Namespace::new(row.get(0)).map_err(|error| wrong("a namespace", error))
}

/// The recipient in the third column.
fn recipient(row: &Row) -> Result<RecipientKey> {
    let id = RecipientId::new(row.get(2)).map_err(|error| wrong("a recipient", error))?;
    Ok(RecipientKey { namespace: namespace(row)?, id })
}

/// The outcome in the first three columns.
fn outcome(row: &Row) -> Result<OutcomeName> {
    let request = RequestId::new(row.get(1)).map_err(|error| wrong("a request id", error))?;
    Ok(OutcomeName { namespace: namespace(row)?, rpc: row.get::<_, String>(2).into(), request })
}

fn wrong(what: &str, error: impl Display) -> StoreError {
    StoreError::Unavailable(format!("{what} in the database: {error}"))
}
