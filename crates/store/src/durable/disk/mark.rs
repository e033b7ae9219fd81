//! The mark: how far a store has been flushed, kept next to the engine's files.
//!
//! An engine that recovers from damaged files may return to an earlier state than the last one flushed,
//! without noticing. The mark shows it: a store behind its mark has lost acknowledged writes.

use std::{
    fs::{File, OpenOptions},
    io,
    os::unix::fs::FileExt,
    path::{Path, PathBuf},
};

use xxhash_rust::xxh3::xxh3_64;

use super::files;

/// The file's name in a store's directory.
pub(in crate::durable) const FILE: &str = "mark";
/// A slot is as large as a disk's atomic write, so a torn write spoils only one slot.
const SLOT: u64 = 4_096;
const MAGIC: &[u8; 8] = b"utterd.m";

/// The file, and the slot to write next.
pub(in crate::durable) struct Mark {
    file: File,
    pub(in crate::durable) path: PathBuf,
    next_slot: u64,
    /// The last group known to be flushed.
    pub(in crate::durable) group: u64,
    /// Whether the store had no mark when it was opened.
    pub(in crate::durable) is_new: bool,
}

impl Mark {
    /// Opens the mark of the store in `directory`, or creates one at group 0.
    pub(in crate::durable) fn open(directory: &Path) -> io::Result<Self> {
        let path = directory.join(FILE);
        let is_new = !path.try_exists()?;
        if is_new {
            create(directory, &path)?;
        }
        let file = OpenOptions::new().read(true).write(true).open(&path)?;
        let (one, two) = (read(&file, 0)?, read(&file, 1)?);
        if one.max(two).is_none() && file.metadata()?.len() > 0 {
            let reason =
                "the file is damaged; remove it to open the store without knowing whether it is whole";
            return Err(io::Error::new(io::ErrorKind::InvalidData, reason));
        }
        let next_slot = u64::from(one > two);
        Ok(Self { file, path, next_slot, group: one.max(two).unwrap_or(0), is_new })
    }

    /// Records that everything up to `group` is flushed; returns when the record is on disk.
    pub(in crate::durable) fn write(&mut self, group: u64) -> io::Result<()> {
        self.file.write_all_at(&slot(group), self.next_slot * SLOT)?;
        self.file.sync_data()?;
        self.next_slot = 1 - self.next_slot;
        self.group = group;
        Ok(())
    }
}

/// Creates a mark with group 0 in both slots: from here on, one of them is always valid.
fn create(directory: &Path, path: &Path) -> io::Result<()> {
    files::replace(path, &path.with_extension("new"), &[slot(0), slot(0)].concat())?;
    File::open(directory)?.sync_all()
}

/// The content of a slot for a group.
fn slot(group: u64) -> [u8; SLOT as usize] {
    let mut slot = [0; SLOT as usize];
    slot[..8].copy_from_slice(MAGIC);
    slot[8..16].copy_from_slice(&group.to_be_bytes());
    let checksum = xxh3_64(&slot[..16]);
    slot[16..24].copy_from_slice(&checksum.to_be_bytes());
    slot
}

/// The group in a slot; `None` if the slot was never written, or only in part.
fn read(file: &File, slot: u64) -> io::Result<Option<u64>> {
    let mut bytes = [0; 24];
    match file.read_exact_at(&mut bytes, slot * SLOT) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        Err(error) => return Err(error),
    }
    let number = |at: usize| bytes[at..at + 8].iter().fold(0, |number, byte| number << 8 | u64::from(*byte));
    let whole = bytes.starts_with(MAGIC) && number(16) == xxh3_64(&bytes[..16]);
    Ok(whole.then(|| number(8)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_is_kept() {
        let directory = tempfile::tempdir().unwrap();
        assert_eq!(Mark::open(directory.path()).unwrap().group, 0);
        for group in [1, 5, 9] {
            let mut mark = Mark::open(directory.path()).unwrap();
            mark.write(group).unwrap();
            mark.write(group + 1).unwrap();
            assert_eq!(Mark::open(directory.path()).unwrap().group, group + 1);
        }
    }

    #[test]
    fn a_torn_mark_tells_of_the_one_before() {
        let directory = tempfile::tempdir().unwrap();
        let mut mark = Mark::open(directory.path()).unwrap();
        (1..=4).for_each(|group| mark.write(group).unwrap());
        mark.file.write_all_at(&[0xff; 10], (1 - mark.next_slot) * SLOT).unwrap();
        assert_eq!(Mark::open(directory.path()).unwrap().group, 3);
    }

    #[test]
    fn a_first_note_that_is_torn_leaves_a_mark() {
        let directory = tempfile::tempdir().unwrap();
        let mark = Mark::open(directory.path()).unwrap();
        mark.file.write_all_at(&[0xff; 10], mark.next_slot * SLOT).unwrap();
        assert_eq!(Mark::open(directory.path()).unwrap().group, 0);
    }

    #[test]
    fn a_damaged_mark_is_an_error() {
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join(FILE), [7; 8_192]).unwrap();
        let error = Mark::open(directory.path()).err().unwrap();
        assert!(error.to_string().contains("the file is damaged"), "{error}");
    }
}
