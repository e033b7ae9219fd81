//! A store whose engine can start over in fresh files, so that nothing remains of the old ones.
//!
//! A directory holds:
//! - `data-000001`, `data-000002`, …: an engine's files, one directory per generation
//! - `CURRENT`: the name of the generation that holds the pairs; `none`, which has no directory, for a store
//!   without pairs
//! - `snapshot-000001`, …: copies being read: see [`snapshot`]
//!
//! Other generations, and all copies, are leftovers of an interruption and are removed when the store is
//! opened.

mod names;
mod snapshot;

use std::{
    collections::HashSet,
    convert::Infallible,
    iter, mem,
    ops::Bound,
    path::{Path, PathBuf},
    sync::{
        Arc,
        mpsc::{self, Receiver, Sender},
    },
};

use parking_lot::{Mutex, MutexGuard, RwLock};

use super::{files, place::Place};
use crate::durable::{
    key_value::{Durability, Key, KeyValue, KeyValueError, Pairs, Value, Writes},
    panics::caught,
};
use names::{current_number, path_of, point_to, remove_all_but, remove_copies};

/// An embedded database in one directory; any method can panic, and so can its drop.
pub trait Engine: Send + Sync + Sized + 'static {
    /// The value that [`KeyValue::visible_before_flush`] returns.
    const VISIBLE_BEFORE_FLUSH: bool = false;

    /// Whether a range can see parts of batches applied after it began.
    const RANGES_GO_ALONG: bool = false;

    /// Opens or creates the database in a directory, with a cache of about [`CACHE_BYTES`].
    fn open(directory: &Path) -> Result<Self, KeyValueError>;

    /// Returns the value of `key`.
    fn get(&self, key: &[u8]) -> Result<Option<Value>, KeyValueError>;

    /// Returns the pairs between two keys; `from` is not above `to`.
    fn range(
        &self,
        from: Bound<&[u8]>,
        to: Bound<&[u8]>,
    ) -> impl DoubleEndedIterator<Item = Result<(Key, Value), KeyValueError>> + Send + 'static;

    /// Applies all writes of a batch, or none.
    fn apply(&self, writes: Writes, durability: Durability) -> Result<(), KeyValueError>;

    /// Writes ascending pairs into an empty database and syncs them to disk.
    fn fill(
        &self,
        pairs: impl Iterator<Item = Result<(Key, Value), KeyValueError>>,
    ) -> Result<(), KeyValueError>;

    /// Syncs everything that was applied to disk.
    fn sync(&self) -> Result<(), KeyValueError>;
}

/// A key-value store over one engine.
pub struct Generations<E: Engine> {
    current: RwLock<Arc<Generation<E>>>,
    writer: Mutex<Writer>,
    /// Held during a scrub or while a snapshot is copied.
    scrub: Mutex<()>,
    directory: PathBuf,
}

/// An open generation.
struct Generation<E> {
    engine: Option<E>, // `Some` until the drop
    place: Place,
    /// Whether the generation's files are removed when it is closed.
    passing: bool,
    _open: Sender<Infallible>, // dropped after the engine is closed
}

/// The state that only one thread at a time may use.
struct Writer {
    number: u32,
    /// Disconnects when the current generation is closed and its last reader has finished.
    closed: Receiver<Infallible>,
    /// The error after which no more writes are accepted.
    failed: Option<KeyValueError>,
    /// The keys written since a copy began; `None` if no copy is in progress.
    changed: Option<HashSet<Key>>,
    /// Number of snapshots copied so far.
    snapshots: u32,
}

/// A new generation, and a channel that disconnects when it is closed.
type Copy<E> = (Arc<Generation<E>>, Receiver<Infallible>);

/// The size of an engine's cache.
pub const CACHE_BYTES: u64 = 64 << 20;

/// A scrub copies the last keys while writes are blocked. It first tries up to `CATCH_UPS` times to leave no
/// more than `FEW` of them.
const FEW: usize = 1_000;
const CATCH_UPS: usize = 16;

impl<E: Engine> Generations<E> {
    /// Opens or creates the store in a directory. The directory must hold nothing else, and nobody else may
    /// have it open.
    ///
    /// Fails if the files are damaged in a way that the engine detects on opening.
    pub fn open(directory: &Path) -> Result<Self, KeyValueError> {
        files::create_directory(directory)?;
        let (number, engine) = match current_number(directory)? {
            0 => (1, first(directory)?),
            number => (number, reopened(&path_of(number, directory))?),
        };
        remove_all_but(number, directory)?; // only now: if the pointer is wrong, the pairs must stay
        remove_copies(directory)?;
        let (generation, closed) = Generation::of(engine, &path_of(number, directory), false)?;
        Ok(Self {
            current: RwLock::new(generation),
            writer: Mutex::new(Writer { number, closed, failed: None, changed: None, snapshots: 0 }),
            scrub: Mutex::default(),
            directory: directory.to_owned(),
        })
    }
}

