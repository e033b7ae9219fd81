//! The directory of a durable store: locked, labelled, and opened.

use std::{
    fs,
    io::{self, Write},
    ops::Bound,
    path::{Path, PathBuf},
};

use parking_lot::Mutex;

use super::{
    files,
    label::{self, EngineKind, Label},
    mark::{self, Mark},
    place::Place,
};
#[cfg(feature = "fjall")]
use crate::durable::fjall::Fjall;
#[cfg(feature = "sled")]
use crate::durable::sled::Sled;
use crate::{
    EachRecord, StoreError,
    durable::{
        key_value::{Durability, KeyValue, KeyValueError, Writes},
        pairs,
    },
    records::{self, Links, Meta, Metas},
};

/// The file that is locked while a store is open.
const LOCK: &str = "LOCK";
/// The Unix socket on which the process with the store serves others, if it does.
pub const SOCKET: &str = "mcp.sock";

/// An open store. Nobody else can open the store until this is dropped.
pub struct Directory {
    path: PathBuf,
    engine: EngineKind,
    pairs: Box<dyn KeyValue>,
    mark: Mutex<Mark>,
    /// The last group of writes.
    pub(in crate::durable) group: u64,
    /// The links: the link of the last group, and the links of groups before missing ones.
    pub(in crate::durable) links: Vec<u64>,
    lock: Place, // dropped last: the engine is closed by then
}

/// Why a store cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Another process has the store open.
    #[error("the store in {} is in use{by}; stop what uses it, or choose another directory", directory.display())]
    InUse {
        /// The directory.
        directory: PathBuf,
        /// ` by process N` if known, else empty.
        by: String,
    },
    /// The directory holds no store.
    #[error("there is no store in {}", .0.display())]
    Missing(PathBuf),
    /// The directory holds something else.
    #[error(
        "{} holds files that are not a store's, such as {found}; choose an empty directory, or one that does not exist",
        directory.display()
    )]
    Foreign {
        /// The directory.
        directory: PathBuf,
        /// A name in the directory.
        found: String,
    },
    /// Another engine keeps the store.
    #[error(
        "the store in {0} is kept by {actual}, not by {wanted}; open it as {actual}, or move it: utterd backup FILE --from {actual}:{0}, and utterd restore FILE --to {wanted}:DIR",
        directory.display()
    )]
    OtherEngine {
        /// The directory.
        directory: PathBuf,
        /// The requested engine.
        wanted: EngineKind,
        /// The engine that keeps the store.
        actual: String,
    },
    /// The label is invalid or missing.
    #[error(
        "{} {problem}; restore it from a backup: its lines are `utterd store`, `engine: fjall` or `engine: sled`, and `format: {}`",
        path.display(), label::FORMAT
    )]
    Label {
        /// The label.
        path: PathBuf,
        /// The problem; continues the sentence.
        problem: String,
    },
    /// A newer version wrote the store.
    #[error(
        "the store in {} has format {format}, and this version reads formats up to {}; use the version that wrote it, or a newer one",
        directory.display(), label::FORMAT
    )]
    Newer {
        /// The directory.
        directory: PathBuf,
        /// The store's format.
        format: u32,
    },
    /// The engine cannot read its files.
    #[error(
        "the store in {} cannot be opened: {reason}; if its files are damaged, restore a backup: utterd restore FILE --to {engine}:DIR",
        directory.display()
    )]
    Engine {
        /// The directory.
        directory: PathBuf,
        /// The engine that keeps the store.
        engine: EngineKind,
        /// The engine's message.
        reason: String,
    },
    /// The files are older than the last recorded flush.
    #[error(
        "the store in {} has lost writes: it was flushed up to group {flushed}, and its files end at group {found}; restore the directory from a backup, or remove {} to continue without the lost writes",
        directory.display(), directory.join(mark::FILE).display()
    )]
    Behind {
        /// The directory.
        directory: PathBuf,
        /// The last group known to be flushed.
        flushed: u64,
        /// The last group that the files hold.
        found: u64,
    },
    /// A group of writes is missing before later ones.
    #[error(
        "the store in {} has lost writes: group {missing} is missing, and later ones are there; restore the directory from a backup, or remove {} to continue without the lost writes",
        directory.display(), directory.join(mark::FILE).display()
    )]
    Gap {
        /// The directory.
        directory: PathBuf,
        /// The first group that is missing.
        missing: u64,
    },
    /// The store is the beginning of a restore.
    #[error(
        "the store in {0} is not restored wholly; finish it: utterd restore FILE --to {engine}:{0}, or remove the directory",
        directory.display()
    )]
    Unfinished {
        /// The directory.
        directory: PathBuf,
        /// The engine that keeps the store.
        engine: EngineKind,
    },
    /// A file or the directory cannot be read or written.
    #[error("{}: {error}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The system's error.
        error: io::Error,
    },
}

