//! What a disk might hold after a loss of power.
//!
//! The rules are the minimum guarantees of a file system:
//! - What was written to a file before an fsync or fdatasync of it began is there once that has ended.
//!   sync_file_range guarantees nothing.
//! - Of what was written later, any part might be there: nothing, everything, everything up to some moment,
//!   or single writes without earlier ones. Writes can be torn at sectors of 512 bytes. A new size only
//!   follows earlier sizes.
//! - A name (created, moved, removed) is there once its directory was synced, or the file itself, as in ext4,
//!   xfs and btrfs; with it are the names of the directories above. Without a sync, a change of a name might
//!   be there in order, as in a journal, or alone.
//! - Replacing a file by moving another over it is one step.

use std::{
    collections::{BTreeMap, HashMap},
    fs::{self, File, OpenOptions},
    os::unix::fs::FileExt,
    path::{Path, PathBuf},
};

use crate::{crash::log::Record, support::random::Random};

/// Bytes that a disk writes atomically.
const SECTOR: u64 = 512;

/// The files below a directory, and what is certain of them.
#[derive(Debug, Default)]
pub struct Disk<'a> {
    inodes: Vec<Inode<'a>>,
    /// The newest inode of each number.
    numbers: HashMap<u64, usize>,
    /// The names as the process saw them.
    tree: BTreeMap<PathBuf, usize>,
    names: Vec<NameChange>,
    /// Syncs that have begun and not ended, with how much was there when they began.
    syncs: HashMap<u64, Began>,
    root: PathBuf,
}

#[derive(Debug, Default)]
struct Inode<'a> {
    is_directory: bool,
    changes: Vec<Data<'a>>,
    /// How many of the changes are certain.
    certain: usize,
}

#[derive(Clone, Copy, Debug)]
enum Data<'a> {
    Write { offset: u64, bytes: &'a [u8] },
    Size(u64),
}

#[derive(Debug)]
struct NameChange {
    what: Name,
    /// The file that has, or had, the name.
    subject: usize,
    is_certain: bool,
}

#[derive(Clone, Debug)]
enum Name {
    Put(PathBuf),
    Moved { from: PathBuf, to: PathBuf },
    Gone(PathBuf),
}

#[derive(Debug)]
struct Began {
    inode: usize,
    changes: usize,
    names: usize,
}

/// How much of the uncertain part is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loss {
    /// Nothing: the disk is as the process left it.
    Nothing,
    /// All of it.
    Everything,
    /// At random; the remaining part of a file, and of the names, is the earliest.
    InOrder,
    /// At random, without any order.
    OutOfOrder,
}

