//! The engine `sled`: a tree of pages in a log.

mod pieces;
#[cfg(test)]
mod tests;

use std::{
    fs::{self, File},
    mem,
    ops::Bound,
    path::Path,
    thread,
    time::Duration,
};

use sled::Db;

use super::{
    files,
    generations::{Engine, Generations},
    key_value::{Batch, Durability, Key, KeyValueError, Value},
};
use pieces::PiecedTree;

/// The key-value store over sled.
///
/// - Reads see a batch while it is still on its way to the disk.
/// - A range goes along with the writes: of a batch that comes after its beginning it may see a part.
pub type Sled = Generations<SledEngine>;

/// An open sled database with all pairs in its default tree.
pub struct SledEngine {
    database: Db,
    pairs: PiecedTree,
    /// All that sled keeps: see [`pieces`].
    log: File,
}

/// Pairs that are written together into a new database: one after the other, they would take an
/// eighth more on the disk.
const FILL_BYTES: usize = 256 << 10;

impl Engine for SledEngine {
    const VISIBLE_BEFORE_FLUSH: bool = true;

    fn open(directory: &Path, cache_bytes: u64) -> Result<Self, KeyValueError> {
        refuse_blobs(directory)?;
        remove_unfinished_snapshots(directory)?;
        let config = sled::Config::new().path(directory).cache_capacity(cache_bytes).flush_every_ms(None);
        files::sync_all_under(directory)?; // what sled finds in its log, it takes for safe
        let database = open_when_unlocked(&config)?;
        files::sync_all_under(directory)?;
        let log = directory.join("db");
        Ok(Self {
            pairs: PiecedTree::of((*database).clone())?,
            database,
            log: File::open(&log).map_err(files::failed("open", &log))?,
        })
    }

    fn get(&self, key: &[u8]) -> Result<Option<Value>, KeyValueError> {
        self.pairs.get(key)
    }

    fn range(
        &self,
        from: Bound<&[u8]>,
        to: Bound<&[u8]>,
    ) -> impl DoubleEndedIterator<Item = Result<(Key, Value), KeyValueError>> + Send + 'static {
        self.pairs.range(from, to)
    }

    fn apply(&self, batch: Batch, durability: Durability) -> Result<(), KeyValueError> {
        let mut writes = sled::Batch::default();
        for (key, value) in batch.writes {
            self.pairs.remove(&key, &mut writes)?;
            if let Some(value) = value {
                self.pairs.insert(&key, &value, &mut writes);
            }
        }
        self.database.apply_batch(writes)?;
        match durability {
            Durability::Process => self.flush(),
            Durability::Disk => self.sync(),
        }
    }

    fn fill(
        &self,
        pairs: impl Iterator<Item = Result<(Key, Value), KeyValueError>>,
    ) -> Result<(), KeyValueError> {
        let (mut batch, mut bytes) = (sled::Batch::default(), 0);
        for pair in pairs {
            let (key, value) = pair?;
            bytes += key.len() + value.len();
            self.pairs.insert(&key, &value, &mut batch);
            if bytes >= FILL_BYTES {
                self.database.apply_batch(mem::take(&mut batch))?;
                bytes = 0;
            }
        }
        self.database.apply_batch(batch)?;
        self.sync()
    }

    /// sled's own flush starts the writing and waits for it, but tells neither the file system nor
    /// the disk to keep what was written: that is done here.
    fn sync(&self) -> Result<(), KeyValueError> {
        self.flush()?;
        self.log.sync_data().map_err(|error| KeyValueError(format!("cannot sync sled's log: {error}")))
    }
}

impl SledEngine {
    /// Hands what sled still holds to the operating system.
    fn flush(&self) -> Result<(), KeyValueError> {
        self.database.flush()?;
        Ok(())
    }
}

/// Refuses a database with pages beside its log: they are none of those that are written here, and
/// nothing brings them to the disk.
fn refuse_blobs(directory: &Path) -> Result<(), KeyValueError> {
    let blobs = directory.join("blobs");
    match files::names(&blobs)?.first() {
        None => Ok(()),
        Some(name) => {
            Err(KeyValueError(format!("{} does not belong to a store of sled", blobs.join(name).display())))
        }
    }
}

/// Removes snapshots that an interruption cut short: sled takes them for whole ones and refuses to
/// open. Without them it reads its log.
fn remove_unfinished_snapshots(directory: &Path) -> Result<(), KeyValueError> {
    let is_unfinished = |name: &String| name.starts_with("snap.") && name.ends_with(".generating");
    for name in files::names(directory)?.into_iter().filter(is_unfinished) {
        let path = directory.join(name);
        files::present(fs::remove_file(&path)).map_err(files::failed("remove", &path))?;
    }
    Ok(())
}

/// Opens the database, which the one before it on the same files, already dropped, may keep locked
/// until its threads are done.
fn open_when_unlocked(config: &sled::Config) -> Result<Db, KeyValueError> {
    const TRIES: usize = 500;
    const BETWEEN: Duration = Duration::from_millis(10);
    for _ in 1..TRIES {
        match config.open() {
            Err(sled::Error::Io(error)) if error.to_string().contains("could not acquire lock") => {
                thread::sleep(BETWEEN);
            }
            opened => return Ok(opened?),
        }
    }
    Ok(config.open()?)
}

impl From<sled::Error> for KeyValueError {
    fn from(error: sled::Error) -> Self {
        Self(format!("sled: {error}"))
    }
}