impl Directory {
    /// Opens the store in the directory `path`; creates one if the directory is empty or does not exist.
    pub fn open_or_create(engine: EngineKind, path: &Path) -> Result<Self, OpenError> {
        Self::open_or_create_with(engine, path, |files| pairs(engine, files))
    }

    /// Like [`Self::open_or_create`], with the engine that `open` returns for its directory.
    pub(in crate::durable) fn open_or_create_with(
        engine: EngineKind,
        path: &Path,
        open: impl FnOnce(&Path) -> Opened,
    ) -> Result<Self, OpenError> {
        let failed = |error| OpenError::File { path: path.into(), error };
        Self::create(path)?;
        let lock = lock(path)?;
        match read_label(path)? {
            Some(label) => check(label, engine, path)?,
            None => {
                check_empty(path)?;
                Label::new(engine).write(path).map_err(failed)?;
            }
        }
        Self::open_locked(engine, path, lock, open)
    }

    /// Creates the directory `path`, unless it exists.
    pub fn create(path: &Path) -> Result<(), OpenError> {
        let failed = |error| OpenError::File { path: path.into(), error: io::Error::other(error) };
        files::create_directory(path).map_err(failed)
    }

    /// Opens the store in the directory `path`, which must hold one.
    pub fn open(engine: EngineKind, path: &Path) -> Result<Self, OpenError> {
        let label = read_label(path)?;
        check(label.ok_or_else(|| OpenError::Missing(path.into()))?, engine, path)?;
        let lock = lock(path)?;
        Self::open_locked(engine, path, lock, |files| pairs(engine, files))
    }

    /// Checks, without changing anything, that [`Self::open_or_create`] can use the directory `path`. Neither
    /// reads records nor notices whether another process uses the store.
    pub fn check(engine: EngineKind, path: &Path) -> Result<(), OpenError> {
        match read_label(path)? {
            Some(label) => check(label, engine, path)?,
            None if path.exists() => check_empty(path)?,
            None => {}
        }
        files::check_writable(path).map_err(|error| OpenError::File { path: path.into(), error })
    }

    fn open_locked(
        engine: EngineKind,
        path: &Path,
        lock: Place,
        open: impl FnOnce(&Path) -> Opened,
    ) -> Result<Self, OpenError> {
        let refused = |reason: String| OpenError::Engine { directory: path.into(), engine, reason };
        let pairs = open(&path.join(engine.name())).map_err(|error| refused(error.to_string()))?;
        let group = last_group(&*pairs).map_err(refused)?;
        let links = links(&*pairs).map_err(refused)?;
        let mark =
            Mark::open(path).map_err(|error| OpenError::File { path: path.join(mark::FILE), error })?;
        if group < mark.group {
            return Err(OpenError::Behind { directory: path.into(), flushed: mark.group, found: group });
        }
        // A store whose mark was removed is accepted as it is.
        if let Some(missing) = records::missing_group(&links, group).filter(|_| !mark.is_new) {
            return Err(OpenError::Gap { directory: path.into(), missing });
        }
        Ok(Self { path: path.into(), engine, pairs, mark: Mutex::new(mark), group, links, lock })
    }

    /// The store's directory.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The engine that keeps the store.
    pub fn engine(&self) -> EngineKind {
        self.engine
    }

    /// The store's keys and values.
    pub fn pairs(&self) -> &dyn KeyValue {
        &*self.pairs
    }

    /// Fails if the store is the beginning of a restore.
    pub fn check_finished(&self) -> Result<(), OpenError> {
        let (directory, engine) = (self.path.clone(), self.engine);
        match self.pairs.get(&records::key::<Metas>(&Meta::Copying)) {
            Ok(None) => Ok(()),
            Ok(Some(_)) => Err(OpenError::Unfinished { directory, engine }),
            Err(error) => Err(OpenError::Engine { directory, engine, reason: error.to_string() }),
        }
    }

    /// Passes every record to `each`, while nothing else uses the store: see
    /// [`Upkeep::each_record`](crate::Upkeep::each_record).
    pub fn each_record(&self, each: &mut EachRecord<'_>) -> Result<(), StoreError> {
        let mut records = self.pairs.range(Bound::Unbounded, Bound::Unbounded);
        records.try_for_each(|record| each(record.map_err(StoreError::unavailable)))
    }

