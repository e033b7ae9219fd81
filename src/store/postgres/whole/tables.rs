//! The tables as records of the durable stores: for each kind of record, its rows in the order of their keys.

use std::fmt::Display;

use tokio_postgres::Row;

use crate::store::postgres::{
    read::key_of,
    types::{Time, Uuid},
};
use crate::{
    domain::{Block, ConversationKey, LineageId, Namespace, RecipientId, RequestId, Sequence, Timestamp},
    store::{
        Derived, Due, RecipientKey,
        durable::{
            key_value::{Key, KeyValueError, Value},
            records::{
                self, Active, BlockName, Blocks, Compactions, ConversationName, Descriptions, Dues, Ended,
                Endings, GivenIds, Heads, Kind, LineageReader, ListPlace, Listed, OutcomeAges, OutcomeName,
                Outcomes, Policies, Readers, Segments, StateName, StateValues, Utterances, Waiting,
            },
        },
    },
};

/// The rows that hold the records of a kind.
pub struct Table {
    /// The number of the kind.
    pub kind: u8,
    /// Selects the rows, in the order of the records' keys. If the keys begin with a lineage, `$1` and `$2` are
    /// the first and the last lineage to select.
    pub sql: &'static str,
    /// Converts a row to its record.
    pub pair: fn(&Row) -> Pair,
}

type Pair = Result<(Key, Value), KeyValueError>;

impl Table {
    const fn of<K: Kind>(sql: &'static str, pair: fn(&Row) -> Pair) -> Self {
        Self { kind: K::NUMBER, sql, pair }
    }
}

/// The tables, ascending by kind. In keys, each text follows its length, except for a last one.
pub const TABLES: [Table; 19] = [
    Table::of::<ConversationName>(
        "SELECT namespace, id, identity FROM conversations ORDER BY octet_length(namespace), namespace, id",
        |row| Ok(stored::<ConversationName>(&conversation(row)?, row.get(2))),
    ),
    Table::of::<Heads>(
        "SELECT lineage, head FROM conversations WHERE lineage BETWEEN $1 AND $2 ORDER BY lineage",
        of_conversation::<Heads>,
    ),
    Table::of::<Policies>(
        "SELECT lineage, policy FROM conversations WHERE lineage BETWEEN $1 AND $2 ORDER BY lineage",
        of_conversation::<Policies>,
    ),
    Table::of::<Descriptions>(
        "SELECT lineage, description FROM conversations
            WHERE lineage BETWEEN $1 AND $2 AND description IS NOT NULL ORDER BY lineage",
        of_conversation::<Descriptions>,
    ),
    Table::of::<Segments>(
        "SELECT lineage, number, record FROM segments
            WHERE lineage BETWEEN $1 AND $2 ORDER BY lineage, number",
        numbered::<Segments>,
    ),
    Table::of::<Utterances>(
        "SELECT lineage, sequence, record FROM utterances
            WHERE lineage BETWEEN $1 AND $2 ORDER BY lineage, sequence",
        |row| Ok(stored::<Utterances>(&(lineage(row), sequence(row, 1)?), row.get(2))),
    ),
    Table::of::<GivenIds>(
        "SELECT lineage, given_id, sequence FROM utterances
            WHERE lineage BETWEEN $1 AND $2 AND given_id IS NOT NULL ORDER BY lineage, given_id",
        |row| {
            Ok(records::pair::<GivenIds>(&(lineage(row), row.get::<_, &str>(1).into()), &sequence(row, 2)?))
        },
    ),
    Table::of::<Listed>(
        "SELECT namespace, id, recipient, start_time FROM conversations WHERE listed
            ORDER BY octet_length(namespace), namespace, octet_length(recipient), recipient, start_time, id",
        |row| Ok(records::pair::<Listed>(&list_place(row)?, &())),
    ),
    Table::of::<Active>(
        "SELECT namespace, conversation, recipient FROM active
            ORDER BY octet_length(namespace), namespace, recipient",
        |row| Ok(records::pair::<Active>(&recipient(row)?, &conversation(row)?.id)),
    ),
    Table::of::<Outcomes>(
        "SELECT namespace, request, rpc, record FROM outcomes
            ORDER BY octet_length(namespace), namespace, octet_length(rpc), rpc, request",
        |row| Ok(stored::<Outcomes>(&outcome(row)?, row.get(3))),
    ),
    Table::of::<OutcomeAges>(
        "SELECT namespace, request, rpc, time FROM outcomes
            ORDER BY time, octet_length(namespace), namespace, octet_length(rpc), rpc, request",
        |row| Ok(records::pair::<OutcomeAges>(&(time(row, 3), outcome(row)?), &())),
    ),
    Table::of::<Dues>(
        "SELECT namespace, id, expire_time FROM conversations WHERE listed AND expire_time IS NOT NULL
            ORDER BY expire_time, octet_length(namespace), namespace, id",
        |row| Ok(records::pair::<Dues>(&(time(row, 2), Due::Expired(conversation(row)?)), &())),
    ),
    Table::of::<Endings>(
        "SELECT lineage, ending FROM conversations
            WHERE lineage BETWEEN $1 AND $2 AND ending IS NOT NULL ORDER BY lineage",
        of_conversation::<Endings>,
    ),
    Table::of::<Readers>(
        "SELECT namespace, id, lineage, reader, through FROM readers
            WHERE lineage BETWEEN $1 AND $2 ORDER BY lineage, reader",
        |row| {
            let [lineage, reader] = [2, 3].map(|column| LineageId(row.get::<_, Uuid>(column).0));
            let told = LineageReader { conversation: conversation(row)?, through: sequence(row, 4)? };
            Ok(records::pair::<Readers>(&(lineage, reader), &told))
        },
    ),
    Table::of::<Ended>(
        "SELECT namespace, id, recipient, end_time FROM conversations WHERE listed AND end_time IS NOT NULL
            ORDER BY octet_length(namespace), namespace, octet_length(recipient), recipient, end_time, id",
        |row| Ok(records::pair::<Ended>(&list_place(row)?, &())),
    ),
    Table::of::<Compactions>(
        "SELECT lineage, number, record FROM compactions
            WHERE lineage BETWEEN $1 AND $2 ORDER BY lineage, number",
        numbered::<Compactions>,
    ),
    Table::of::<Waiting>(
        "SELECT namespace, id, waits_since FROM conversations WHERE listed AND waits_since IS NOT NULL
            ORDER BY waits_since, octet_length(namespace), namespace, id",
        |row| Ok(records::pair::<Waiting>(&(time(row, 2), conversation(row)?), &())),
    ),
    Table::of::<Blocks>(
        "SELECT lineage, kind, block, record FROM derived
            WHERE lineage BETWEEN $1 AND $2 ORDER BY lineage, kind, block",
        |row| {
            let kind = match row.get::<_, i16>(1) {
                1 => Derived::Index,
                2 => Derived::Embeddings,
                kind => return Err(wrong("a kind of derived data", kind)),
            };
            let block = Block(sequence(row, 2)?.0);
            Ok(stored::<Blocks>(&(lineage(row), BlockName { kind, block }), row.get(3)))
        },
    ),
    Table::of::<StateValues>(
        "SELECT lineage, name, record FROM state_values
            WHERE lineage BETWEEN $1 AND $2 ORDER BY lineage, name",
        |row| {
            let name = StateName(row.get::<_, &str>(1).into());
            Ok(stored::<StateValues>(&(lineage(row), name), row.get(2)))
        },
    ),
];

