//! Writes the rows of a restore, in batches.

use std::pin::pin;

use tokio::runtime::Runtime;
use tokio_postgres::{Error, Transaction, binary_copy::BinaryCopyInWriter};

use super::{computed::Computed, conversations::ConversationRow, snapshot::waited};
use crate::postgres::types::{Param, Time, Uuid, borrowed, number, params};
use crate::{
    RecipientKey, Result,
    records::{OutcomeName, Record, Value},
};

/// Bytes per batch.
const BATCH_BYTES: usize = 4 << 20;

/// A table that rows are copied into, and its columns.
type Target = (&'static str, &'static str);

const UTTERANCES: Target = ("utterances", "lineage, sequence, given_id, record");
const RECORDS: Target = ("records", "key, record");
const READERS: Target = ("readers", "lineage, reader, namespace, id, through");
const ACTIVE: Target = ("active", "namespace, recipient, conversation");
const OUTCOMES: Target = ("outcomes", "namespace, request, rpc, time, record");
/// The columns behind the computed ones.
const CONVERSATIONS: Target = ("conversations", "namespace, id, identity, head, description");

/// A batch of rows to write, all of one table.
pub struct Writer<'a> {
    transaction: &'a Transaction<'a>,
    runtime: &'a Runtime,
    target: Target,
    rows: Vec<Vec<Param>>,
    bytes: usize,
}

impl<'a> Writer<'a> {
    pub fn new(transaction: &'a Transaction<'a>, runtime: &'a Runtime) -> Self {
        Self { transaction, runtime, target: CONVERSATIONS, rows: Vec::new(), bytes: 0 }
    }

    /// Adds the row of a conversation.
    pub fn add_conversation(&mut self, row: ConversationRow) -> Result<()> {
        let ConversationRow { key, columns, identity, head, description } = row;
        let bytes = identity.len() + head.len() + description.as_ref().map_or(0, Vec::len);
        let (namespace, id) = (key.namespace.as_str().to_owned(), key.id.as_str().to_owned());
        let mut values = columns.into_values();
        values.extend(params![namespace, id, identity, head, description]);
        self.add(CONVERSATIONS, values, bytes)
    }

    /// Adds the row of a record, unless it is a part of a conversation's row.
    pub fn add_record(&mut self, record: Record, value: Value) -> Result<()> {
        let bytes = value.len();
        let (target, values) = match record {
            Record::Utterances((lineage, sequence), utterance) => {
                let id = utterance.given_id().map(str::to_owned);
                (UTTERANCES, params![Uuid(lineage.0), number(sequence), id, value])
            }
            Record::Segments(..) | Record::Compactions(..) | Record::StateValues(..) => {
                (RECORDS, params![record.key(), value])
            }
            Record::Readers((lineage, reader), shared) => {
                let [namespace, id] =
                    [shared.conversation.namespace.as_str(), shared.conversation.id.as_str()];
                let names = (namespace.to_owned(), id.to_owned());
                let [lineage, reader] = [Uuid(lineage.0), Uuid(reader.0)];
                (READERS, params![lineage, reader, names.0, names.1, number(shared.through)])
            }
            Record::Active(RecipientKey { namespace, id }, conversation) => {
                let [namespace, id] = [namespace.as_str(), id.as_str()].map(str::to_owned);
                (ACTIVE, params![namespace, id, conversation.as_str().to_owned()])
            }
            Record::Outcomes(OutcomeName { namespace, rpc, request }, outcome) => {
                let [namespace, request] = [namespace.as_str(), request.as_str()].map(str::to_owned);
                (OUTCOMES, params![namespace, request, rpc.into_owned(), Time(outcome.time), value])
            }
            _ => return Ok(()),
        };
        self.add(target, values, bytes)
    }

    fn add(&mut self, target: Target, values: Vec<Param>, bytes: usize) -> Result<()> {
        if self.bytes >= BATCH_BYTES || self.target != target {
            self.flush()?;
        }
        self.target = target;
        self.rows.push(values);
        self.bytes += bytes;
        Ok(())
    }

    /// Writes the pending rows.
    pub fn flush(&mut self) -> Result<()> {
        self.bytes = 0;
        let rows = std::mem::take(&mut self.rows);
        if rows.is_empty() {
            return Ok(());
        }
        waited(self.runtime, self.write(rows))
    }

    async fn write(&self, rows: Vec<Vec<Param>>) -> Result<(), Error> {
        let (table, columns) = self.target;
        let computed = if self.target == CONVERSATIONS { Computed::NAMES } else { &[] };
        let columns = [computed, &[columns]].concat().join(", ");
        let statement = self.transaction.prepare(&format!("SELECT {columns} FROM {table}")).await?;
        let types: Vec<_> = statement.columns().iter().map(|column| column.type_().clone()).collect();
        let sink = self.transaction.copy_in(&format!("COPY {table} ({columns}) FROM STDIN BINARY")).await?;
        let mut writer = pin!(BinaryCopyInWriter::new(sink, &types));
        for row in rows {
            writer.as_mut().write(&borrowed(&row)).await?;
        }
        writer.finish().await.map(drop)
    }
}
