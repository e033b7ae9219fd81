//! The bare disk: what any durable store is measured against.

use std::{
    fs::{File, OpenOptions},
    io::{Seek, SeekFrom, Write},
    path::Path,
    time::{Duration, Instant},
};

use crate::measured::median;

/// Bytes of a record: what fjall's journal takes for one of the Memorize calls that are measured.
pub const RECORD_BYTES: usize = 250;
/// Bytes of a file that is written over.
const LENGTH: u64 = 64 << 20;

/// Two files on the disk, of which the faster one counts: one that grows with what is written, and
/// one that is as long as it gets from the beginning, so that only what is written has to be synced.
pub struct Raw {
    growing: File,
    ready: File,
}

/// What a round of writes and syncs came to.
#[derive(Clone, Copy)]
pub struct Written {
    /// Syncs a second.
    pub syncs: f64,
    /// Records a second.
    pub records: f64,
    /// Seconds of a write and its sync, in the middle.
    pub seconds: f64,
}

impl Raw {
    /// New files in `directory`.
    pub fn create(directory: &Path) -> Self {
        let create = |name| {
            let file = OpenOptions::new().create_new(true).write(true).open(directory.join(name));
            file.expect("a file")
        };
        let (growing, mut ready) = (create("growing"), create("ready"));
        ready.write_all(&vec![0; LENGTH as usize]).expect("a write");
        ready.sync_all().expect("a sync");
        Self { growing, ready }
    }

    /// Writes `records` at once and syncs them, again and again, for half of `time` with each file.
    pub fn write(&mut self, records: usize, time: Duration) -> Written {
        self.growing.set_len(0).expect("an empty file");
        self.growing.sync_all().expect("a sync");
        let growing = write(&mut self.growing, records, time / 2);
        let ready = write(&mut self.ready, records, time / 2);
        if growing.records > ready.records { growing } else { ready }
    }
}

fn write(file: &mut File, records: usize, time: Duration) -> Written {
    let bytes: Vec<u8> = (0..records * RECORD_BYTES).map(|index| (index % 251) as u8).collect();
    let mut times = Vec::new();
    let mut position = file.seek(SeekFrom::Start(0)).expect("its start");
    let started = Instant::now();
    while started.elapsed() < time {
        if position + bytes.len() as u64 > LENGTH {
            position = file.seek(SeekFrom::Start(0)).expect("its start");
        }
        let before = Instant::now();
        file.write_all(&bytes).expect("a write");
        file.sync_data().expect("a sync");
        times.push(before.elapsed().as_secs_f64());
        position += bytes.len() as u64;
    }
    let syncs = times.len() as f64 / started.elapsed().as_secs_f64();
    Written { syncs, records: syncs * records as f64, seconds: median(times) }
}
