//! Tests the recorder, and the disks built from its log, with programs whose effects are known.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    thread,
};

use crate::{
    disk::{Disk, Loss},
    kill::{Load, Run},
    log::Record,
    power::Recorded,
    random::Random,
    server::{Backend, Process, Start},
};

type Files = BTreeMap<PathBuf, Option<Vec<u8>>>;

#[test]
#[cfg_attr(not(target_os = "linux"), ignore = "the recorder is made for Linux")]
fn the_log_tells_everything() {
    let Some(recorded) = Recorded::new(Run::new(1, Load::USUAL)) else { return };
    let disk = recorded.disk();
    let run = |words: &[&str]| run(&recorded, words);
    run(&["dd", "if=/dev/zero", "of=a", "bs=1000", "count=5", "conv=fsync"]);
    run(&["dd", "if=/etc/passwd", "of=a", "bs=100", "seek=7", "count=2", "conv=notrunc"]);
    run(&["mkdir", "-p", "one/two"]);
    run(&["mv", "a", "one/two/b"]);
    run(&["ln", "one/two/b", "c"]);
    run(&["truncate", "--size", "2500", "c"]);
    run(&["truncate", "--size", "9000", "one/two/b"]);
    run(&["dd", "if=/etc/passwd", "of=gone"]);
    run(&["rm", "gone"]);
    run(&["fallocate", "--length", "10000", "room"]);
    run(&["dd", "if=/etc/passwd", "of=c", "oflag=append", "conv=notrunc"]);
    let log = recorded.recorder.log();
    assert_eq!(rebuilt(&log.records().unwrap(), Loss::Nothing), files(&disk));
}

#[test]
#[cfg_attr(not(target_os = "linux"), ignore = "the recorder is made for Linux")]
fn the_log_tells_everything_of_a_server() {
    for backend in [Backend::Fjall, Backend::Sled] {
        let Some(mut recorded) = Recorded::new(Run::new(3, Load::USUAL)) else { return };
        let (data, marks) = (recorded.data(), recorded.recorder.marks());
        for _ in 0..2 {
            let variables = recorded.recorder.variables();
            let server = Start { variables, ..Start::new(backend, &data) }.start().unwrap();
            recorded.run.work(&server, 300, &marks);
            server.end();
        }
        let log = recorded.recorder.log();
        let (rebuilt, files) = (rebuilt(&log.records().unwrap(), Loss::Nothing), files(&recorded.disk()));
        assert!(rebuilt.keys().eq(files.keys()), "{:?} and {:?}", rebuilt.keys(), files.keys());
        for (path, bytes) in files {
            assert!(rebuilt[&path] == bytes, "{}: {} is another", backend.name(), path.display());
        }
    }
}

/// A write that took effect just before a kill is in the log: the next process builds on it.
#[test]
#[cfg_attr(not(target_os = "linux"), ignore = "the recorder is made for Linux")]
fn the_log_tells_everything_until_a_kill() {
    let Some(recorded) = Recorded::new(Run::new(1, Load::USUAL)) else { return };
    let path = recorded.disk().join("a");
    for kill in 1..=20 {
        let words = ["dd", "if=/dev/zero", "of=a", "bs=1", "oflag=append", "conv=notrunc"];
        let mut process = Process::new(
            command(&recorded, &words).stderr(Stdio::null()).spawn().unwrap(),
            &recorded.recorder.variables(),
        );
        while fs::metadata(&path).map_or(0, |file| file.len()) < 50 * kill {
            thread::yield_now();
        }
        process.kill();
    }
    let log = recorded.recorder.log();
    assert_eq!(lengths(&rebuilt(&log.records().unwrap(), Loss::Nothing)), lengths(&files(&recorded.disk())));
}

