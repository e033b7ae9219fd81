//! The directory of a durable store: locked, labelled, and opened.

use std::{
    fs,
    io::{self, Write},
    path::{Path, PathBuf},
};

use parking_lot::Mutex;

use super::{
    files,
    fjall::Fjall,
    key_value::{Batch, Durability, KeyValue, KeyValueError},
    label::{self, EngineKind, Label},
    lists,
    mark::{self, Mark},
    place::Place,
    records::{self, Links, Meta, Metas},
    sled::Sled,
};

/// The file that is locked while a store is open.
const LOCK: &str = "LOCK";

/// An open store: no one else opens it until this is dropped.
pub struct Directory {
    path: PathBuf,
    engine: EngineKind,
    format: u32,
    pairs: Box<dyn KeyValue>,
    mark: Mutex<Mark>,
    group: u64,
    links: Vec<u64>,
    lock: Place, // the last to go: the engine is closed by then
}

/// Why a store cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Another process has it open.
    #[error("the store in {} is in use{by}; stop what uses it, or choose another directory", directory.display())]
    InUse {
        /// The directory.
        directory: PathBuf,
        /// ` by process N`, when that is known.
        by: String,
    },
    /// There is no store.
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
        /// A name in it.
        found: String,
    },
    /// Another engine keeps it.
    #[error(
        "the store in {0} is kept by {actual}, not by {wanted}; open it as {actual}, or move it: utterd copy --from {actual}:{0} --to {wanted}:DIR",
        directory.display()
    )]
    OtherEngine {
        /// The directory.
        directory: PathBuf,
        /// The engine asked for.
        wanted: EngineKind,
        /// The engine that keeps it.
        actual: String,
    },
    /// The label does not say what the store is.
    #[error(
        "{} {problem}; restore it from a backup: its lines are `utterd store`, `engine: fjall` or `engine: sled`, and `format: {}`",
        path.display(), label::FORMAT
    )]
    Label {
        /// The label.
        path: PathBuf,
        /// What is wrong with it: goes on with the sentence.
        problem: String,
    },
    /// A newer version wrote it.
    #[error(
        "the store in {} has format {format}, and this version reads formats up to {}; use the version that wrote it, or a newer one",
        directory.display(), label::FORMAT
    )]
    Newer {
        /// The directory.
        directory: PathBuf,
        /// Its format.
        format: u32,
    },
    /// The engine cannot read its files.
    #[error(
        "the store in {} cannot be opened: {reason}; if its files are damaged, restore the directory from a backup, or copy one: utterd copy --from {engine}:BACKUP --to {engine}:DIR",
        directory.display()
    )]
    Engine {
        /// The directory.
        directory: PathBuf,
        /// The engine that keeps it.
        engine: EngineKind,
        /// What the engine says.
        reason: String,
    },
    /// The files are older than what was flushed.
    #[error(
        "the store in {} has lost writes: it was flushed up to group {flushed}, and its files end at group {found}; restore the directory from a backup, or remove {} to go on without what is lost",
        directory.display(), directory.join(mark::FILE).display()
    )]
    Behind {
        /// The directory.
        directory: PathBuf,
        /// The last group that is known to have been flushed.
        flushed: u64,
        /// The last group that the files hold.
        found: u64,
    },
    /// A group of writes is missing among others.
    #[error(
        "the store in {} has lost writes: group {missing} is missing, and later ones are there; restore the directory from a backup, or remove {} to go on without what is lost",
        directory.display(), directory.join(mark::FILE).display()
    )]
    Gap {
        /// The directory.
        directory: PathBuf,
        /// The first group that is missing.
        missing: u64,
    },
    /// It is a copy that was not finished.
    #[error(
        "the store in {0} is an unfinished copy; finish it: utterd copy --from SOURCE --to {engine}:{0}, or utterd restore FILE --to {engine}:{0}, or remove the directory",
        directory.display()
    )]
    Unfinished {
        /// The directory.
        directory: PathBuf,
        /// The engine that keeps it.
        engine: EngineKind,
    },
    /// A file or the directory cannot be read or written.
    #[error("{}: {error}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the system says.
        error: io::Error,
    },
}

impl Directory {
    /// Opens the store in the directory `path`; makes one when the directory is empty or does not
    /// exist. The engine keeps about `cache_bytes` of its files in memory.
    pub fn open_or_create(engine: EngineKind, path: &Path, cache_bytes: u64) -> Result<Self, OpenError> {
        Self::open_or_create_with(engine, path, |files| pairs(engine, files, cache_bytes))
    }

    /// The same, with the engine that `open` gives for its directory.
    pub(super) fn open_or_create_with(
        engine: EngineKind,
        path: &Path,
        open: impl FnOnce(&Path) -> Opened,
    ) -> Result<Self, OpenError> {
        let failed = |error| OpenError::File { path: path.into(), error };
        let refused = |error: KeyValueError| failed(io::Error::other(error));
        files::create_directory(path).map_err(refused)?;
        let lock = lock(path)?;
        let label = match read_label(path)? {
            Some(label) => check(label, engine, path)?,
            None => {
                check_empty(path)?;
                let label = Label::new(engine);
                label.write(path).map_err(failed)?;
                label
            }
        };
        Self::open_locked(engine, label.format, path, lock, open)
    }

    /// Opens the store in the directory `path`, which must hold one.
    pub fn open(engine: EngineKind, path: &Path, cache_bytes: u64) -> Result<Self, OpenError> {
        let label = read_label(path)?;
        let label = check(label.ok_or_else(|| OpenError::Missing(path.into()))?, engine, path)?;
        let lock = lock(path)?;
        Self::open_locked(engine, label.format, path, lock, |files| pairs(engine, files, cache_bytes))
    }