impl<'a> Disk<'a> {
    /// The disk after `records`.
    pub fn after(records: &[Record<'a>]) -> Result<Self, String> {
        let mut disk = Self::default();
        for record in records {
            disk.follow(record).map_err(|error| format!("{error}, at {record:?}"))?;
        }
        Ok(disk)
    }

    /// Writes a possible content of the disk into the directory `into`.
    pub fn write(&self, into: &Path, loss: Loss, random: &mut Random) {
        fs::create_dir_all(into).expect("a directory");
        let kept: Vec<Vec<Data<'_>>> = self.inodes.iter().map(|inode| inode.kept(loss, random)).collect();
        for (path, inode) in self.kept_names(loss, random) {
            let path = into.join(path.strip_prefix(&self.root).expect("it is below the root"));
            match self.inodes[inode].is_directory {
                true => fs::create_dir_all(&path).expect("a directory"),
                false => write_file(&path, &kept[inode]),
            }
        }
    }

    fn follow(&mut self, record: &Record<'a>) -> Result<(), String> {
        match *record {
            Record::Started { file, path } => self.start(file, Path::new(path)),
            Record::Opened { file, path, how } => {
                if how.created {
                    self.put(file, Path::new(path), false);
                }
                if how.truncated {
                    self.change(file, Data::Size(0))?;
                }
            }
            Record::Made { file, path } => self.put(file, Path::new(path), true),
            Record::Written { file, offset, bytes } => self.change(file, Data::Write { offset, bytes })?,
            Record::Sized { file, size } => self.change(file, Data::Size(size))?,
            Record::SyncBegan { file, sync } => {
                let inode = self.known(file)?;
                let changes = self.inodes[inode].changes.len();
                self.syncs.insert(sync, Began { inode, changes, names: self.names.len() });
            }
            Record::SyncEnded { sync, .. } => {
                // A sync of a process that was killed meanwhile never ended.
                let began = self.syncs.remove(&sync).ok_or("a sync ends that did not begin")?;
                self.synced(&began);
            }
            Record::Renamed { from, to } => self.renamed(Path::new(from), Path::new(to))?,
            Record::Linked { from, to } => {
                let inode = self.at(Path::new(from))?;
                self.name(Path::new(to), inode);
            }
            Record::Unlinked { path } | Record::Removed { path } => {
                let (path, subject) = (normal(Path::new(path)), self.at(Path::new(path))?);
                self.tree.remove(&path);
                self.names.push(NameChange { what: Name::Gone(path), subject, is_certain: false });
            }
            Record::Sent { .. } | Record::Begun { .. } | Record::Answered { .. } => {}
        }
        Ok(())
    }

    /// The directory itself existed before.
    fn start(&mut self, number: u64, path: &Path) {
        self.syncs.clear();
        if self.inodes.is_empty() {
            self.root = normal(path);
            self.put(number, path, true);
            self.names[0].is_certain = true;
        }
    }

    fn put(&mut self, number: u64, path: &Path, is_directory: bool) {
        self.inodes.push(Inode { is_directory, ..Inode::default() });
        self.numbers.insert(number, self.inodes.len() - 1);
        self.name(path, self.inodes.len() - 1);
    }

    fn name(&mut self, path: &Path, subject: usize) {
        let path = normal(path);
        self.tree.insert(path.clone(), subject);
        self.names.push(NameChange { what: Name::Put(path), subject, is_certain: false });
    }

    fn renamed(&mut self, from: &Path, to: &Path) -> Result<(), String> {
        let (from, to, subject) = (normal(from), normal(to), self.at(from)?);
        if self.inodes[subject].is_directory {
            return Err("a directory was renamed, which is not followed".into());
        }
        self.tree.remove(&from);
        self.tree.insert(to.clone(), subject);
        self.names.push(NameChange { what: Name::Moved { from, to }, subject, is_certain: false });
        Ok(())
    }

    fn change(&mut self, number: u64, change: Data<'a>) -> Result<(), String> {
        let inode = self.known(number)?;
        self.inodes[inode].changes.push(change);
        Ok(())
    }

    fn known(&self, number: u64) -> Result<usize, String> {
        self.numbers.get(&number).copied().ok_or_else(|| format!("the file {number} was never created"))
    }

    fn at(&self, path: &Path) -> Result<usize, String> {
        let place = self.tree.get(&normal(path)).copied();
        place.ok_or_else(|| format!("{} is not there", path.display()))
    }

    /// A sync makes certain the data that existed when it began, and the names that it covers.
    fn synced(&mut self, began: &Began) {
        let inode = &mut self.inodes[began.inode];
        inode.certain = inode.certain.max(began.changes);
        let mut reached = self.directories_above(began.inode);
        reached.push(began.inode);
        let entries_of = self.inodes[began.inode].is_directory.then(|| self.paths_of(began.inode));
        let entries_of = entries_of.unwrap_or_default();
        let is_reached = |change: &NameChange| {
            reached.contains(&change.subject)
                || change.what.parents().any(|parent| entries_of.iter().any(|path| path == parent))
        };
        for place in (0..began.names).rev() {
            if !self.names[place].is_certain && is_reached(&self.names[place]) {
                self.make_certain(place);
            }
        }
    }

    /// Whatever a later name depends on is certain too.
    fn make_certain(&mut self, place: usize) {
        let subject = self.names[place].subject;
        for change in self.names[..=place].iter_mut().filter(|change| change.subject == subject) {
            change.is_certain = true;
        }
    }

    fn paths_of(&self, inode: usize) -> Vec<PathBuf> {
        self.tree.iter().filter(|(_, at)| **at == inode).map(|(path, _)| path.clone()).collect()
    }

    fn directories_above(&self, inode: usize) -> Vec<usize> {
        let paths = self.paths_of(inode);
        let above = paths.iter().flat_map(|path| path.ancestors().skip(1));
        above.filter_map(|path| self.tree.get(path).copied()).collect()
    }

    /// The names that are left, directories before their contents.
    fn kept_names(&self, loss: Loss, random: &mut Random) -> BTreeMap<PathBuf, usize> {
        let in_order = random.below(self.names.len() + 1);
        let mut kept = BTreeMap::new();
        for (place, change) in self.names.iter().enumerate() {
            let stays = change.is_certain
                || match loss {
                    Loss::Nothing => true,
                    Loss::Everything => false,
                    Loss::InOrder => place < in_order,
                    Loss::OutOfOrder => random.percent(50),
                };
            if stays {
                change.apply(&mut kept);
            }
        }
        kept
    }
}

impl Name {
    fn parents(&self) -> impl Iterator<Item = &Path> {
        let (first, second) = match self {
            Self::Put(path) | Self::Gone(path) => (path, None),
            Self::Moved { from, to } => (from, Some(to)),
        };
        [Some(first), second].into_iter().flatten().filter_map(|path| path.parent())
    }
}

impl NameChange {
    /// Changes the names, if what the change depends on is there.
    fn apply(&self, names: &mut BTreeMap<PathBuf, usize>) {
        let is_there = |names: &BTreeMap<PathBuf, usize>, path: &Path| {
            names.is_empty() || path.parent().is_some_and(|parent| names.contains_key(parent))
        };
        match &self.what {
            Name::Put(path) if is_there(names, path) => {
                names.insert(path.clone(), self.subject);
            }
            Name::Moved { from, to } if names.get(from) == Some(&self.subject) && is_there(names, to) => {
                names.remove(from);
                names.insert(to.clone(), self.subject);
            }
            Name::Gone(path) if names.get(path) == Some(&self.subject) && !holds_any(names, path) => {
                names.remove(path);
            }
            _ => {}
        }
    }
}

fn holds_any(names: &BTreeMap<PathBuf, usize>, directory: &Path) -> bool {
    names.keys().any(|path| path.parent() == Some(directory))
}

impl<'a> Inode<'a> {
    /// The changes that reached the disk.
    fn kept(&self, loss: Loss, random: &mut Random) -> Vec<Data<'a>> {
        let (certain, rest) = self.changes.split_at(self.certain);
        let mut kept = certain.to_vec();
        match loss {
            Loss::Nothing => kept.extend(rest),
            Loss::Everything => {}
            Loss::InOrder => kept.extend(prefix(rest, random)),
            Loss::OutOfOrder => kept.extend(scattered(rest, random)),
        }
        kept
    }
}

