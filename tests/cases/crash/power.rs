//! A loss of power at any moment of a run under load, over fjall: sled does not promise to survive one.
//!
//! The server runs under a recorder and is killed a few times. From the log, a disk is built as the loss of
//! power might have left it after any of the records; a server that starts there must have everything that
//! had been acknowledged by then.

use std::{
    collections::{BTreeMap, HashSet},
    fs,
    path::{Path, PathBuf},
};

use tempfile::TempDir;

use crate::{
    crash::{
        disk::{Disk, Loss},
        kill::{Load, Run},
        ledger::Ledger,
        log::{Record, Recorder},
        server::{Backend, Start},
        tally::Tally,
    },
    support::{asked, random::Random},
};

pub fn what_fjall_acknowledged_survives_a_loss_of_power() -> Result<(), String> {
    survives(Load::USUAL, 2, 8)
}

pub fn what_fjall_acknowledged_survives_a_loss_of_power_while_it_begins_new_files() -> Result<(), String> {
    survives(Load::BULKY, 4, 3)
}

/// The check can fail: replies that do not wait for a flush are not safe.
pub fn what_was_answered_before_its_flush_is_missed() -> Result<(), String> {
    let mut run = Recorded::new(Run::new(1, Load::USUAL))?;
    run.round(&["--flush", "10s"]).unwrap();
    let log = run.recorder.log();
    let records = log.records().unwrap();
    let image = Image { cut: records.len(), loss: Loss::Everything };
    let error = image.try_with(&records, &run, 1).expect_err("nothing was flushed");
    assert!(error.contains("gone"), "{error}");
    Ok(())
}

/// The disk that is built from the log is the one that the server has left.
pub fn the_log_tells_everything_of_a_server() -> Result<(), String> {
    for backend in [Backend::Fjall, Backend::Sled] {
        let mut recorded = Recorded::new(Run::new(3, Load::USUAL))?;
        let (data, marks) = (recorded.data(), recorded.recorder.marks());
        for _ in 0..2 {
            let variables = recorded.recorder.variables();
            let server = Start { variables, ..Start::new(backend, &data) }.start().unwrap();
            recorded.run.work(&server, 300, &marks);
            server.end();
        }
        let (log, rebuilt) = (recorded.recorder.log(), tempfile::tempdir().expect("a directory"));
        let disk = Disk::after(&log.records().unwrap()).unwrap();
        disk.write(rebuilt.path(), Loss::Nothing, &mut Random::new(1));
        let (rebuilt, files) = (files(rebuilt.path()), files(&recorded.disk()));
        assert!(rebuilt.keys().eq(files.keys()), "{:?} and {:?}", rebuilt.keys(), files.keys());
        for (path, bytes) in files {
            assert!(rebuilt[&path] == bytes, "{}: {} is another", backend.name(), path.display());
        }
    }
    Ok(())
}

/// Everything below `root`: files with their contents, directories without.
fn files(root: &Path) -> BTreeMap<PathBuf, Option<Vec<u8>>> {
    let (mut found, mut rest) = (BTreeMap::new(), vec![root.to_owned()]);
    while let Some(path) = rest.pop() {
        let name = path.strip_prefix(root).unwrap().to_owned();
        if path.is_dir() {
            rest.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
            found.insert(name, None);
        } else {
            found.insert(name, Some(fs::read(&path).unwrap()));
        }
    }
    found
}

/// Builds this many disks from a run of `load` with `kills` kills, unless the environment sets another
/// number.
fn survives(load: Load, kills: u64, images: u64) -> Result<(), String> {
    let seed = asked("UTTERD_CRASH_SEED").unwrap_or(1);
    let images = asked("UTTERD_CRASH_IMAGES").unwrap_or(images);
    let mut run = Recorded::new(Run::new(seed, load))?;
    for _ in 0..asked("UTTERD_CRASH_ROUNDS").unwrap_or(kills) {
        let done = run.round(&[]).and_then(|()| run.between());
        done.unwrap_or_else(|error| panic!("seed {seed}: {error}"));
    }
    let log = run.recorder.log();
    let records = log.records().unwrap();
    let (mut random, mut tally, mut failures) = (Random::new(seed), Tally::default(), Vec::new());
    for number in 0..images {
        let image = Image::random(&records, &mut random);
        let image_seed = random.next();
        match image.try_with(&records, &run, image_seed) {
            Ok(figures) => tally += figures,
            Err(error) => {
                failures.push(format!("image {number} of {image_seed}, {}: {error}", image.told(&records)))
            }
        }
    }
    assert!(failures.is_empty(), "seed {seed}:\n{}", failures.join("\n"));
    let megabytes = log.len() >> 20;
    println!("after losses of power, {megabytes} MiB written: {tally}");
    Ok(())
}

/// A run whose server is recorded.
pub struct Recorded {
    /// The calls and their answers.
    pub run: Run,
    /// What was done to the files.
    pub recorder: Recorder,
    /// The directory of all files.
    pub scratch: TempDir,
}

impl Recorded {
    /// Records `run`. The error says what this machine lacks.
    pub fn new(run: Run) -> Result<Self, String> {
        let scratch = tempfile::tempdir().expect("a directory");
        fs::create_dir(scratch.path().join("disk")).expect("a directory");
        let recorder = Recorder::new(&scratch.path().join("disk"), scratch.path())?;
        Ok(Self { run, recorder, scratch })
    }

