//! Copies the records of a store into another directory, with the same or another engine.

use std::{
    fmt, fs, mem,
    ops::Bound,
    path::{Path, PathBuf},
};

use super::{
    disk::directory::Directory,
    key_value::{Ascending, Batch, Durability, Key, KeyValue, KeyValueError, Ordered, Value},
    lists,
    records::{self, BadRecord, BlockLists, Blocks, Kind, Links, Meta, Metas, Record, Unread},
};

/// Bytes per batch.
const BATCH_BYTES: usize = 1 << 20;
/// Records between two progress reports while only reading.
const STEP: u64 = 1_000;

/// Progress of a copy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Copied {
    /// Records in the copy, without the store's own numbers.
    pub records: u64,
    /// Size of these records' keys and values.
    pub bytes: u64,
    /// Records that an earlier attempt had already copied; they were compared.
    pub resumed: u64,
    /// Records that were read back from both stores at the end and are equal.
    pub verified: u64,
}

/// Where a copy is made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CopyPlace {
    /// A directory.
    Directory(PathBuf),
    /// A schema of a database, and the database.
    Schema(String, String),
}

/// Why a store was not copied.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CopyError {
    /// Source and target are the same.
    #[error("{0} cannot be copied to itself; choose another {what}", what = .0.what())]
    Same(CopyPlace),
    /// The target already holds a store.
    #[error("{0} already holds a store; choose an empty {what}, or one that does not exist", what = .0.what())]
    Taken(CopyPlace),
    /// Another process is copying to the target.
    #[error("another process copies to {0} at the moment; wait until it ends")]
    InUse(CopyPlace),
    /// The target cannot be opened.
    #[error("{0}")]
    Target(String),
    /// An earlier attempt's copy does not match the source.
    #[error(
        "the copy in {place} does not match the source: {record} differs; the source has changed since, {why}; remove the {what} and copy again",
        why = place.other_reasons(), what = place.what()
    )]
    Differs {
        /// Where the copy is.
        place: CopyPlace,
        /// The first record that differs.
        record: Box<str>,
    },
    /// A record of the source is not readable.
    #[error(
        "a record of the source is damaged, and nothing after it was copied: {0}; run utterd verify for details"
    )]
    Damaged(#[from] BadRecord),
    /// A record that belongs to another one is missing in the source.
    #[error("the records of the source do not fit together: {0}; run utterd verify for details")]
    Unfit(String),
    /// The source cannot be read.
    #[error("the source cannot be read: {0}")]
    Read(KeyValueError),
    /// The target cannot be written or read.
    #[error("the copy cannot be written: {0}")]
    Write(KeyValueError),
}

impl CopyPlace {
    fn what(&self) -> &'static str {
        match self {
            Self::Directory(_) => "directory",
            Self::Schema(..) => "schema",
        }
    }

    fn other_reasons(&self) -> &'static str {
        match self {
            Self::Directory(_) => "or the copy is of another store",
            Self::Schema(..) => {
                "the copy is of another store or was written to, or the records of the source do not fit together (see utterd verify)"
            }
        }
    }
}

impl fmt::Display for CopyPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Directory(path) => write!(f, "{}", path.display()),
            Self::Schema(schema, database) => write!(f, "the schema {schema} of {database}"),
        }
    }
}

impl From<&Path> for CopyPlace {
    fn from(path: &Path) -> Self {
        Self::Directory(path.into())
    }
}

