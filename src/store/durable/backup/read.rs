//! Reads and checks a backup.

use std::{
    fs::File,
    io::{self, BufReader, Read},
    ops::{Bound, RangeBounds},
    path::{Path, PathBuf},
    vec,
};

use super::{
    super::{
        key_value::{Ascending, Key, KeyValueError, Ordered, Value},
        records::{BadRecord, Record},
    },
    block::{self, FORMAT, FRAME, Holds, MAX_BLOCK_BYTES, TITLE},
};

/// Records between two progress reports.
const STEP: u64 = 1_000;

/// A backup file that was read once in full and found intact.
#[derive(Debug)]
pub struct Backup {
    path: PathBuf,
}

/// The content of a backup.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Held {
    /// Number of records.
    pub records: u64,
    /// Size of their keys and values.
    pub bytes: u64,
}

/// Why a backup cannot be restored.
#[derive(Debug, thiserror::Error)]
pub enum BackupError {
    /// The file cannot be read.
    #[error("{}: {error}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The system's error.
        error: io::Error,
    },
    /// The file is not a backup.
    #[error("{} is not a backup: a backup begins with the line `{TITLE}`", .0.display())]
    Foreign(PathBuf),
    /// A newer version wrote the backup.
    #[error(
        "the backup {} has format {format}, and this version reads formats up to {FORMAT}; use the version that wrote it, or a newer one",
        path.display()
    )]
    Newer {
        /// The file.
        path: PathBuf,
        /// The backup's format.
        format: u32,
    },
    /// The end is missing.
    #[error("the backup {} is incomplete: it ends before its last block; use another", .0.display())]
    Cut(PathBuf),
    /// The content differs from what was written.
    #[error("the backup {} is damaged at byte {at}; use another", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Offset of the damaged part.
        at: u64,
    },
    /// A record in the backup is not readable.
    #[error("a record in the backup {} is not readable: {bad}", path.display())]
    Record {
        /// The file.
        path: PathBuf,
        /// The record, and its fault.
        bad: BadRecord,
    },
}

impl Backup {
    /// Reads the whole file and returns a summary of its content; reports to `progress` now and then.
    pub fn check(path: &Path, progress: &mut dyn FnMut(Held)) -> Result<(Self, Held), BackupError> {
        let (mut reader, mut held) = (Reader::open(path)?, Held::default());
        while let Some((key, value)) = reader.next_record()? {
            Record::read(&key, &value).map_err(|bad| BackupError::Record { path: path.to_owned(), bad })?;
            held.records += 1;
            held.bytes += (key.len() + value.len()) as u64;
            if held.records.is_multiple_of(STEP) {
                progress(held);
            }
        }
        Ok((Self { path: path.to_owned() }, held))
    }
}

impl Ordered for Backup {
    fn ascending(&self, from: Bound<&[u8]>, to: Bound<&[u8]>) -> Ascending<'_> {
        let bounds = (from.map(<[u8]>::to_vec), to.map(<[u8]>::to_vec));
        let is_within = move |(key, _): &(Key, Value)| bounds.contains(key);
        let failed = |error: BackupError| KeyValueError(error.to_string());
        match Reader::open(&self.path) {
            Ok(reader) => Box::new(
                reader
                    .filter(move |pair| pair.as_ref().map_or(true, &is_within))
                    .map(move |pair| pair.map_err(failed)),
            ),
            Err(error) => Box::new(std::iter::once(Err(failed(error)))),
        }
    }
}

/// The records of a backup, in order; an error is the last item.
struct Reader {
    path: PathBuf,
    input: BufReader<File>,
    /// Offsets of the current and of the next block.
    at: u64,
    next: u64,
    /// The checksum of the previous block.
    checksum: u64,
    /// The remaining records of the block.
    records: vec::IntoIter<(Key, Value)>,
    count: u64,
    ended: bool,
}

impl Reader {
    fn open(path: &Path) -> Result<Self, BackupError> {
        let failed = |error| BackupError::File { path: path.to_owned(), error };
        let mut input = BufReader::new(File::open(path).map_err(failed)?);
        let mut head = Vec::new();
        let length = block::head().len() as u64;
        input.by_ref().take(length).read_to_end(&mut head).map_err(failed)?;
        check_head(&head, path)?;
        let checksum = block::checksum_of_head();
        let (path, records) = (path.to_owned(), Vec::new().into_iter());
        Ok(Self { path, input, at: length, next: length, checksum, records, count: 0, ended: false })
    }

