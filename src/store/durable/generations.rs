//! A store whose engine begins anew in fresh files, so that nothing of the old ones is left.
//!
//! A directory holds:
//! - `data-000001`, `data-000002`, …: an engine's files, one directory for each generation
//! - `CURRENT`: the name of the generation that holds the pairs; `none`, which has no
//!   directory, for a store that holds none yet
//!
//! - `snapshot-000001`, …: copies that are read at the moment: see [`snapshot`]
//!
//! Every other generation, and each copy, is what an interruption has left, and is removed when the store is opened.

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

use super::{
    files,
    key_value::{Batch, Durability, Key, KeyValue, KeyValueError, Pairs, Value},
    panics::caught,
    place::Place,
};
use names::{current_number, path_of, point_to, remove_all_but, remove_copies};

/// An embedded database in one directory; it may panic in every method, and when it is dropped.
pub trait Engine: Send + Sync + Sized + 'static {
    /// What [`KeyValue::visible_before_flush`] answers.
    const VISIBLE_BEFORE_FLUSH: bool = false;

    /// Whether a range sees, in part, batches that come after its beginning.
    const RANGES_GO_ALONG: bool = false;

    /// Opens the database of a directory, or creates it.
    fn open(directory: &Path, cache_bytes: u64) -> Result<Self, KeyValueError>;

    /// The value of `key`.
    fn get(&self, key: &[u8]) -> Result<Option<Value>, KeyValueError>;

    /// The pairs between two keys; `from` is not above `to`.
    fn range(
        &self,
        from: Bound<&[u8]>,
        to: Bound<&[u8]>,
    ) -> impl DoubleEndedIterator<Item = Result<(Key, Value), KeyValueError>> + Send + 'static;

    /// Makes every write of a batch effective, or none.
    fn apply(&self, batch: Batch, durability: Durability) -> Result<(), KeyValueError>;

    /// Writes ascending pairs into an empty database, and brings them to the disk.
    fn fill(
        &self,
        pairs: impl Iterator<Item = Result<(Key, Value), KeyValueError>>,
    ) -> Result<(), KeyValueError>;

    /// Brings everything that was applied to the disk.
    fn sync(&self) -> Result<(), KeyValueError>;
}

/// A key-value store over one engine.
pub struct Generations<E: Engine> {
    current: RwLock<Arc<Generation<E>>>,
    writer: Mutex<Writer>,
    /// Held while a scrub is under way.
    scrub: Mutex<()>,
    directory: PathBuf,
    cache_bytes: u64,
}

/// An open generation.
struct Generation<E> {
    engine: Option<E>, // there until the drop
    place: Place,
    /// Whether its files go when it is closed.
    passing: bool,
    _open: Sender<Infallible>, // goes after the engine is closed
}

/// What only one thread at a time may do, and what it has to know.
struct Writer {
    number: u32,
    /// Ends when the current generation is closed and nobody reads in it any more.
    closed: Receiver<Infallible>,
    /// Why nothing more may be applied.
    failed: Option<KeyValueError>,
    /// The keys that were written since a copy began; `None` when there is none under way.
    changed: Option<HashSet<Key>>,
    /// Snapshots that were copied so far.
    snapshots: u32,
}

/// A new generation, and what ends when it is closed.
type Copy<E> = (Arc<Generation<E>>, Receiver<Infallible>);

/// Keys that a scrub copies anew while nothing is written, and how often it first tries to have no
/// more of them.
const FEW: usize = 1_000;
const CATCH_UPS: usize = 16;

