//! The `fjall` engine: a log-structured merge tree behind a journal.

use std::{ops::Bound, path::Path};

use fjall::{Database, Keyspace, KeyspaceCreateOptions, PersistMode, Readable as _};

use super::{
    disk::generations::{CACHE_BYTES, Engine, Generations},
    key_value::{Durability, Key, KeyValueError, Value, Writes},
};
use utterd_domain::limits::STORE_CACHED_FILES;

/// The key-value store over fjall.
///
/// - A batch is in the journal, synced if requested, before any read sees it.
/// - A range reads one state: it does not see batches applied after it began.
pub type Fjall = Generations<FjallEngine>;

/// An open fjall database with all pairs in one keyspace.
pub struct FjallEngine {
    database: Database,
    pairs: Keyspace,
}

/// Size of the in-memory write buffer before it is written out as a table; up to four times as much waits
/// while tables are written.
const MEMTABLE_BYTES: u64 = 16 << 20;

/// Threads that write and merge tables. While one merges and one writes, a third is left to seal memtables,
/// which bounds the memory.
///
/// More than one is required: a single thread sends itself messages through a bounded queue, which commits
/// fill while the thread merges. Once it blocks on the full queue, no more memtables are written.
const WORKERS: usize = 3;

impl Engine for FjallEngine {
    fn open(directory: &Path) -> Result<Self, KeyValueError> {
        let database = Database::builder(directory)
            .cache_size(CACHE_BYTES)
            .worker_threads(WORKERS)
            .max_cached_files(Some(STORE_CACHED_FILES))
            .open()?;
        let options = || KeyspaceCreateOptions::default().max_memtable_size(MEMTABLE_BYTES);
        let pairs = database.keyspace("pairs", options)?;
        Ok(Self { database, pairs })
    }

    fn get(&self, key: &[u8]) -> Result<Option<Value>, KeyValueError> {
        // without a snapshot, a read could see a batch that a range does not see yet
        Ok(self.database.snapshot().get(&self.pairs, key)?.map(|value| value.to_vec()))
    }

    fn range(
        &self,
        from: Bound<&[u8]>,
        to: Bound<&[u8]>,
    ) -> impl DoubleEndedIterator<Item = Result<(Key, Value), KeyValueError>> + Send + 'static {
        self.database.snapshot().range::<&[u8], _>(&self.pairs, (from, to)).map(|pair| {
            let (key, value) = pair.into_inner()?;
            Ok((key.to_vec(), value.to_vec()))
        })
    }

    fn apply(&self, mut writes: Writes, durability: Durability) -> Result<(), KeyValueError> {
        writes.sort_unstable_by(|(one, _), (other, _)| one.cmp(other)); // neighbours are inserted together
        let mut batch = self.database.batch().durability(Some(match durability {
            Durability::Process => PersistMode::Buffer,
            Durability::Disk => PersistMode::SyncData,
        }));
        for (key, value) in writes {
            match value {
                Some(value) => batch.insert(&self.pairs, key, value),
                None => batch.remove(&self.pairs, key),
            }
        }
        Ok(batch.commit()?)
    }

    fn fill(
        &self,
        pairs: impl Iterator<Item = Result<(Key, Value), KeyValueError>>,
    ) -> Result<(), KeyValueError> {
        let mut tables = self.pairs.start_ingestion()?;
        for pair in pairs {
            let (key, value) = pair?;
            tables.write(key, value)?;
        }
        Ok(tables.finish()?)
    }

    fn sync(&self) -> Result<(), KeyValueError> {
        Ok(self.database.persist(PersistMode::SyncAll)?)
    }
}

impl From<fjall::Error> for KeyValueError {
    fn from(error: fjall::Error) -> Self {
        Self(format!("fjall: {error}"))
    }
}
