//! Reads the database at one moment, as the records of the durable stores.

use std::{
    ops::{Bound, RangeBounds},
    vec,
};

use tokio_postgres::{IsolationLevel, Portal, Row, Transaction, types::ToSql};

use super::{
    session::Session,
    tables::{TABLES, Table},
};
use crate::store::postgres::{Options, connection::fault::unavailable, types::Uuid};
use crate::store::{
    Result, StoreError,
    durable::{
        key_value::{Ascending, Key, KeyValueError, Ordered, Value},
        lineage_of,
    },
};

/// Bytes of records to fetch at a time, approximately.
const FETCH_BYTES: usize = 1 << 20;
/// Rows to fetch at first, and at most.
const ROWS: [usize; 2] = [50, 2_000];

/// Runs `work` with a snapshot of the schema, while servers keep running.
///
/// - Until `work` is done, VACUUM cannot free rows that are removed meanwhile.
/// - Blocks: must not be called on a thread of a runtime.
pub fn read<T>(options: &Options, work: impl FnOnce(&Snapshot<'_>) -> T) -> Result<T> {
    let Session { runtime, mut client } = Session::open(options)?;
    let transaction = client.build_transaction().isolation_level(IsolationLevel::RepeatableRead);
    let transaction = runtime.block_on(transaction.read_only(true).start());
    let transaction = transaction.map_err(|error| unavailable(&error))?;
    Ok(work(&Snapshot { runtime: &runtime, transaction }))
}

/// The content of a schema at one moment.
pub struct Snapshot<'a> {
    runtime: &'a tokio::runtime::Runtime,
    transaction: Transaction<'a>,
}

impl Snapshot<'_> {
    /// Runs a statement, and fetches its rows in parts.
    pub(in crate::store::postgres) fn rows(
        &self,
        sql: &str,
        params: &[&(dyn ToSql + Sync)],
    ) -> Result<Rows<'_>> {
        let opened = self.runtime.block_on(self.transaction.bind(sql, params));
        let portal = opened.map_err(|error| unavailable(&error))?;
        Ok(Rows { snapshot: self, portal: Some(portal), rows: Vec::new().into_iter(), next: ROWS[0] })
    }
}

/// The rows of a statement; an error is the last item.
pub struct Rows<'a> {
    snapshot: &'a Snapshot<'a>,
    /// `None` once all rows have been fetched.
    portal: Option<Portal>,
    rows: vec::IntoIter<Row>,
    /// How many rows to fetch next.
    next: usize,
}

impl Rows<'_> {
    fn fetch(&mut self) -> Result<()> {
        let Some(portal) = self.portal.take() else { return Ok(()) };
        let asked = self.next;
        let fetched = self.snapshot.transaction.query_portal(&portal, asked as i32);
        let rows = self.snapshot.runtime.block_on(fetched).map_err(|error| unavailable(&error))?;
        if rows.len() == asked {
            self.portal = Some(portal);
        }
        let bytes: usize = rows.iter().map(Row::raw_size_bytes).sum();
        self.next = (FETCH_BYTES / (bytes / rows.len().max(1)).max(1)).clamp(1, ROWS[1]);
        self.rows = rows.into_iter();
        Ok(())
    }
}

impl Iterator for Rows<'_> {
    type Item = Result<Row>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.rows.len() == 0
            && let Err(error) = self.fetch()
        {
            return Some(Err(error));
        }
        self.rows.next().map(Ok)
    }
}

/// The bounds of a range of keys.
type Bounds = (Bound<Key>, Bound<Key>);

impl Ordered for Snapshot<'_> {
    fn ascending(&self, from: Bound<&[u8]>, to: Bound<&[u8]>) -> Ascending<'_> {
        let bounds = (from.map(<[u8]>::to_vec), to.map(<[u8]>::to_vec));
        let kinds = kinds(&bounds);
        let tables = TABLES.iter().filter(move |table| kinds.contains(&table.kind));
        let mut failed = false;
        let pairs = tables.flat_map(move |table| self.records(table, bounds.clone()));
        Box::new(pairs.take_while(move |pair| !std::mem::replace(&mut failed, pair.is_err())))
    }
}

impl Snapshot<'_> {
    fn records(&self, table: &'static Table, bounds: Bounds) -> Ascending<'_> {
        let [first, last] = lineages(table.kind, &bounds);
        let both: [&(dyn ToSql + Sync); 2] = [&first, &last];
        let params = if table.sql.contains("$1") { &both[..] } else { &[] };
        let failed = |error: StoreError| KeyValueError(error.to_string());
        match self.rows(table.sql, params) {
            Err(error) => Box::new(std::iter::once(Err(failed(error)))),
            Ok(rows) => {
                let pairs = rows.map(move |row| (table.pair)(&row.map_err(failed)?));
                Box::new(pairs.filter(move |pair| is_within(pair, &bounds)))
            }
        }
    }
}

fn is_within(pair: &Result<(Key, Value), KeyValueError>, bounds: &Bounds) -> bool {
    pair.as_ref().map_or(true, |(key, _)| bounds.contains(key))
}

/// Returns the kinds of records in a range of keys.
fn kinds((from, to): &Bounds) -> std::ops::RangeInclusive<u8> {
    let kind = |bound: &Bound<Key>| match bound {
        Bound::Included(key) | Bound::Excluded(key) => key.first().copied(),
        Bound::Unbounded => None,
    };
    kind(from).unwrap_or(0)..=kind(to).unwrap_or(u8::MAX)
}

/// Returns the first and the last lineage in a range of keys of a kind. This can include more than the keys.
fn lineages(kind: u8, (from, to): &Bounds) -> [Uuid; 2] {
    let of = |bound: &Bound<Key>, otherwise: u8| match bound {
        Bound::Included(key) | Bound::Excluded(key) if key.first() == Some(&kind) => Uuid(lineage_of(key).0),
        _ => Uuid([otherwise; 16]),
    };
    [of(from, 0), of(to, u8::MAX)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        domain::LineageId,
        store::durable::records::{self, Heads, Kind, Utterances},
    };

    fn between(range: std::ops::Range<Key>) -> Bounds {
        (Bound::Included(range.start), Bound::Excluded(range.end))
    }

    #[test]
    fn the_tables_are_in_the_order_of_their_kinds() {
        assert!(TABLES.is_sorted_by(|one, other| one.kind < other.kind));
    }

    #[test]
    fn the_lineages_of_a_range_of_keys_are_known() {
        let number = Utterances::NUMBER;
        let all = between(records::all_of::<Utterances>());
        assert_eq!(lineages(number, &all), [Uuid([0; 16]), Uuid([u8::MAX; 16])]);
        let mut behind = [7; 16];
        behind[15] = 8;
        let one = between(records::of_lineage::<Utterances>(LineageId([7; 16])));
        assert_eq!(lineages(number, &one), [Uuid([7; 16]), Uuid(behind)]);
        let last = between(records::of_lineage::<Utterances>(LineageId([u8::MAX; 16])));
        assert_eq!(lineages(number, &last), [Uuid([u8::MAX; 16]), Uuid([u8::MAX; 16])]);
        assert_eq!(kinds(&all), number..=number + 1);
        assert!(!kinds(&one).contains(&Heads::NUMBER));
    }
}
