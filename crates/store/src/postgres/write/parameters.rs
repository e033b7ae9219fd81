//! The rows of several conversations, as the parameters of one statement.

use std::fmt::{Display, Write as _};

use super::row::Row;
use crate::postgres::types::{Param, Uuid, params};

/// Returns the parameters of a statement: `$1` to `$45` if it changes conversations, `$1` to `$48` if it
/// creates them.
///
/// Each parameter is an array. Arrays for the conversations' own columns have one value per row. The others
/// have one value per part of a row, and the first array for each kind of part holds the numbers of the rows.
pub fn parameters(rows: &[&Row]) -> Vec<Param> {
    let mut params = conversations(rows);
    params.extend(removed(rows));
    params.extend(utterances(rows));
    params.extend(records(rows));
    params.extend(outcomes(rows));
    params.extend(pointers(rows));
    params.extend(basis(rows));
    params
}

/// Returns a value for each row.
fn of<'a, T>(rows: &'a [&'a Row], value: impl FnMut(&'a Row) -> T) -> Vec<T> {
    rows.iter().copied().map(value).collect()
}

/// Returns a value for each part of each row.
fn each<'a, P: 'a, T>(
    rows: &'a [&'a Row],
    parts: fn(&'a Row) -> &'a [P],
    mut value: impl FnMut(i64, &'a P) -> T,
) -> Vec<T> {
    let numbered = (1..).zip(rows);
    let all = numbered.flat_map(|(number, row)| parts(row).iter().map(move |part| (number, part)));
    all.map(|(number, part)| value(number, part)).collect()
}

fn conversations(rows: &[&Row]) -> Vec<Param> {
    params![
        of(rows, |row| row.namespace.clone()),
        of(rows, |row| row.id.clone()),
        of(rows, |row| row.computed.change),
        of(rows, |row| row.computed.lineage),
        of(rows, |row| row.computed.revision),
        of(rows, |row| row.computed.update_time),
        of(rows, |row| row.computed.update_span),
        of(rows, |row| row.computed.end_time),
        of(rows, |row| row.computed.expire_time),
        of(rows, |row| row.computed.waits_since),
        of(rows, |row| row.computed.erased_at),
        of(rows, |row| row.computed.bytes),
        of(rows, |row| row.computed.live.clone()),
        of(rows, |row| row.computed.archived.clone()),
        of(rows, |row| row.is_elsewhere.then(|| array(&row.computed.lineages))),
        of(rows, |row| row.is_elsewhere.then(|| array(&row.computed.through))),
        of(rows, |row| row.head.clone()),
        of(rows, |row| row.description.is_some()),
        of(rows, |row| row.description.clone().flatten()),
        of(rows, |row| row.events.clone()),
    ]
}

fn removed(rows: &[&Row]) -> Vec<Param> {
    params![
        each(rows, |row| &row.removed, |number, _| number),
        each(rows, |row| &row.removed, |_, range| range.0),
        each(rows, |row| &row.removed, |_, range| range.1),
        each(rows, |row| &row.removed, |_, range| range.2),
    ]
}

fn utterances(rows: &[&Row]) -> Vec<Param> {
    params![
        each(rows, |row| &row.utterances, |number, _| number),
        each(rows, |row| &row.utterances, |_, it| it.lineage),
        each(rows, |row| &row.utterances, |_, it| it.sequence),
        each(rows, |row| &row.utterances, |_, it| it.given_id.clone()),
        each(rows, |row| &row.utterances, |_, it| it.record.clone()),
    ]
}

fn records(rows: &[&Row]) -> Vec<Param> {
    params![
        each(rows, |row| &row.removed_records, |number, _| number),
        each(rows, |row| &row.removed_records, |_, key| key.clone()),
        each(rows, |row| &row.records, |number, _| number),
        each(rows, |row| &row.records, |_, record| record.0.clone()),
        each(rows, |row| &row.records, |_, record| record.1.clone()),
    ]
}

fn outcomes(rows: &[&Row]) -> Vec<Param> {
    params![
        each(rows, |row| &row.outcomes, |number, _| number),
        each(rows, |row| &row.outcomes, |_, it| it.namespace.clone()),
        each(rows, |row| &row.outcomes, |_, it| it.request.clone()),
        each(rows, |row| &row.outcomes, |_, it| it.rpc),
        each(rows, |row| &row.outcomes, |_, it| it.time),
        each(rows, |row| &row.outcomes, |_, it| it.record.clone()),
    ]
}

fn pointers(rows: &[&Row]) -> Vec<Param> {
    params![
        each(rows, |row| &row.pointers, |number, _| number),
        each(rows, |row| &row.pointers, |_, it| it.namespace.clone()),
        each(rows, |row| &row.pointers, |_, it| it.recipient.clone()),
        each(rows, |row| &row.pointers, |_, it| it.conversation.clone()),
    ]
}

/// The parameters from `$45` on: the expected states if the rows change conversations, otherwise the columns
/// that never change.
fn basis(rows: &[&Row]) -> Vec<Param> {
    let states: Vec<Uuid> = rows.iter().filter_map(|row| row.basis.state()).collect();
    if !states.is_empty() {
        return params![states];
    }
    params![
        of(rows, |row| row.computed.recipient.clone()),
        of(rows, |row| row.computed.listed),
        of(rows, |row| row.computed.start_time),
        of(rows, |row| row.basis.identity().map(<[u8]>::to_vec)),
    ]
}

/// Formats values as the text of an SQL array.
fn array(values: &[impl Display]) -> String {
    let mut text = String::from("{");
    for (place, value) in values.iter().enumerate() {
        let comma = if place > 0 { "," } else { "" };
        let _ = write!(text, "{comma}{value}");
    }
    text + "}"
}