impl<E: Engine> KeyValue for Generations<E> {
    fn get(&self, key: &[u8]) -> Result<Option<Value>, KeyValueError> {
        let current = self.current.read();
        caught(|| current.engine()?.get(key))
    }

    fn range(&self, from: Bound<&[u8]>, to: Bound<&[u8]>) -> Pairs<'_> {
        if is_empty(from, to) {
            return Box::new(iter::empty());
        }
        let generation = Arc::clone(&self.current.read());
        match caught(|| Ok(generation.engine()?.range(from, to))) {
            Ok(pairs) => Box::new(Reading { pairs: Some(pairs), _generation: generation }),
            Err(error) => Box::new(iter::once(Err(error))),
        }
    }

    fn snapshot(&self) -> Result<Pairs<'_>, KeyValueError> {
        match E::RANGES_GO_ALONG {
            true => self.copied_pairs(),
            false => Ok(self.range(Bound::Unbounded, Bound::Unbounded)),
        }
    }

    fn snapshot_bytes(&self) -> Result<u64, KeyValueError> {
        if E::RANGES_GO_ALONG { self.disk_bytes() } else { Ok(0) }
    }

    fn apply(&self, writes: Writes, durability: Durability) -> Result<(), KeyValueError> {
        let mut writer = self.writer.lock();
        if let Some(changed) = &mut writer.changed {
            changed.extend(writes.iter().map(|(key, _)| key.clone()));
        }
        self.write(writer, |engine| engine.apply(writes, durability))
    }

    fn sync(&self) -> Result<(), KeyValueError> {
        self.write(self.writer.lock(), E::sync)
    }

    fn scrub(&self) -> Result<(), KeyValueError> {
        let _alone = self.scrub.lock();
        let (old, number) = self.begin_copy()?;
        let next = number + 1;
        let switched =
            self.copy(&old, &path_of(next, &self.directory), false).and_then(|copy| self.switch(next, copy));
        self.writer.lock().changed = None;
        match switched {
            Ok(old_closed) => {
                drop(old);
                let _ended = old_closed.recv();
                remove_all_but(next, &self.directory)
            }
            Err(error) => {
                let writer = self.writer.lock();
                if writer.failed.is_none() {
                    // Frees the space immediately, in case the disk is full. Files that cannot be removed now
                    // are removed by the next copy.
                    let _removed = remove_all_but(writer.number, &self.directory);
                }
                Err(error)
            }
        }
    }

    fn disk_bytes(&self) -> Result<u64, KeyValueError> {
        files::allocated_bytes(&self.directory)
    }

    fn check_place(&self) -> Result<(), KeyValueError> {
        self.current.read().place.check()
    }

    fn visible_before_flush(&self) -> bool {
        E::VISIBLE_BEFORE_FLUSH
    }
}

impl<E: Engine> Generations<E> {
    /// Returns the generation to copy, and its number. From here on, written keys are recorded.
    fn begin_copy(&self) -> Result<(Arc<Generation<E>>, u32), KeyValueError> {
        let mut writer = self.writer.lock();
        writer.check()?;
        remove_all_but(writer.number, &self.directory)?; // leftovers of a failed scrub
        writer.changed = Some(HashSet::new());
        Ok((Arc::clone(&self.current.read()), writer.number))
    }

    /// Copies a generation, then the keys written meanwhile, until few are left.
    fn copy(&self, old: &Generation<E>, path: &Path, passing: bool) -> Result<Copy<E>, KeyValueError> {
        let copy = old.copied(path, passing)?;
        for _ in 0..CATCH_UPS {
            let changed = {
                let mut writer = self.writer.lock();
                let Some(changed) = writer.changed.as_mut() else { break };
                match changed.len() {
                    0..=FEW => break,
                    _ => mem::take(changed),
                }
            };
            old.recopy(changed, &copy.0)?;
        }
        Ok(copy)
    }

    /// Copies the last written keys and makes the copy the current generation. Blocks writes meanwhile.
    fn switch(&self, number: u32, copy: Copy<E>) -> Result<Receiver<Infallible>, KeyValueError> {
        let mut writer = self.writer.lock();
        writer.check()?;
        let (fresh, closed) = copy;
        let old = Arc::clone(&self.current.read());
        old.recopy(writer.changed.take().unwrap_or_default(), &fresh)?;
        caught(|| fresh.engine()?.sync())?;
        point_to(number, &self.directory)?;
        *self.current.write() = fresh;
        writer.number = number;
        let old_closed = mem::replace(&mut writer.closed, closed);
        // If the new name is not on disk, a power loss could bring back the old one. So the old files must
        // stay, and no more writes are accepted: they would be lost.
        files::sync(&self.directory).inspect_err(|error| writer.failed = Some(error.clone()))?;
        Ok(old_closed)
    }