impl<E: Engine> Generations<E> {
    /// Opens the store of a directory, or creates it. Nothing else may be in the directory, and nobody
    /// else may have it open.
    ///
    /// `cache_bytes` bounds what the engine keeps of its files in memory.
    ///
    /// Refused when its files are damaged in a way that the engine sees at once.
    pub fn open(directory: &Path, cache_bytes: u64) -> Result<Self, KeyValueError> {
        files::create_directory(directory)?;
        let (number, engine) = match current_number(directory)? {
            0 => (1, first(directory, cache_bytes)?),
            number => (number, reopened(&path_of(number, directory), cache_bytes)?),
        };
        remove_all_but(number, directory)?; // only now: a wrong pointer must not cost the pairs
        remove_copies(directory)?;
        let (generation, closed) = Generation::of(engine, &path_of(number, directory), false)?;
        Ok(Self {
            current: RwLock::new(generation),
            writer: Mutex::new(Writer { number, closed, failed: None, changed: None, snapshots: 0 }),
            scrub: Mutex::default(),
            directory: directory.to_owned(),
            cache_bytes,
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

    fn apply(&self, batch: Batch, durability: Durability) -> Result<(), KeyValueError> {
        let mut writer = self.writer.lock();
        if let Some(changed) = &mut writer.changed {
            changed.extend(batch.writes.iter().map(|(key, _)| key.clone()));
        }
        self.write(writer, |engine| engine.apply(batch, durability))
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
                    // A full disk has room again at once; what cannot be removed goes the next time.
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
    /// The generation to copy, and its number. From here on what is written is noted.
    fn begin_copy(&self) -> Result<(Arc<Generation<E>>, u32), KeyValueError> {
        let mut writer = self.writer.lock();
        writer.check()?;
        remove_all_but(writer.number, &self.directory)?; // what a scrub that failed may have left
        writer.changed = Some(HashSet::new());
        Ok((Arc::clone(&self.current.read()), writer.number))
    }

    /// Copies a generation, and then what was written meanwhile, until little is left of that.
    fn copy(&self, old: &Generation<E>, path: &Path, passing: bool) -> Result<Copy<E>, KeyValueError> {
        let copy = old.copied(path, self.cache_bytes, passing)?;
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

    /// Makes the copy the current generation, with the last of what was written. Nothing is
    /// written meanwhile.
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
        // Not on the disk, the new name could give way to the old one: then the old files must
        // stay, and what is applied from here on would be lost.
        files::sync(&self.directory).inspect_err(|error| writer.failed = Some(error.clone()))?;
        Ok(old_closed)
    }

    /// Does what changes the files, unless it has failed before.
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
    /// All its pairs in a new generation, on the disk. What is written meanwhile may be in it or not.
    fn copied(&self, path: &Path, cache_bytes: u64, passing: bool) -> Result<Copy<E>, KeyValueError> {
        let (fresh, closed) = Self::of(caught(|| E::open(path, cache_bytes))?, path, passing)?;
        caught(|| fresh.engine()?.fill(self.engine()?.range(Bound::Unbounded, Bound::Unbounded)))?;
        files::sync_all_under(path)?;
        Ok((fresh, closed))
    }

    /// Gives `copy` what it has under these keys.
    fn recopy(&self, changed: HashSet<Key>, copy: &Self) -> Result<(), KeyValueError> {
        let mut writes = Vec::with_capacity(changed.len());
        for key in changed {
            let value = caught(|| self.engine()?.get(&key))?;
            writes.push((key, value));
        }
        match writes.is_empty() {
            true => Ok(()),
            false => caught(|| copy.engine()?.apply(Batch { writes }, Durability::Process)),
        }
    }
}

impl<E> Drop for Generation<E> {
    fn drop(&mut self) {
        let engine = self.engine.take();
        // What was acknowledged is in the files already: nobody waits for what closing says.
        let _closed = caught(|| {
            drop(engine);
            Ok(())
        });
        if self.passing {
            // What cannot be removed goes when the store is opened.
            let _removed = files::remove_directory(self.place.path());
        }
    }
}

impl Writer {
    fn check(&self) -> Result<(), KeyValueError> {
        self.failed.as_ref().map_or(Ok(()), |error| {
            Err(KeyValueError(format!("the store has to be opened again, because a write failed: {error}")))
        })
    }
}

/// A range that is read: it keeps its generation open, and ends after an error.
struct Reading<E, I> {
    pairs: Option<I>,
    _generation: Arc<Generation<E>>, // goes after the range
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

/// Creates the first generation.
fn first<E: Engine>(directory: &Path, cache_bytes: u64) -> Result<E, KeyValueError> {
    remove_all_but(0, directory)?;
    let path = path_of(1, directory);
    let engine = caught(|| E::open(&path, cache_bytes))?;
    files::sync_all_under(&path)?;
    point_to(1, directory)?;
    files::sync(directory)?;
    Ok(engine)
}

fn reopened<E: Engine>(path: &Path, cache_bytes: u64) -> Result<E, KeyValueError> {
    if !path.is_dir() {
        return Err(KeyValueError(format!("{} is missing: it holds the store", path.display())));
    }
    caught(|| E::open(path, cache_bytes))
        .map_err(|error| KeyValueError(format!("cannot open {}: {error}", path.display())))
}