    /// Writes a group to disk, while nothing else writes to the store.
    pub(in crate::durable) fn write(&mut self, mut writes: Writes) -> Result<(), KeyValueError> {
        let group = self.group + 1;
        writes.extend(records::group_writes(group, &self.links));
        self.pairs.apply(writes, Durability::Disk)?;
        (self.group, self.links) = (group, vec![group]);
        self.mark(group)
    }

    /// Fails if the directory, or the engine's files in it, are no longer where they were opened: nobody
    /// would find later writes.
    pub(in crate::durable) fn check_place(&self) -> Result<(), KeyValueError> {
        self.lock.check()?;
        self.pairs.check_place()
    }

    /// Records that everything up to `group` is on disk.
    pub(in crate::durable) fn mark(&self, group: u64) -> Result<(), KeyValueError> {
        let mut mark = self.mark.lock();
        if group <= mark.group {
            return Ok(());
        }
        mark.write(group).map_err(|error| KeyValueError(format!("{}: {error}", mark.path.display())))
    }
}

type Opened = Result<Box<dyn KeyValue>, KeyValueError>;

/// Opens the pairs that `engine` keeps in a directory.
fn pairs(engine: EngineKind, files: &Path) -> Opened {
    match engine {
        #[cfg(feature = "fjall")]
        EngineKind::Fjall => Ok(Box::new(Fjall::open(files)?)),
        #[cfg(feature = "sled")]
        EngineKind::Sled => Ok(Box::new(Sled::open(files)?)),
        #[cfg(not(all(feature = "fjall", feature = "sled")))]
        unbuilt => Err(KeyValueError(format!("this program is built without {unbuilt}"))),
    }
}

fn last_group(pairs: &dyn KeyValue) -> Result<u64, String> {
    let group = pairs::get::<Metas>(pairs, &Meta::Group).map_err(|error| error.to_string())?;
    Ok(group.unwrap_or(0))
}

fn links(pairs: &dyn KeyValue) -> Result<Vec<u64>, String> {
    let links = pairs::read::<Links>(pairs, &records::all_of::<Links>());
    links.map(|link| Ok(link.map_err(|error| error.to_string())?.0)).collect()
}

/// Locks the directory for this process; the system releases the lock when the process ends.
fn lock(directory: &Path) -> Result<Place, OpenError> {
    let path = directory.join(LOCK);
    let failed = |error| OpenError::File { path: path.clone(), error };
    match files::lock(&path).map_err(failed)? {
        Some(mut file) => {
            file.set_len(0).and_then(|()| write!(file, "{}", std::process::id())).map_err(failed)?;
            Place::of(&path, file).map_err(failed)
        }
        None => {
            let holder = fs::read_to_string(&path).unwrap_or_default();
            let by = if holder.is_empty() { holder } else { format!(" by process {holder}") };
            Err(OpenError::InUse { directory: directory.into(), by })
        }
    }
}

fn read_label(directory: &Path) -> Result<Option<Label>, OpenError> {
    Label::read(directory).map_err(|error| {
        let path = directory.join(label::FILE);
        match error.kind() {
            io::ErrorKind::InvalidData => OpenError::Label { path, problem: error.to_string() },
            _ => OpenError::File { path, error },
        }
    })
}

fn check(label: Label, engine: EngineKind, directory: &Path) -> Result<(), OpenError> {
    let directory = directory.to_path_buf();
    if label.format > label::FORMAT {
        return Err(OpenError::Newer { directory, format: label.format });
    }
    if EngineKind::ALL.iter().all(|known| known.name() != label.engine) {
        let problem = format!("names an unknown engine, {:?}", label.engine);
        return Err(OpenError::Label { path: directory.join(label::FILE), problem });
    }
    if label.engine != engine.name() {
        return Err(OpenError::OtherEngine { directory, wanted: engine, actual: label.engine });
    }
    Ok(())
}

/// Fails unless a directory without a label is empty, apart from the leftovers of a store whose creation was
/// interrupted.
fn check_empty(directory: &Path) -> Result<(), OpenError> {
    let failed = |error| OpenError::File { path: directory.into(), error };
    for entry in fs::read_dir(directory).map_err(failed)? {
        let name = entry.map_err(failed)?.file_name();
        if name == mark::FILE || EngineKind::ALL.iter().any(|engine| name == engine.name()) {
            let (path, problem) = (directory.join(label::FILE), "is missing".to_owned());
            return Err(OpenError::Label { path, problem });
        }
        if name != LOCK && name != SOCKET && name != label::UNFINISHED {
            let found = name.to_string_lossy().into_owned();
            return Err(OpenError::Foreign { directory: directory.into(), found });
        }
    }
    Ok(())
}