    /// Runs a change of the files, unless an earlier one has failed.
    fn write(
        &self,
        mut writer: MutexGuard<'_, Writer>,
        change: impl FnOnce(&E) -> Result<(), KeyValueError>,
    ) -> Result<(), KeyValueError> {
        writer.check()?;
        let current = Arc::clone(&self.current.read());
        caught(|| change(current.engine()?)).inspect_err(|error| writer.failed = Some(error.clone()))
    }
}

impl<E> Generation<E> {
    fn of(engine: E, path: &Path, passing: bool) -> Result<Copy<E>, KeyValueError> {
        let place = Place::open(path)?;
        let (open, closed) = mpsc::channel();
        Ok((Arc::new(Self { engine: Some(engine), place, passing, _open: open }), closed))
    }

    fn engine(&self) -> Result<&E, KeyValueError> {
        self.engine.as_ref().ok_or_else(|| KeyValueError("the engine is closed".to_owned()))
    }
}

impl<E: Engine> Generation<E> {
    /// Copies all pairs to a new generation, on disk. The copy may or may not contain concurrent writes.
    fn copied(&self, path: &Path, passing: bool) -> Result<Copy<E>, KeyValueError> {
        let (fresh, closed) = Self::of(caught(|| E::open(path))?, path, passing)?;
        caught(|| fresh.engine()?.fill(self.engine()?.range(Bound::Unbounded, Bound::Unbounded)))?;
        files::sync_all_under(path)?;
        Ok((fresh, closed))
    }

    /// Copies the current values of these keys to `copy`.
    fn recopy(&self, changed: HashSet<Key>, copy: &Self) -> Result<(), KeyValueError> {
        let mut writes = Vec::with_capacity(changed.len());
        for key in changed {
            let value = caught(|| self.engine()?.get(&key))?;
            writes.push((key, value));
        }
        match writes.is_empty() {
            true => Ok(()),
            false => caught(|| copy.engine()?.apply(writes, Durability::Process)),
        }
    }
}

impl<E> Drop for Generation<E> {
    fn drop(&mut self) {
        let engine = self.engine.take();
        // Acknowledged writes are already in the files, so errors on closing are ignored.
        let _closed = caught(|| {
            drop(engine);
            Ok(())
        });
        if self.passing {
            // Files that cannot be removed now are removed when the store is opened.
            let _removed = files::remove_directory(self.place.path());
        }
    }
}

impl Writer {
    fn check(&self) -> Result<(), KeyValueError> {
        self.failed.as_ref().map_or(Ok(()), |error| {
            Err(KeyValueError(format!("the store must be reopened, because a write failed: {error}")))
        })
    }
}

/// A range being read: it keeps its generation open, and ends after an error.
struct Reading<E, I> {
    pairs: Option<I>,
    _generation: Arc<Generation<E>>, // dropped after the range
}

impl<E, T, I: Iterator<Item = Result<T, KeyValueError>>> Reading<E, I> {
    fn step(&mut self, step: impl FnOnce(&mut I) -> Option<I::Item>) -> Option<I::Item> {
        let pairs = self.pairs.as_mut()?;
        let pair = caught(|| step(pairs).transpose()).transpose();
        if matches!(pair, Some(Err(_))) {
            self.pairs = None;
        }
        pair
    }
}

impl<E, T, I: Iterator<Item = Result<T, KeyValueError>>> Iterator for Reading<E, I> {
    type Item = I::Item;

    fn next(&mut self) -> Option<I::Item> {
        self.step(I::next)
    }
}

impl<E, T, I: DoubleEndedIterator<Item = Result<T, KeyValueError>>> DoubleEndedIterator for Reading<E, I> {
    fn next_back(&mut self) -> Option<I::Item> {
        self.step(I::next_back)
    }
}

fn is_empty(from: Bound<&[u8]>, to: Bound<&[u8]>) -> bool {
    match (from, to) {
        (Bound::Unbounded, _) | (_, Bound::Unbounded) => false,
        (Bound::Included(from), Bound::Included(to)) => from > to,
        (Bound::Included(from) | Bound::Excluded(from), Bound::Included(to) | Bound::Excluded(to)) => {
            from >= to
        }
    }
}

/// Creates the first generation, and points to it.
fn first<E: Engine>(directory: &Path) -> Result<E, KeyValueError> {
    remove_all_but(0, directory)?;
    let path = path_of(1, directory);
    let engine = caught(|| E::open(&path))?;
    files::sync_all_under(&path)?;
    point_to(1, directory)?;
    files::sync(directory)?;
    Ok(engine)
}

fn reopened<E: Engine>(path: &Path) -> Result<E, KeyValueError> {
    if !path.is_dir() {
        return Err(KeyValueError(format!("{} is missing: it holds the store", path.display())));
    }
    caught(|| E::open(path))
        .map_err(|error| KeyValueError(format!("cannot open {}: {error}", path.display())))
}
