//! The rows that a commit writes for one conversation, as values of columns, and as the parameters of one statement for
//! several conversations.

use std::{fmt::Display, sync::Arc};

use crate::postgres::{
    types::{Param, Time, Uuid, number, params},
    whole::computed::Computed,
};
use crate::{
    Outcome, OutcomeKey, PointerWrite,
    delta::Delta,
    records::{self, Descriptions, Key, Kind, OutcomeName, Outcomes, Record, Value},
};
use utterd_domain::{Conversation, ConversationKey};

/// The new row of a conversation, and the rows that are written and removed with it. Columns that did not
/// change are `None`.
#[derive(Clone)]
pub struct Row {
    pub namespace: String,
    pub id: String,
    /// The state that the row replaces; `None` if the conversation is created.
    pub state: Option<Uuid>,
    /// The identity of a conversation that is created.
    pub identity: Option<Value>,
    pub computed: Computed,
    /// The lineages that the conversation reads and how far, each as the text of an array, if they changed.
    pub lineages: Option<String>,
    pub through: Option<String>,
    pub head: Value,
    /// Whether the description changed.
    pub is_described: bool,
    pub description: Option<Value>,
    /// The events of the whole commit, one per line, if this is the commit's first row.
    pub events: Option<String>,
    /// The ranges of removed utterances: their lineage, the first sequence of each, and the one behind its last.
    pub removed: Vec<(Uuid, i64, i64)>,
    pub utterances: Vec<UtteranceRow>,
    /// The keys of other records that are removed.
    pub removed_records: Vec<(Key,)>,
    pub records: Vec<(Key, Value)>,
    pub outcomes: Vec<OutcomeRow>,
    pub pointers: Vec<PointerRow>,
}

/// A row of `utterances`.
#[derive(Clone)]
pub struct UtteranceRow {
    pub lineage: Uuid,
    pub sequence: i64,
    pub given_id: Option<String>,
    pub record: Value,
}

/// A row of `outcomes`.
#[derive(Clone)]
pub struct OutcomeRow {
    pub namespace: String,
    pub request: String,
    pub rpc: &'static str,
    pub time: Time,
    pub record: Value,
}

/// A pointer that must stay as it is.
#[derive(Clone)]
pub struct PointerRow {
    pub namespace: String,
    pub recipient: String,
    pub conversation: String,
}

impl Row {
    /// Returns the row of a conversation that changed from `before` to `after`, and what `delta` writes and removes.
    /// Readers of lineages are left out.
    pub fn of(before: Option<&Conversation>, after: &Conversation, delta: &Delta) -> Self {
        let (head, was) = (&after.head, before.map(|before| &before.head));
        let [namespace, id] = names(&head.identity.key);
        let computed = Computed::of(head, after.awaits_since());
        let is_elsewhere = was.is_none_or(|was| was.branch != head.branch || was.trunks != head.trunks);
        let mut row = Self {
            namespace,
            id,
            state: was.map(|was| Uuid(was.change.0)),
            identity: None,
            lineages: is_elsewhere.then(|| array(&computed.lineages)),
            through: is_elsewhere.then(|| array(&computed.through)),
            computed,
            head: Value::new(),
            is_described: false,
            description: None,
            events: None,
            removed: removed(delta),
            utterances: Vec::new(),
            removed_records: Vec::new(),
            records: Vec::new(),
            outcomes: Vec::new(),
            pointers: Vec::new(),
        };
        for (key, record) in &delta.records {
            match record {
                Some(record) => row.put(record),
                None if key.first() == Some(&Descriptions::NUMBER) => row.is_described = true,
                None => row.removed_records.push((key.clone(),)),
            }
        }
        row
    }

    fn put(&mut self, record: &Record) {
        let (key, value) = record.written();
        match record {
            Record::ConversationName(..) => self.identity = Some(value),
            Record::Heads(..) => self.head = value,
            Record::Descriptions(..) => (self.is_described, self.description) = (true, Some(value)),
            Record::Utterances((lineage, sequence), utterance) => self.utterances.push(UtteranceRow {
                lineage: Uuid(lineage.0),
                sequence: number(*sequence),
                given_id: utterance.given_id().map(str::to_owned),
                record: value,
            }),
            Record::Readers(..) => {}
            _ => self.records.push((key, value)),
        }
    }

