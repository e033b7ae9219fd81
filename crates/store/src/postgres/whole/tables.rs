//! The tables as records of the durable stores: for each kind that a backup has, its rows in the order of their keys.

use tokio_postgres::Row;

use crate::postgres::{
    read::{key_of, wrong},
    types::Uuid,
};
use crate::{
    RecipientKey, Result,
    records::{
        self, Active, ConversationName, Descriptions, Heads, Key, Kind, LineageReader, OutcomeName, Outcomes,
        Readers, Utterances, Value,
    },
};
use utterd_domain::{LineageId, Namespace, RecipientId, RequestId, Sequence};

/// The rows that hold the records of a kind: the statement that selects them, in the order of the records' keys, and how
/// a row is converted to its record.
pub type Table = (&'static str, fn(&Row) -> Pair);

type Pair = Result<(Key, Value)>;

/// The tables, ascending by kind. In keys, each text follows its length, except for a last one.
pub const TABLES: [Table; 10] = [
    (
        "SELECT namespace, id, identity FROM conversations ORDER BY octet_length(namespace), namespace, id",
        |row| Ok(stored::<ConversationName>(&key_of(row)?, row.get(2))),
    ),
    ("SELECT lineage, head FROM conversations ORDER BY lineage", of_conversation::<Heads>),
    (
        "SELECT lineage, description FROM conversations WHERE description IS NOT NULL ORDER BY lineage",
        of_conversation::<Descriptions>,
    ),
    // the segments
    ("SELECT key, record FROM records WHERE key >= '\\x06' AND key < '\\x07' ORDER BY key", recorded),
    ("SELECT lineage, sequence, record FROM utterances ORDER BY lineage, sequence", |row| {
        Ok(stored::<Utterances>(&(lineage(row), sequence(row, 1)?), row.get(2)))
    }),
    (
        "SELECT namespace, conversation, recipient FROM active
            ORDER BY octet_length(namespace), namespace, recipient",
        |row| Ok(records::pair::<Active>(&recipient(row)?, &key_of(row)?.id)),
    ),
    (
        "SELECT namespace, request, rpc, record FROM outcomes
            ORDER BY octet_length(namespace), namespace, octet_length(rpc), rpc, request",
        |row| Ok(stored::<Outcomes>(&outcome(row)?, row.get(3))),
    ),
    ("SELECT namespace, id, lineage, reader, through FROM readers ORDER BY lineage, reader", |row| {
        let [lineage, reader] = [2, 3].map(|column| LineageId(row.get::<_, Uuid>(column).0));
        let shared = LineageReader { conversation: key_of(row)?, through: sequence(row, 4)? };
        Ok(records::pair::<Readers>(&(lineage, reader), &shared))
    }),
    // the compactions
    ("SELECT key, record FROM records WHERE key >= '\\x12' AND key < '\\x13' ORDER BY key", recorded),
    // the values of states
    ("SELECT key, record FROM records WHERE key >= '\\x19' AND key < '\\x1a' ORDER BY key", recorded),
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
    u64::try_from(row.get::<_, i64>(column)).map(Sequence).map_err(|_| wrong("a sequence", "is negative"))
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
