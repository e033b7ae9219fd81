//! Restores a backup to files.

use std::{mem, ops::Bound, sync::Arc};

use super::{
    disk::directory::Directory,
    key_value::{Durability, Key, KeyValue, Value, Writes},
    pairs,
    reader::Reader,
};
use crate::{
    Result, StoreError,
    backup::{Backup, RestoreError},
    entries,
    records::{self, Meta, Metas, Record},
};

/// Bytes per batch.
const BATCH_BYTES: usize = 1 << 20;

/// Restores a backup to `to`, which is empty or holds the beginning of the same restore.
///
/// - Until it is finished, `to` is marked as unfinished and can be opened only to go on: everything is written again.
/// - Writes the records that are derived from others too. A conversation whose records do not fit together is in no
///   list: a verification names it.
/// - At the end, compares the store with the backup.
pub fn restore(backup: &Backup, to: Directory) -> Result<(), RestoreError> {
    let pairs = to.pairs();
    let is_unfinished = number(pairs, Meta::Copying)?.is_some();
    if !is_unfinished && pairs.range(Bound::Unbounded, Bound::Unbounded).next().is_some() {
        return Err(RestoreError::Taken("directory"));
    }
    note(pairs, Some(1))?;
    let reader = Reader(Arc::new(to));
    write(backup, &reader)?;
    backup.compare(|each| reader.0.each_record(each), "directory")?;
    let group = note(reader.0.pairs(), None)?;
    reader.0.mark(group).map_err(StoreError::unavailable)?;
    Ok(())
}

fn write(backup: &Backup, reader: &Reader) -> Result<(), RestoreError> {
    let (mut writer, mut names) = (Writer::to(reader.0.pairs()), Vec::new());
    for record in backup.records()? {
        let (key, value) = record?;
        let record = Record::read(&key, &value)?;
        record.derived().map_or(Ok(()), |derived| writer.put(derived))?;
        if let Record::ConversationName(key, _) = record {
            names.push(key);
        }
        writer.put((key, value))?;
    }
    writer.flush()?;
    for key in names {
        if let Ok(Some(state)) = reader.load(&key) {
            entries::of(&state).into_iter().try_for_each(|pair| writer.put(pair))?;
        }
    }
    writer.flush()?;
    Ok(reader.0.pairs().sync().map_err(StoreError::unavailable)?)
}

/// Writes pairs in batches.
struct Writer<'a> {
    pairs: &'a dyn KeyValue,
    writes: Writes,
    bytes: usize,
}

impl<'a> Writer<'a> {
    fn to(pairs: &'a dyn KeyValue) -> Self {
        Self { pairs, writes: Writes::new(), bytes: 0 }
    }

    fn put(&mut self, (key, value): (Key, Value)) -> Result<()> {
        self.bytes += key.len() + value.len();
        self.writes.push((key, Some(value)));
        if self.bytes >= BATCH_BYTES { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<()> {
        self.bytes = 0;
        self.pairs.apply(mem::take(&mut self.writes), Durability::Process).map_err(StoreError::unavailable)
    }
}

/// Records on disk whether the restore is unfinished; returns the group of that write.
fn note(pairs: &dyn KeyValue, unfinished: Option<u64>) -> Result<u64> {
    let group = number(pairs, Meta::Group)?.unwrap_or(0) + 1;
    let mark = unfinished.map(|number| records::pair::<Metas>(&Meta::Copying, &number).1);
    let note = (records::key::<Metas>(&Meta::Copying), mark);
    let links = if group > 1 { &[group - 1][..] } else { &[] };
    let writes = records::group_writes(group, links).chain([note]).collect();
    pairs.apply(writes, Durability::Disk).map_err(StoreError::unavailable)?;
    Ok(group)
}

/// Reads one of the store's own numbers.
fn number(pairs: &dyn KeyValue, meta: Meta) -> Result<Option<u64>> {
    pairs::get::<Metas>(pairs, &meta).map_err(StoreError::unavailable)
}