    /// What can happen between two rounds: see [`Run::between`].
    fn between(&mut self) -> Result<(), String> {
        let (data, variables) = (self.data(), self.recorder.variables());
        self.run.between(&Start { variables, ..Start::new(Backend::Fjall, &data) })
    }

    /// The directory of the server's files, below the one that is recorded.
    pub fn data(&self) -> PathBuf {
        self.disk().join("data")
    }

    /// The recorded directory.
    pub fn disk(&self) -> PathBuf {
        self.scratch.path().canonicalize().expect("it is there").join("disk")
    }

    /// One round of the run: see [`Run::round`].
    fn round(&mut self, flags: &[&str]) -> Result<(), String> {
        let (data, marks) = (self.data(), self.recorder.marks());
        let start =
            Start { flags, variables: self.recorder.variables(), ..Start::new(Backend::Fjall, &data) };
        self.run.round(&start, &marks).map(drop)
    }
}

/// A disk after a loss of power.
#[derive(Clone, Copy, Debug)]
struct Image {
    /// How many records had been written.
    cut: usize,
    loss: Loss,
}

impl Image {
    /// A quarter of the moments are arbitrary, a quarter around the end of a sync, a quarter around a change
    /// of names, a quarter after a write that can be torn.
    fn random(records: &[Record<'_>], random: &mut Random) -> Self {
        let is_sync = |record: &Record<'_>| matches!(record, Record::SyncEnded { .. });
        let places = |wanted: &dyn Fn(&Record<'_>) -> bool| -> Vec<usize> {
            (0..records.len()).filter(|place| wanted(&records[*place])).collect()
        };
        let can_be_torn =
            |record: &Record<'_>| matches!(record, Record::Written { bytes, .. } if bytes.len() > 512);
        let place = match random.below(4) {
            0 => None,
            1 => random.pick(&places(&is_sync)),
            2 => random.pick(&places(&changes_names)),
            _ => random.pick(&places(&can_be_torn)),
        };
        let cut = match place {
            Some(place) => place + random.below(4),
            None => random.below(records.len() + 1),
        };
        let loss = random.pick(&[
            Loss::Everything,
            Loss::InOrder,
            Loss::InOrder,
            Loss::OutOfOrder,
            Loss::OutOfOrder,
        ]);
        Self { cut: cut.min(records.len()), loss: loss.unwrap_or(Loss::Everything) }
    }

    /// Builds the disk, starts a server on it and checks it.
    fn try_with(&self, records: &[Record<'_>], run: &Recorded, seed: u64) -> Result<Tally, String> {
        let (records, mut random) = (&records[..self.cut], Random::new(seed));
        let place = tempfile::tempdir_in(run.scratch.path()).expect("a directory");
        let disk = Disk::after(records)?;
        disk.write(place.path(), self.loss, &mut random);
        let (data, ledger) = (place.path().join("data"), as_of(records, &run.run.ledger)?);
        self.check(&data, ledger, &mut random).inspect_err(|_| {
            if let Ok(keep) = std::env::var("UTTERD_CRASH_KEEP") {
                disk.write(&Path::new(&keep).join(seed.to_string()), self.loss, &mut Random::new(seed));
            }
        })
    }

    fn check(&self, data: &Path, ledger: Ledger, random: &mut Random) -> Result<Tally, String> {
        let start = Start::new(Backend::Fjall, data);
        if ledger.answered() > 0 && random.percent(50) {
            start.verify()?;
        }
        let server = start.start()?;
        let figures = Run::with(ledger, Load::USUAL, random.fork()).check(&server, &())?;
        server.kill();
        start.verify()?;
        Ok(figures)
    }

    fn told(&self, records: &[Record<'_>]) -> String {
        let from = self.cut.saturating_sub(6);
        let last: Vec<String> = records[from..self.cut].iter().map(short).collect();
        format!("{self:?} of {} records, after\n  {}\n", records.len(), last.join("\n  "))
    }
}

fn changes_names(record: &Record<'_>) -> bool {
    match record {
        Record::Opened { how, .. } => how.created || how.truncated,
        Record::Renamed { .. } | Record::Unlinked { .. } | Record::Made { .. } | Record::Removed { .. } => {
            true
        }
        Record::Linked { .. } | Record::Sized { .. } => true,
        _ => false,
    }
}

/// A record without its bytes.
fn short(record: &Record<'_>) -> String {
    match record {
        Record::Written { file, offset, bytes } => {
            format!("Written {{ file: {file}, offset: {offset}, {} bytes }}", bytes.len())
        }
        Record::Sent { bytes } => format!("Sent {{ {} bytes }}", bytes.len()),
        other => format!("{other:?}"),
    }
}

/// The requests and answers up to the end of `records`.
fn as_of(records: &[Record<'_>], ledger: &Ledger) -> Result<Ledger, String> {
    let (mut begun, mut answered) = (HashSet::new(), HashSet::new());
    for record in records {
        match record {
            Record::Begun { name } => drop(begun.insert(*name)),
            Record::Answered { name } => drop(answered.insert(*name)),
            _ => {}
        }
    }
    ledger.at(&begun, &answered)
}