#[test]
#[cfg_attr(not(target_os = "linux"), ignore = "the recorder is made for Linux")]
fn only_what_was_synced_is_certain() {
    let Some(recorded) = Recorded::new(Run::new(1, Load::USUAL)) else { return };
    let run = |words: &[&str]| run(&recorded, words);
    run(&["dd", "if=/dev/zero", "of=synced", "bs=1000", "count=2", "conv=fsync"]);
    run(&["dd", "if=/dev/zero", "of=synced", "bs=1000", "seek=2", "count=2", "conv=notrunc"]);
    run(&["dd", "if=/dev/zero", "of=lost", "bs=1000", "count=2"]);
    run(&["mkdir", "directory"]);
    run(&["dd", "if=/dev/zero", "of=directory/synced", "bs=1000", "count=1", "conv=fdatasync"]);
    run(&["mv", "synced", "moved"]);
    let log = recorded.recorder.log();
    let certain = rebuilt(&log.records().unwrap(), Loss::Everything);
    let expected =
        [("", None), ("directory", None), ("directory/synced", Some(1_000)), ("synced", Some(2_000))];
    assert_eq!(lengths(&certain), expected.map(|(path, length)| (PathBuf::from(path), length)));
    run(&["sync", "."]);
    let log = recorded.recorder.log();
    let certain = rebuilt(&log.records().unwrap(), Loss::Everything);
    let expected = [
        ("", None),
        ("directory", None),
        ("directory/synced", Some(1_000)),
        ("lost", Some(0)),
        ("moved", Some(2_000)),
    ];
    assert_eq!(lengths(&certain), expected.map(|(path, length)| (PathBuf::from(path), length)));
}

#[test]
#[cfg_attr(not(target_os = "linux"), ignore = "the recorder is made for Linux")]
fn what_was_not_synced_is_there_in_parts() {
    let Some(recorded) = Recorded::new(Run::new(1, Load::USUAL)) else { return };
    run(&recorded, &["dd", "if=/dev/zero", "of=log", "bs=700", "count=1", "conv=fsync"]);
    run(&recorded, &["dd", "if=/etc/services", "of=log", "bs=700", "seek=1", "count=9", "conv=notrunc"]);
    let log = recorded.recorder.log();
    let records = log.records().unwrap();
    let mut lengths: Vec<usize> = Vec::new();
    for seed in 0..60 {
        let disk = Disk::after(&records).unwrap();
        let place = tempfile::tempdir().expect("a directory");
        disk.write(place.path(), Loss::InOrder, &mut Random::new(seed));
        let bytes = fs::read(place.path().join("log")).unwrap();
        assert_eq!(bytes[..700], [0; 700]);
        lengths.push(bytes.len());
    }
    assert!(lengths.contains(&700) && lengths.contains(&7_000), "nothing and everything: {lengths:?}");
    let torn = |length: &&usize| length.is_multiple_of(512);
    assert!(lengths.iter().filter(torn).count() > 5, "a write ends at a sector: {lengths:?}");
}

fn run(recorded: &Recorded, words: &[&str]) {
    let output = command(recorded, words).output().expect("the program is there");
    assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
}

fn command(recorded: &Recorded, words: &[&str]) -> Command {
    let mut command = Command::new(words[0]);
    command.args(&words[1..]).current_dir(recorded.disk()).envs(recorded.recorder.variables());
    command.stdin(Stdio::null());
    command
}

fn rebuilt(records: &[Record<'_>], loss: Loss) -> Files {
    let place = tempfile::tempdir().expect("a directory");
    Disk::after(records).unwrap().write(place.path(), loss, &mut Random::new(1));
    files(place.path())
}

/// Everything below `root`: files with their contents, directories without.
fn files(root: &Path) -> Files {
    let (mut found, mut rest) = (Files::new(), vec![root.to_owned()]);
    while let Some(path) = rest.pop() {
        let name = path.strip_prefix(root).unwrap().to_owned();
        match path.is_dir() {
            true => {
                rest.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
                found.insert(name, None);
            }
            false => drop(found.insert(name, Some(fs::read(&path).unwrap()))),
        }
    }
    found
}

fn lengths(files: &Files) -> Vec<(PathBuf, Option<usize>)> {
    files.iter().map(|(path, bytes)| (path.clone(), bytes.as_ref().map(Vec::len))).collect()
}