/// Returns a record whose value is stored as it is.
fn stored<K: Kind>(key: &K::Key, value: &[u8]) -> (Key, Value) {
    (records::key::<K>(key), value.to_vec())
}

fn of_conversation<K: Kind<Key = LineageId>>(row: &Row) -> Pair {
    Ok(stored::<K>(&lineage(row), row.get(1)))
}

fn numbered<K: Kind<Key = (LineageId, u32)>>(row: &Row) -> Pair {
    let number = u32::try_from(row.get::<_, i64>(1)).map_err(|error| wrong("a number", error))?;
    Ok(stored::<K>(&(lineage(row), number), row.get(2)))
}

fn lineage(row: &Row) -> LineageId {
    LineageId(row.get::<_, Uuid>(0).0)
}

fn sequence(row: &Row, column: usize) -> Result<Sequence, KeyValueError> {
    u64::try_from(row.get::<_, i64>(column)).map(Sequence).map_err(|error| wrong("a sequence", error))
}

fn time(row: &Row, column: usize) -> Timestamp {
    row.get::<_, Time>(column).0
}

/// The conversation in the first two columns.
fn conversation(row: &Row) -> Result<ConversationKey, KeyValueError> {
    key_of(row).map_err(|error| KeyValueError(error.to_string()))
}

/// The namespace in the first column.
fn namespace(row: &Row) -> Result<Namespace, KeyValueError> {
    Namespace::new(row.get(0)).map_err(|error| wrong("a namespace", error))
}

/// The recipient in the third column.
fn recipient(row: &Row) -> Result<RecipientKey, KeyValueError> {
    let id = RecipientId::new(row.get(2)).map_err(|error| wrong("a recipient", error))?;
    Ok(RecipientKey { namespace: namespace(row)?, id })
}

fn list_place(row: &Row) -> Result<ListPlace, KeyValueError> {
    let RecipientKey { namespace, id } = recipient(row)?;
    Ok(ListPlace { owner: (namespace, id), time: time(row, 3), conversation: conversation(row)?.id })
}

/// The outcome in the first three columns.
pub fn outcome(row: &Row) -> Result<OutcomeName, KeyValueError> {
    let request = RequestId::new(row.get(1)).map_err(|error| wrong("a request id", error))?;
    Ok(OutcomeName { namespace: namespace(row)?, rpc: row.get::<_, String>(2).into(), request })
}

fn wrong(what: &str, error: impl Display) -> KeyValueError {
    KeyValueError(format!("{what} in the database: {error}"))
}