/// Copies all records of a store to `to`, which is empty or holds the beginning of the same copy.
///
/// - [Derived](crate::store::DerivedData::derived) data is left out: its users rebuild it. Lists of names are
///   rebuilt at the end, except for what an earlier attempt has already rebuilt.
/// - Resumes an earlier attempt, after comparing the records that were already copied.
/// - Until the copy is finished, `to` is marked as unfinished and can be opened only to continue.
/// - At the end, both stores are read and compared record by record.
/// - Fails at the first unreadable record of `from`; `verify` lists all unreadable records.
pub fn copy(
    from: &dyn Ordered,
    to: &Directory,
    progress: &mut dyn FnMut(Copied),
) -> Result<Copied, CopyError> {
    let (place, copied) = (to.path().into(), Copied::default());
    let mut copying = Copying { from, to: to.pairs(), place, progress, copied };
    let group = copying.run(BATCH_BYTES)?;
    to.mark(group).map_err(CopyError::Write)?;
    Ok(copying.copied)
}

/// Whether both paths exist and are the same directory.
pub fn is_same(one: &Path, other: &Path) -> bool {
    match (fs::canonicalize(one), fs::canonicalize(other)) {
        (Ok(one), Ok(other)) => one == other,
        _ => false,
    }
}

/// A copy in progress.
struct Copying<'a> {
    from: &'a dyn Ordered,
    to: &'a dyn KeyValue,
    place: CopyPlace,
    progress: &'a mut dyn FnMut(Copied),
    copied: Copied,
}

impl Copying<'_> {
    /// Copies, and returns the target's last group.
    fn run(&mut self, batch_bytes: usize) -> Result<u64, CopyError> {
        match self.number(Meta::Copying)? {
            Some(_) => {}
            None if self.to.range(Bound::Unbounded, Bound::Unbounded).next().is_some() => {
                return Err(CopyError::Taken(self.place.clone()));
            }
            None => drop(self.note(Some(1))?),
        }
        let last = self.compare_with(false, |copied, pair| {
            copied.add(pair);
            copied.resumed += 1;
        })?;
        self.copy_rest(last, batch_bytes)?;
        self.to.sync().map_err(CopyError::Write)?;
        self.compare_with(true, |copied, _| copied.verified += 1)?;
        let to = self.to;
        lists::complete(to, &mut |writes| to.apply(Batch { writes }, Durability::Process))
            .map_err(CopyError::Write)?;
        self.to.sync().map_err(CopyError::Write)?;
        (self.progress)(self.copied);
        self.note(None)
    }

    /// Compares the copy with the source: see [`compare`]. Calls `note` for each equal record.
    fn compare_with(
        &mut self,
        all: bool,
        note: fn(&mut Copied, &(Key, Value)),
    ) -> Result<Option<Key>, CopyError> {
        let to = self.to;
        let (copied, progress) = (&mut self.copied, &mut *self.progress);
        let mut note = |pair: &(Key, Value)| {
            note(copied, pair);
            if (copied.resumed + copied.verified).is_multiple_of(STEP) {
                progress(*copied);
            }
        };
        compare(contents(self.from, None), contents(&to, None), all, &self.place, &mut note)
    }

    /// Copies the records after the key `last` unchanged.
    fn copy_rest(&mut self, last: Option<Key>, batch_bytes: usize) -> Result<(), CopyError> {
        let (mut batch, mut bytes) = (Batch::default(), 0);
        for pair in contents(self.from, last.as_deref()) {
            let pair = pair.map_err(CopyError::Read)?;
            if let Err(bad) = Record::read(&pair.0, &pair.1) {
                self.apply(&mut batch)?;
                return Err(bad.into());
            }
            self.copied.add(&pair);
            bytes += pair.0.len() + pair.1.len();
            batch.writes.push((pair.0, Some(pair.1)));
            if bytes >= batch_bytes {
                self.apply(&mut batch)?;
                bytes = 0;
            }
        }
        self.apply(&mut batch)
    }

    fn apply(&mut self, batch: &mut Batch) -> Result<(), CopyError> {
        if !batch.writes.is_empty() {
            self.to.apply(mem::take(batch), Durability::Process).map_err(CopyError::Write)?;
            (self.progress)(self.copied);
        }
        Ok(())
    }

    /// Records on disk whether the copy is unfinished; returns the group of that write.
    fn note(&mut self, unfinished: Option<u64>) -> Result<u64, CopyError> {
        let group = self.number(Meta::Group)?.unwrap_or(0) + 1;
        let mark = unfinished.map(|number| records::pair::<Metas>(&Meta::Copying, &number).1);
        let note = (records::key::<Metas>(&Meta::Copying), mark);
        let links = if group > 1 { &[group - 1][..] } else { &[] };
        let writes = records::group_writes(group, links).chain([note]).collect();
        self.to.apply(Batch { writes }, Durability::Disk).map_err(CopyError::Write)?;
        Ok(group)
    }

    /// Reads one of the target's numbers.
    fn number(&self, meta: Meta) -> Result<Option<u64>, CopyError> {
        let number = records::get::<Metas>(self.to, &meta);
        number.map_err(|error| CopyError::Write(KeyValueError(error.to_string())))
    }
}

