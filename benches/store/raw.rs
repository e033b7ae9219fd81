//! The bare disk, which durable stores are compared with.

use std::{
    fs::{File, OpenOptions},
    io::{Seek, SeekFrom, Write},
    path::Path,
    time::{Duration, Instant},
};

use crate::measured::median;

/// Bytes of a record: what fjall's journal uses for one of the measured Memorize calls.
pub const RECORD_BYTES: usize = 250;
/// Bytes of the file that is overwritten.
const LENGTH: u64 = 64 << 20;

/// Two files on the disk, of which the faster one counts: one that grows with the writes, and one that has
/// its full length from the start, so that only the data has to be synced.
pub struct Raw {
    growing: File,
    ready: File,
}

/// The result of a round of writes and syncs.
#[derive(Clone, Copy)]
pub struct Written {
    /// Syncs per second.
    pub syncs: f64,
    /// Records per second.
    pub records: f64,
    /// The median time of a write and its sync, in seconds.
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

    /// Writes `records` at a time and syncs them, repeatedly, for half of `time` with each file.
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