/// The first changes, the last of them torn.
fn prefix<'a>(changes: &[Data<'a>], random: &mut Random) -> Vec<Data<'a>> {
    let mut kept = changes[..random.below(changes.len() + 2).min(changes.len())].to_vec();
    if random.percent(75)
        && let Some(last) = kept.pop()
    {
        let parts = last.sectors();
        kept.extend(&parts[..random.below(parts.len() + 1)]);
    }
    kept
}

/// Single writes, and single sectors of some, up to a size that was not set.
fn scattered<'a>(changes: &[Data<'a>], random: &mut Random) -> Vec<Data<'a>> {
    let mut kept = Vec::new();
    let holes = random.between(1, 50);
    for change in changes {
        match (change, random.below(4)) {
            (Data::Size(_), 0) => break,
            (Data::Size(_), _) | (_, 0) => kept.push(*change),
            (_, 1) => {}
            _ => kept.extend(change.sectors().into_iter().filter(|_| !random.percent(holes))),
        }
    }
    kept
}

impl Data<'_> {
    /// The parts that a disk writes separately.
    fn sectors(self) -> Vec<Self> {
        let Self::Write { mut offset, mut bytes } = self else { return vec![self] };
        let mut parts = Vec::new();
        while !bytes.is_empty() {
            let length = (SECTOR - offset % SECTOR).min(bytes.len() as u64);
            let (part, rest) = bytes.split_at(length as usize);
            parts.push(Self::Write { offset, bytes: part });
            (offset, bytes) = (offset + length, rest);
        }
        parts
    }
}

fn write_file(path: &Path, changes: &[Data<'_>]) {
    let file = OpenOptions::new().write(true).create(true).truncate(true).open(path);
    let file: File = file.expect("a file");
    for change in changes {
        match *change {
            Data::Write { offset, bytes } => file.write_all_at(bytes, offset).expect("the file is written"),
            Data::Size(size) => file.set_len(size).expect("the file is sized"),
        }
    }
}

/// The path without `.` and doubled slashes.
fn normal(path: &Path) -> PathBuf {
    path.components().filter(|part| !matches!(part, std::path::Component::CurDir)).collect()
}
