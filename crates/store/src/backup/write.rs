//! Writes records as the bytes of a backup.

use std::mem;

use super::{
    block::{self, BLOCK_BYTES, FRAME, Holds, MAX_BLOCK_BYTES},
    is_kept,
};
use crate::{EachRecord, Result, StoreError, records::Record};
use utterd_domain::limits::MAX_BACKUP_CHUNK_BYTES;

/// The function that receives the bytes; an error ends the backup.
pub type Send<'a> = dyn FnMut(Vec<u8>) -> Result<()> + 'a;

/// Writes the records that `each_record` passes on: see [`Upkeep::each_record`](crate::Upkeep::each_record).
/// Fails at the first unreadable record, because such a backup could not be restored.
pub fn write(each_record: impl FnOnce(&mut EachRecord<'_>) -> Result<()>, send: &mut Send<'_>) -> Result<()> {
    send(block::head().into_bytes())?;
    let mut writer = Writer { block: Vec::new(), records: 0, checksum: block::checksum_of_head(), send };
    each_record(&mut |record| {
        let (key, value) = record?;
        if is_kept(&key) {
            Record::read(&key, &value)
                .map_err(|bad| StoreError::unavailable(format_args!("a record is damaged: {bad}")))?;
            writer.put(&key, &value)?;
        }
        Ok(())
    })?;
    writer.end()
}

struct Writer<'a, 's> {
    /// The current block, with room for its frame; empty before its first record.
    block: Vec<u8>,
    records: u64,
    /// The checksum of the previous block.
    checksum: u64,
    send: &'a mut Send<'s>,
}

impl Writer<'_, '_> {
    fn put(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        let size = 2 * size_of::<u32>() + key.len() + value.len();
        if !self.block.is_empty() && self.block.len() + size > BLOCK_BYTES {
            self.seal(Holds::Records)?;
        }
        if size > MAX_BLOCK_BYTES {
            return Err(StoreError::unavailable(format_args!(
                "a record of {size} bytes is too large for a backup"
            )));
        }
        if self.block.is_empty() {
            self.block.resize(FRAME, 0);
        }
        for part in [key, value] {
            self.block.extend((part.len() as u32).to_be_bytes());
        }
        self.block.extend(key);
        self.block.extend(value);
        self.records += 1;
        Ok(())
    }

    fn end(mut self) -> Result<()> {
        if !self.block.is_empty() {
            self.seal(Holds::Records)?;
        }
        self.block.resize(FRAME, 0);
        self.block.extend(self.records.to_be_bytes());
        self.seal(Holds::End)
    }

    /// Fills in the block's frame, appends its checksum, and sends it.
    fn seal(&mut self, holds: Holds) -> Result<()> {
        let mut block = mem::take(&mut self.block);
        let length = (block.len() - FRAME) as u32; // bounded by MAX_BLOCK_BYTES
        block[0] = holds.byte();
        block[1..FRAME].copy_from_slice(&length.to_be_bytes());
        let (frame, content) = block.split_at(FRAME);
        self.checksum = block::checksum(self.checksum, frame, content);
        block.extend(self.checksum.to_be_bytes());
        match block.len() {
            0..=MAX_BACKUP_CHUNK_BYTES => (self.send)(block),
            _ => block.chunks(MAX_BACKUP_CHUNK_BYTES).try_for_each(|chunk| (self.send)(chunk.to_vec())),
        }
    }
}