/// Compares a copy with its source, record by record: with the whole source if `all`, otherwise up to the end
/// of the copy. Calls `note` for each equal record. Returns the last key of the copy.
pub(in crate::store) fn compare(
    mut source: Ascending<'_>,
    mut copy: Ascending<'_>,
    all: bool,
    place: &CopyPlace,
    note: &mut dyn FnMut(&(Key, Value)),
) -> Result<Option<Key>, CopyError> {
    let mut last = None;
    loop {
        let copied = copy.next().transpose().map_err(CopyError::Write)?;
        let wanted = (all || copied.is_some()).then(|| source.next()).flatten();
        let original = wanted.transpose().map_err(CopyError::Read)?;
        if copied != original {
            // If the keys differ, the smaller one is missing from the other store.
            return Err(CopyError::differs(place, copied.iter().chain(&original).min()));
        }
        let Some(pair) = copied else { return Ok(last) };
        note(&pair);
        last = Some(pair.0);
    }
}

impl From<Unread> for CopyError {
    fn from(error: Unread) -> Self {
        match error {
            Unread::Engine(error) => Self::Read(error),
            Unread::Bad(bad) => Self::Damaged(bad),
        }
    }
}

impl CopyError {
    /// Returns the error for a copy that differs from the source in a record.
    pub(in crate::store) fn differs(place: &CopyPlace, record: Option<&(Key, Value)>) -> Self {
        let record = record.map_or_else(Default::default, |(key, value)| describe(key, value));
        Self::Differs { place: place.clone(), record }
    }
}

impl Copied {
    /// Counts a record of the copy.
    pub(in crate::store) fn add(&mut self, (key, value): &(Key, Value)) {
        self.records += 1;
        self.bytes += (key.len() + value.len()) as u64;
    }
}

/// The records after `last`, without the store's own and derived ones.
pub(in crate::store) fn contents<'a>(pairs: &'a dyn Ordered, last: Option<&[u8]>) -> Ascending<'a> {
    let from = last.map_or(Bound::Unbounded, Bound::Excluded);
    Box::new(pairs.ascending(from, Bound::Unbounded).filter(|pair| !pair.as_ref().is_ok_and(is_own)))
}

/// Whether a copy leaves out the record: it is one of the store's own numbers or links (groups and unscrubbed
/// data concern the files), or it is derived from utterances, names or heads, and rebuilt.
pub(super) fn is_own((key, _): &(Key, Value)) -> bool {
    const OWN: [u8; 4] = [Metas::NUMBER, Links::NUMBER, Blocks::NUMBER, BlockLists::NUMBER];
    key.first().is_some_and(|kind| OWN.contains(kind) || lists::KINDS.contains(kind))
}

/// A readable description of a record.
pub(super) fn describe(key: &[u8], value: &[u8]) -> Box<str> {
    match Record::read(key, value) {
        Ok(record) => record.name().into(),
        Err(bad) => bad.record,
    }
}

#[cfg(test)]
mod tests;