    fn open_locked(
        engine: EngineKind,
        format: u32,
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
        if group < mark.group() {
            return Err(OpenError::Behind { directory: path.into(), flushed: mark.group(), found: group });
        }
        // Without its mark a store is taken as it is.
        if let Some(missing) = records::missing_group(&links, group).filter(|_| !mark.is_new()) {
            return Err(OpenError::Gap { directory: path.into(), missing });
        }
        Ok(Self { path: path.into(), engine, format, pairs, mark: Mutex::new(mark), group, links, lock })
    }

    /// Where the store is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The engine that keeps it.
    pub fn engine(&self) -> EngineKind {
        self.engine
    }

    /// Its keys and values.
    pub fn pairs(&self) -> &dyn KeyValue {
        &*self.pairs
    }

    /// Refuses a store that is a copy which was not finished.
    pub fn check_finished(&self) -> Result<(), OpenError> {
        let (directory, engine) = (self.path.clone(), self.engine);
        match self.pairs.get(&records::key::<Metas>(&Meta::Copying)) {
            Ok(None) => Ok(()),
            Ok(Some(_)) => Err(OpenError::Unfinished { directory, engine }),
            Err(error) => Err(OpenError::Engine { directory, engine, reason: error.to_string() }),
        }
    }

    /// Whether every conversation is in all lists, as an earlier version did not keep them.
    pub(super) fn is_listed(&self) -> bool {
        self.format >= label::LISTED
    }

    /// Makes the lists that an earlier version did not keep; what it wrote is of this version's format then.
    pub(super) fn complete_lists(&mut self) -> Result<(), OpenError> {
        if self.is_listed() {
            return Ok(());
        }
        let (mut group, mut links) = (self.group, self.links.clone());
        let pairs = &*self.pairs;
        let mut write = |mut writes: lists::Writes| {
            writes.extend(records::group_writes(group + 1, &links));
            pairs.apply(Batch { writes }, Durability::Disk)?;
            group += 1;
            links = vec![group];
            Ok(())
        };
        let made = lists::make(pairs, &mut write);
        (self.group, self.links) = (group, links);
        let (directory, engine) = (self.path.clone(), self.engine);
        made.map_err(|error| OpenError::Engine { directory, engine, reason: error.to_string() })?;
        let label = Label::new(engine);
        label
            .write(&self.path)
            .map_err(|error| OpenError::File { path: self.path.join(label::FILE), error })?;
        self.format = label.format;
        Ok(())
    }

    /// The last group of writes that it held when it was opened.
    pub(super) fn group(&self) -> u64 {
        self.group
    }

    /// The links that it held when it was opened: that of the last group, and those before groups
    /// that are missing.
    pub(super) fn links(&self) -> &[u64] {
        &self.links
    }

    /// Fails when the directory, or the engine's files in it, are not where they were opened: what is written
    /// then is found by nobody.
    pub(super) fn check_place(&self) -> Result<(), KeyValueError> {
        self.lock.check()?;
        self.pairs.check_place()
    }

    /// Notes that everything up to `group` is on the disk.
    pub(super) fn mark(&self, group: u64) -> Result<(), KeyValueError> {
        let mut mark = self.mark.lock();
        if group <= mark.group() {
            return Ok(());
        }
        mark.write(group).map_err(|error| KeyValueError(format!("{}: {error}", mark.path().display())))
    }
}

type Opened = Result<Box<dyn KeyValue>, KeyValueError>;

/// The pairs that `engine` keeps in a directory.
fn pairs(engine: EngineKind, files: &Path, cache_bytes: u64) -> Opened {
    Ok(match engine {
        EngineKind::Fjall => Box::new(Fjall::open(files, cache_bytes)?),
        EngineKind::Sled => Box::new(Sled::open(files, cache_bytes)?),
    })
}

fn last_group(pairs: &dyn KeyValue) -> Result<u64, String> {
    let group = records::get::<Metas>(pairs, &Meta::Group).map_err(|error| error.to_string())?;
    Ok(group.unwrap_or(0))
}

fn links(pairs: &dyn KeyValue) -> Result<Vec<u64>, String> {
    let links = records::read::<Links>(pairs, &records::all_of::<Links>());
    links.map(|link| Ok(link.map_err(|error| error.to_string())?.0)).collect()
}

/// Locks the directory for this process; the system gives the lock back when the process ends.
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

fn check(label: Label, engine: EngineKind, directory: &Path) -> Result<Label, OpenError> {
    let directory = directory.to_path_buf();
    if label.format > label::FORMAT {
        return Err(OpenError::Newer { directory, format: label.format });
    }
    if EngineKind::ALL.iter().all(|known| known.name() != label.engine) {
        let problem = format!("names the engine {:?}, which is not known", label.engine);
        return Err(OpenError::Label { path: directory.join(label::FILE), problem });
    }
    if label.engine != engine.name() {
        return Err(OpenError::OtherEngine { directory, wanted: engine, actual: label.engine });
    }
    Ok(label)
}

/// A directory without a label may hold what is left of one that was being made, and no more.
fn check_empty(directory: &Path) -> Result<(), OpenError> {
    let failed = |error| OpenError::File { path: directory.into(), error };
    for entry in fs::read_dir(directory).map_err(failed)? {
        let name = entry.map_err(failed)?.file_name();
        if name == mark::FILE || EngineKind::ALL.iter().any(|engine| name == engine.name()) {
            let (path, problem) = (directory.join(label::FILE), "is missing".to_owned());
            return Err(OpenError::Label { path, problem });
        }
        if name != LOCK && name != label::UNFINISHED {
            let found = name.to_string_lossy().into_owned();
            return Err(OpenError::Foreign { directory: directory.into(), found });
        }
    }
    Ok(())
}