    fn next_record(&mut self) -> Result<Option<(Key, Value)>, BackupError> {
        while !self.ended {
            if let Some(record) = self.records.next() {
                self.count += 1;
                return Ok(Some(record));
            }
            let (holds, content) = self.block()?;
            match holds {
                Holds::Records => {
                    self.records = records_in(&content).ok_or_else(|| self.damaged())?.into_iter();
                }
                Holds::End => self.end(&content)?,
            }
        }
        Ok(None)
    }

    /// Reads the next block and checks its checksum.
    fn block(&mut self) -> Result<(Holds, Vec<u8>), BackupError> {
        self.at = self.next;
        let frame = self.read(FRAME)?;
        let length = number(&frame[1..]) as usize;
        let holds =
            Holds::of(frame[0]).filter(|_| length <= MAX_BLOCK_BYTES).ok_or_else(|| self.damaged())?;
        let content = self.read(length)?;
        let checksum = number(&self.read(size_of::<u64>())?);
        self.checksum = block::checksum(self.checksum, &frame, &content);
        if checksum != self.checksum {
            return Err(self.damaged());
        }
        Ok((holds, content))
    }

    /// Reads `length` bytes. Allocates no more memory than the file has bytes left.
    fn read(&mut self, length: usize) -> Result<Vec<u8>, BackupError> {
        let mut bytes = Vec::new();
        let read = self.input.by_ref().take(length as u64).read_to_end(&mut bytes);
        read.map_err(|error| BackupError::File { path: self.path.clone(), error })?;
        self.next += bytes.len() as u64;
        if bytes.len() == length { Ok(bytes) } else { Err(BackupError::Cut(self.path.clone())) }
    }

    /// Checks the last block: it has the number of records, and nothing follows.
    fn end(&mut self, content: &[u8]) -> Result<(), BackupError> {
        self.ended = true;
        if content.len() != size_of::<u64>() || number(content) != self.count {
            return Err(self.damaged());
        }
        self.at = self.next;
        match self.read(1) {
            Err(BackupError::Cut(_)) => Ok(()),
            Ok(_) => Err(self.damaged()),
            Err(error) => Err(error),
        }
    }

    fn damaged(&self) -> BackupError {
        BackupError::Damaged { path: self.path.clone(), at: self.at }
    }
}

impl Iterator for Reader {
    type Item = Result<(Key, Value), BackupError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_record().inspect_err(|_| self.ended = true).transpose()
    }
}

fn check_head(head: &[u8], path: &Path) -> Result<(), BackupError> {
    let text = String::from_utf8_lossy(head);
    let mut lines = text.split_inclusive('\n').map(str::trim_end);
    if lines.next() != Some(TITLE) {
        return match block::head().as_bytes().starts_with(head) {
            true => Err(BackupError::Cut(path.to_owned())),
            false => Err(BackupError::Foreign(path.to_owned())),
        };
    }
    if head == block::head().as_bytes() {
        return Ok(());
    }
    match lines.next().and_then(|line| line.strip_prefix("format: ")).and_then(|format| format.parse().ok()) {
        Some(format) if format > FORMAT => Err(BackupError::Newer { path: path.to_owned(), format }),
        _ if block::head().as_bytes().starts_with(head) => Err(BackupError::Cut(path.to_owned())),
        _ => Err(BackupError::Damaged { path: path.to_owned(), at: 0 }),
    }
}

/// Splits a block into records; `None` if the lengths do not add up.
fn records_in(mut content: &[u8]) -> Option<Vec<(Key, Value)>> {
    let mut records = Vec::new();
    while !content.is_empty() {
        let (lengths, rest) = content.split_at_checked(2 * size_of::<u32>())?;
        let (key, value) = lengths.split_at(size_of::<u32>());
        let (key, rest) = rest.split_at_checked(number(key) as usize)?;
        let (value, rest) = rest.split_at_checked(number(value) as usize)?;
        records.push((key.to_vec(), value.to_vec()));
        content = rest;
    }
    Some(records)
}

/// Decodes a big-endian number.
fn number(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0, |number, byte| number << 8 | u64::from(*byte))
}
