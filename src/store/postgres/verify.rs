//! Verifies what a schema holds: the records like those of a durable store, and the columns derived from them.

use bytes::BytesMut;
use tokio_postgres::{
    Row,
    types::{FromSql, IsNull, Type},
};

use super::{
    Options,
    columns::Param,
    computed::Computed,
    conversations::{ConversationRow, Conversations, NoRow},
    snapshot::{self, Snapshot},
    tables::outcome,
    types::{Time, Uuid},
};
use crate::{
    domain::{LineageId, Sequence},
    store::{
        StoreError,
        durable::{
            Report,
            records::{self, ConversationName, Kind, Outcomes, Unread, Utterances},
            verify_records,
        },
    },
};

const GIVEN_IDS: &str = "SELECT lineage, sequence, given_id, record FROM utterances";

const TIMES: &str = "SELECT namespace, request, rpc, time, record FROM outcomes";

/// Checks every record of a schema as of one moment, while servers go on; now and then reports how many were
/// read.
///
/// - Checks records as [`durable::verify`](crate::store::durable::verify()) does, and every column that is
///   derived from a record.
/// - Reads utterances and outcomes twice.
/// - All problems are in the report, even if a record cannot be read.
/// - Blocks: not for threads of a runtime.
pub fn verify(options: &Options, progress: &mut dyn FnMut(u64)) -> Result<Report, StoreError> {
    snapshot::read(options, |snapshot| {
        let mut report = verify_records(snapshot, progress);
        check_conversations(snapshot, &mut report)?;
        check_given_ids(snapshot, &mut report)?;
        check_times(snapshot, &mut report)?;
        Ok(report)
    })?
}

/// Checks the columns of conversations whose records can be read: the others are reported already.
fn check_conversations(snapshot: &Snapshot<'_>, report: &mut Report) -> Result<(), StoreError> {
    let columns: Vec<_> = Computed::ALL.iter().map(|(name, _)| *name).collect();
    let sql = format!("SELECT {} FROM conversations ORDER BY lineage", columns.join(", "));
    let mut rows = snapshot.rows(&sql, &[])?;
    for expected in Conversations::of(snapshot) {
        let expected = match expected {
            Ok(expected) => expected,
            Err(NoRow::Unread(Unread::Engine(_))) => return Ok(()),
            Err(_) => continue,
        };
        let lineage = expected.columns.lineage;
        let is_other = |row: &Row| row.get::<_, Uuid>(0) != lineage;
        match rows.find(|row| !row.as_ref().is_ok_and(is_other)).transpose()? {
            Some(row) => check_row(expected, &row, report),
            None => return Ok(()),
        }
    }
    Ok(())
}

fn check_row(expected: ConversationRow, row: &Row, report: &mut Report) {
    let subject = records::name::<ConversationName>(&expected.key);
    for (place, (value, (name, kind))) in expected.columns.into_values().iter().zip(Computed::ALL).enumerate()
    {
        if row.get::<_, Option<Raw<'_>>>(place).map(|raw| raw.0) != written(value, kind).as_deref() {
            report.add(&subject, format_args!("its column {name} does not agree with its records"));
        }
    }
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

/// Checks that utterances are found by the ids that clients gave them.
fn check_given_ids(snapshot: &Snapshot<'_>, report: &mut Report) -> Result<(), StoreError> {
    for row in snapshot.rows(GIVEN_IDS, &[])? {
        let row = row?;
        let key = (LineageId(row.get::<_, Uuid>(0).0), Sequence(row.get::<_, i64>(1) as u64));
        let Some(utterance) = value::<Utterances>(&key, row.get(3)) else { continue };
        if utterance.given_id() != row.get(2) {
            disagrees::<Utterances>(&key, "given_id", report);
        }
    }
    Ok(())
}

/// Checks the times of outcomes.
fn check_times(snapshot: &Snapshot<'_>, report: &mut Report) -> Result<(), StoreError> {
    for row in snapshot.rows(TIMES, &[])? {
        let row = row?;
        let Ok(name) = outcome(&row) else { continue };
        let Some(outcome) = value::<Outcomes>(&name, row.get(4)) else { continue };
        if outcome.time != row.get::<_, Time>(3).0 {
            disagrees::<Outcomes>(&name, "time", report);
        }
    }
    Ok(())
}

/// The value of a record, if it can be read; otherwise it is reported already.
fn value<K: Kind>(key: &K::Key, value: &[u8]) -> Option<K::Value> {
    records::decode::<K>(&records::key::<K>(key), value).ok().map(|(_, value)| value)
}

fn disagrees<K: Kind>(key: &K::Key, column: &str, report: &mut Report) {
    report.add(records::name::<K>(key), format_args!("its column {column} does not agree with its record"));
}