    /// The conversation's namespace and id.
    pub fn name(&self) -> (&str, &str) {
        (&self.namespace, &self.id)
    }

    /// Whether the row is small enough to share a batch.
    pub fn is_small(&self) -> bool {
        const SMALL: usize = 64 << 10;
        let utterances: usize = self.utterances.iter().map(|it| it.record.len()).sum();
        let records: usize = self.records.iter().map(|(_, record)| record.len()).sum();
        self.head.len() + utterances + records <= SMALL
    }

    /// Adds the outcomes to store with the row, and the pointers that must stay.
    pub fn with(mut self, outcomes: &[(OutcomeKey, Arc<Outcome>)], pointers: &[PointerWrite]) -> Self {
        self.outcomes = outcomes.iter().map(|(key, outcome)| OutcomeRow::of(key, outcome)).collect();
        self.pointers = pointers.iter().map(PointerRow::of).collect();
        self
    }
}

impl OutcomeRow {
    pub fn of(key: &OutcomeKey, outcome: &Arc<Outcome>) -> Self {
        Self {
            namespace: key.namespace.as_str().to_owned(),
            request: key.request.as_str().to_owned(),
            rpc: key.rpc,
            time: Time(outcome.time),
            record: records::pair::<Outcomes>(&OutcomeName::of(key), outcome).1,
        }
    }
}

impl PointerRow {
    fn of(pointer: &PointerWrite) -> Self {
        Self {
            namespace: pointer.recipient.namespace.as_str().to_owned(),
            recipient: pointer.recipient.id.as_str().to_owned(),
            conversation: pointer.before.as_ref().map_or("", |id| id.as_str()).to_owned(),
        }
    }
}

fn removed(delta: &Delta) -> Vec<(Uuid, i64, i64)> {
    let ranges = delta.gone.iter().flat_map(|(lineage, gone)| gone.iter().map(move |range| (lineage, range)));
    let removed =
        ranges.map(|(lineage, range)| (Uuid(lineage.0), number(*range.start()), number(range.end().next())));
    removed.collect()
}

pub fn names(key: &ConversationKey) -> [String; 2] {
    [key.namespace.as_str(), key.id.as_str()].map(str::to_owned)
}

/// Formats values as the text of an SQL array.
fn array(values: &[impl Display]) -> String {
    let texts: Vec<_> = values.iter().map(ToString::to_string).collect();
    format!("{{{}}}", texts.join(","))
}

/// An array of each field, with one value per row.
macro_rules! each_row {
    ($rows:ident: $($($field:ident).+),*) => {
        params![$($rows.iter().map(|row| row.$($field).+.clone()).collect::<Vec<_>>()),*]
    };
}

/// An array of the numbers of the rows, and one of each field, with one value per part of a row.
macro_rules! each_part {
    ($rows:ident.$parts:ident: $($field:tt),*) => {{
        let numbered = || (1_i64..).zip($rows);
        let parts = || numbered().flat_map(|(number, row)| row.$parts.iter().map(move |part| (number, part)));
        params![
            parts().map(|(number, _)| number).collect::<Vec<_>>(),
            $(parts().map(|(_, part)| part.$field.clone()).collect::<Vec<_>>()),*
        ]
    }};
}

/// Returns the parameters of a statement, `$1` to `$49`.
#[allow(clippy::clone_on_copy, reason = "the fields are of any type")]
pub fn parameters(rows: &[&Row]) -> Vec<Param> {
    let params = [
        each_row!(rows: namespace, id, state, identity, head, is_described, description, events),
        each_row!(rows: lineages, through, computed.lineage, computed.recipient, computed.listed),
        each_row!(rows: computed.change, computed.revision, computed.start_time, computed.update_time),
        each_row!(rows: computed.update_span, computed.end_time, computed.expire_time),
        each_row!(rows: computed.waits_since, computed.erased_at, computed.bytes, computed.live),
        each_row!(rows: computed.archived),
        each_part!(rows.removed: 0, 1, 2),
        each_part!(rows.utterances: lineage, sequence, given_id, record),
        each_part!(rows.removed_records: 0),
        each_part!(rows.records: 0, 1),
        each_part!(rows.outcomes: namespace, request, rpc, time, record),
        each_part!(rows.pointers: namespace, recipient, conversation),
    ];
    params.into_iter().flatten().collect()
}
