//! The rows of several conversations, as the parameters of one statement.

use super::row::Row;
use crate::postgres::types::{Param, params};

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
