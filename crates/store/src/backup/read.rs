//! Reads and checks a backup.

use std::{
    fs::File,
    io::{BufReader, Read},
    path::{Path, PathBuf},
    vec,
};

use super::{
    BackupError, RestoreError,
    block::{self, FORMAT, FRAME, Holds, MAX_BLOCK_BYTES, TITLE},
    is_kept,
};
use crate::{
    EachRecord, StoreError,
    records::{Key, Record, Value},
};

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

impl Held {
    /// Counts a record.
    fn add(&mut self, key: &[u8], value: &[u8]) {
        self.records += 1;
        self.bytes += (key.len() + value.len()) as u64;
    }
}

impl Backup {
    /// Reads the whole file and returns a summary of its content.
    pub fn check(path: &Path) -> Result<(Self, Held), BackupError> {
        let (mut reader, mut held) = (Reader::open(path)?, Held::default());
        while let Some((key, value)) = reader.next_record()? {
            Record::read(&key, &value).map_err(|bad| BackupError::Record { path: path.to_owned(), bad })?;
            held.add(&key, &value);
        }
        Ok((Self { path: path.to_owned() }, held))
    }

    /// Returns the records, by ascending key; an error is the last item.
    pub fn records(&self) -> Result<Reader, BackupError> {
        Reader::open(&self.path)
    }

    /// Returns the records of a kind.
    #[cfg(feature = "postgres")]
    pub(crate) fn of_kind(
        &self,
        kind: u8,
    ) -> Result<impl Iterator<Item = Result<(Key, Value), BackupError>> + use<>, BackupError> {
        let is_before = move |record: &Result<(Key, Value), _>| {
            record.as_ref().is_ok_and(|(key, _)| key.first() < Some(&kind))
        };
        let is_of_it = move |record: &Result<(Key, Value), _>| {
            record.as_ref().map_or(true, |(key, _)| key.first() == Some(&kind))
        };
        Ok(self.records()?.skip_while(is_before).take_while(is_of_it))
    }

    /// Fails unless a store, in a directory or a schema, holds exactly these records.
    pub(crate) fn compare(
        &self,
        each_record: impl FnOnce(&mut EachRecord<'_>) -> Result<(), StoreError>,
        what: &'static str,
    ) -> Result<(), RestoreError> {
        let (mut records, mut wrong) = (self.records()?, None);
        let compared = each_record(&mut |stored| {
            let stored = stored?;
            if !is_kept(&stored.0) {
                return Ok(());
            }
            let expected = records.next().transpose();
            if !matches!(&expected, Ok(Some(expected)) if *expected == stored) {
                wrong = Some(expected.map(|expected| first(expected, Some(stored))));
                return Err(StoreError::unavailable("the stores differ"));
            }
            Ok(())
        });
        if let Some(record) = wrong {
            return Err(RestoreError::Differs { record: record?, what });
        }
        compared?;
        match records.next_record()? {
            None => Ok(()),
            missing => Err(RestoreError::Differs { record: first(missing, None), what }),
        }
    }
}

/// The name of the first of two records: the other store lacks it, or has another value.
fn first(expected: Option<(Key, Value)>, stored: Option<(Key, Value)>) -> Box<str> {
    let first = expected.into_iter().chain(stored).min();
    first.map_or_else(Box::default, |(key, value)| match Record::read(&key, &value) {
        Ok(record) => record.name().into(),
        Err(bad) => bad.record,
    })
}

/// The records of a backup, in order, without any that are derived from others; an error is the last item.
pub struct Reader {
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
                match is_kept(&record.0) {
                    true => return Ok(Some(record)),
                    false => continue,
                }
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
