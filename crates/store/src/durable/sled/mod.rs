//! The `sled` engine: a tree of pages in a log.

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
    disk::{
        files,
        generations::{CACHE_BYTES, Engine, Generations},
    },
    key_value::{Durability, Key, KeyValueError, Value, Writes},
};

/// The key-value store over sled.
///
/// - A killed process loses nothing. After a power loss there is no guarantee: sled writes to its files in
///   its own order.
/// - Reads see a batch before it is in the files.
/// - A range sees later writes, and can see parts of a batch applied after it began.
pub type Sled = Generations<SledEngine>;

/// An open sled database with all pairs in its default tree.
pub struct SledEngine {
    database: Db,
    log: File,
}

/// Bytes per batch when filling a new database: written one by one, the pairs would take an eighth more disk
/// space.
const FILL_BYTES: usize = 256 << 10;

impl Engine for SledEngine {
    const VISIBLE_BEFORE_FLUSH: bool = true;
    const RANGES_GO_ALONG: bool = true;

    fn open(directory: &Path) -> Result<Self, KeyValueError> {
        remove_unfinished_snapshots(directory)?;
        let config = sled::Config::new().path(directory).cache_capacity(CACHE_BYTES).flush_every_ms(None);
        let (database, log) = (open_when_unlocked(&config)?, directory.join("db"));
        Ok(Self { database, log: File::open(&log).map_err(files::failed("open", &log))? })
    }

    fn get(&self, key: &[u8]) -> Result<Option<Value>, KeyValueError> {
        Ok(self.database.get(key)?.map(|value| value.to_vec()))
    }

    fn range(
        &self,
        from: Bound<&[u8]>,
        to: Bound<&[u8]>,
    ) -> impl DoubleEndedIterator<Item = Result<(Key, Value), KeyValueError>> + Send + 'static {
        self.database.range::<&[u8], _>((from, to)).map(|found| {
            let (key, value) = found?;
            Ok((key.to_vec(), value.to_vec()))
        })
    }

    fn apply(&self, writes: Writes, durability: Durability) -> Result<(), KeyValueError> {
        let mut batch = sled::Batch::default();
        for (key, value) in writes {
            match value {
                Some(value) => batch.insert(key, value),
                None => batch.remove(key),
            }
        }
        self.database.apply_batch(batch)?;
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
            batch.insert(key, value);
            if bytes >= FILL_BYTES {
                self.database.apply_batch(mem::take(&mut batch))?;
                bytes = 0;
            }
        }
        self.database.apply_batch(batch)?;
        self.sync()
    }

    /// sled's own flush writes and waits for the writes, but does not sync them to disk.
    fn sync(&self) -> Result<(), KeyValueError> {
        self.flush()?;
        self.log.sync_data().map_err(|error| KeyValueError(format!("cannot sync sled's log: {error}")))
    }
}

impl SledEngine {
    /// Writes sled's buffers to the operating system.
    fn flush(&self) -> Result<(), KeyValueError> {
        self.database.flush()?;
        Ok(())
    }
}

/// Removes unfinished snapshots that an interruption left: sled takes them for complete ones and refuses to
/// open. Without them, it reads its log.
fn remove_unfinished_snapshots(directory: &Path) -> Result<(), KeyValueError> {
    let is_unfinished = |name: &String| name.starts_with("snap.") && name.ends_with(".generating");
    for name in files::names(directory)?.into_iter().filter(is_unfinished) {
        let path = directory.join(name);
        files::present(fs::remove_file(&path)).map_err(files::failed("remove", &path))?;
    }
    Ok(())
}

/// Opens the database. A previous instance on the same files, already dropped, may keep them locked until its
/// threads finish.
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
