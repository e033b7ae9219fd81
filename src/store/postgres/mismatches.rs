//! Columns that do not agree with the records that they are derived from.

use bytes::BytesMut;
use tokio_postgres::{
    Row,
    types::{FromSql, IsNull, Type},
};

use super::{
    computed::Computed,
    conversations::{ConversationRow, Conversations, NoRow},
    parameters::Param,
    snapshot::Snapshot,
    tables::outcome,
    types::{Time, Uuid},
};
use crate::{
    domain::{LineageId, Sequence, Timestamp},
    store::{
        StoreError,
        durable::{
            key_value::Value,
            records::{self, Kind, OutcomeName, Outcomes, Unread, Utterances},
        },
    },
};

const GIVEN_IDS: &str = "SELECT lineage, sequence, given_id, record FROM utterances";

const TIMES: &str = "SELECT namespace, request, rpc, record, time FROM outcomes";

/// Something wrong, and what would be right.
pub(super) enum Mismatch {
    /// The row of a conversation as it should be, and the columns that differ.
    Conversation(Box<ConversationRow>, Vec<&'static str>),
    /// The id that a client gave an utterance, and the record.
    GivenId((LineageId, Sequence), Option<Box<str>>, Value),
    /// The time of an outcome, and the record.
    Time(OutcomeName, Timestamp, Value),
}

/// Calls `each` for everything that is wrong. Leaves out records that cannot be read.
pub(super) fn find(
    snapshot: &Snapshot<'_>,
    each: &mut dyn FnMut(Mismatch) -> Result<(), StoreError>,
) -> Result<(), StoreError> {
    find_conversations(snapshot, each)?;
    for row in snapshot.rows(GIVEN_IDS, &[])? {
        given_id(&row?).map_or(Ok(()), &mut *each)?;
    }
    for row in snapshot.rows(TIMES, &[])? {
        time(&row?).map_or(Ok(()), &mut *each)?;
    }
    Ok(())
}

fn find_conversations(
    snapshot: &Snapshot<'_>,
    each: &mut dyn FnMut(Mismatch) -> Result<(), StoreError>,
) -> Result<(), StoreError> {
    let columns: Vec<_> = Computed::ALL.iter().map(|(name, _)| *name).collect();
    let sql = format!("SELECT {} FROM conversations ORDER BY lineage", columns.join(", "));
    let mut rows = snapshot.rows(&sql, &[])?;
    for expected in Conversations::of(snapshot) {
        let expected = match expected {
            Ok(expected) => expected,
            Err(NoRow::Unread(Unread::Engine(_))) => break,
            Err(_) => continue,
        };
        let lineage = expected.columns.lineage;
        let is_other = |row: &Row| row.get::<_, Uuid>(0) != lineage;
        let Some(row) = rows.find(|row| !row.as_ref().is_ok_and(is_other)).transpose()? else { break };
        let wrong = wrong(&expected.columns, &row);
        if !wrong.is_empty() {
            each(Mismatch::Conversation(Box::new(expected), wrong))?;
        }
    }
    Ok(())
}

/// The columns in which a row differs.
fn wrong(expected: &Computed, row: &Row) -> Vec<&'static str> {
    let values = expected.clone().into_values();
    let each = values.iter().zip(Computed::ALL).enumerate();
    let differs = each.filter(|(place, (value, (_, kind)))| {
        row.get::<_, Option<Raw<'_>>>(*place).map(|raw| raw.0) != written(value, kind).as_deref()
    });
    differs.map(|(_, (_, (name, _)))| *name).collect()
}

/// A value as PostgreSQL sends it.
fn written(value: &Param, kind: &Type) -> Option<BytesMut> {
    let mut bytes = BytesMut::new();
    match value.to_sql_checked(kind, &mut bytes) {
        Ok(IsNull::No) => Some(bytes),
        // a value that cannot be written is in no column
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

fn given_id(row: &Row) -> Option<Mismatch> {
    let key = (LineageId(row.get::<_, Uuid>(0).0), Sequence(row.get::<_, i64>(1) as u64));
    let utterance = value::<Utterances>(&key, row.get(3))?;
    let id = utterance.given_id();
    (id != row.get(2)).then(|| Mismatch::GivenId(key, id.map(Into::into), row.get(3)))
}

fn time(row: &Row) -> Option<Mismatch> {
    let name = outcome(row).ok()?;
    let time = value::<Outcomes>(&name, row.get(3))?.time;
    (time != row.get::<_, Time>(4).0).then(|| Mismatch::Time(name, time, row.get(3)))
}

/// The value of a record, if it can be read.
fn value<K: Kind>(key: &K::Key, value: &[u8]) -> Option<K::Value> {
    records::decode::<K>(&records::key::<K>(key), value).ok().map(|(_, value)| value)
}
