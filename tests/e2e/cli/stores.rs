//! Durable stores as a person uses them: served, restored, verified and scrubbed.

#![allow(clippy::disallowed_methods)] // a test waits for a server's background work

use std::{
    ffi::OsString,
    fs, io,
    ops::Bound,
    path::Path,
    process::Command,
    sync::OnceLock,
    thread,
    time::{Duration, Instant},
};

use tempfile::TempDir;
use utterd::store::{
    durable::{
        Directory, EngineKind,
        key_value::{Durability, Key},
    },
    records::{self, Kind, Links, Meta, Metas, Utterances},
};

use super::{Outcome, Server, assert_holds, utterd};

const ENGINES: [EngineKind; 2] = EngineKind::ALL;

/// Runs a command on files, in `directory`.
fn run(directory: &TempDir, arguments: &[&str]) -> Outcome {
    Outcome::of(utterd(directory.path()).args(arguments))
}

fn serve(directory: TempDir, engine: EngineKind, data: &str) -> Server {
    Server::start_in(directory, &["--backend", engine.name(), "--data-dir", data])
}

/// A closed store `data` in its own directory: one conversation with two utterances, and a hard-forgotten one
/// between them.
fn store(engine: EngineKind) -> TempDir {
    static FJALL: OnceLock<Entry> = OnceLock::new();
    static SLED: OnceLock<Entry> = OnceLock::new();
    let made = match engine {
        EngineKind::Fjall => &FJALL,
        EngineKind::Sled => &SLED,
    };
    let directory = tempfile::tempdir().expect("a directory");
    made.get_or_init(|| make_store(engine)).write(&directory.path().join("data"));
    directory
}

fn make_store(engine: EngineKind) -> Entry {
    let server = serve(tempfile::tempdir().expect("a directory"), engine, "data");
    for text in ["The train leaves at nine.", "The code is zanzibar."] {
        server.run(&["memorize", "--to", "demo", text]).worked();
    }
    server.run(&["forget", "--hard", "demo", "sequence:2"]).worked();
    server.run(&["memorize", "--to", "demo", "From platform four."]).worked();
    Entry::read(&server.kill().path().join("data"))
}

/// A file or a directory, held in memory.
enum Entry {
    File(Vec<u8>),
    Directory(Vec<(OsString, Entry)>),
}

impl Entry {
    fn read(path: &Path) -> Self {
        if path.is_file() {
            return Self::File(fs::read(path).expect("the file is read"));
        }
        let entries = fs::read_dir(path).expect("the directory is read");
        let entry = |entry: io::Result<fs::DirEntry>| {
            let entry = entry.expect("the directory is read");
            (entry.file_name(), Self::read(&entry.path()))
        };
        Self::Directory(entries.map(entry).collect())
    }

    fn write(&self, path: &Path) {
        match self {
            Self::File(bytes) => fs::write(path, bytes).expect("the file is written"),
            Self::Directory(entries) => {
                fs::create_dir(path).expect("the directory is made");
                entries.iter().for_each(|(name, entry)| entry.write(&path.join(name)));
            }
        }
    }

    /// Whether any file in it contains `text`.
    fn holds(&self, text: &str) -> bool {
        match self {
            Self::File(bytes) => memchr::memmem::find(bytes, text.as_bytes()).is_some(),
            Self::Directory(entries) => entries.iter().any(|(_, entry)| entry.holds(text)),
        }
    }
}

fn assert_shows(server: &Server) {
    let shown = server.run(&["show", "demo"]).worked();
    assert_holds(&shown, &["The train leaves at nine.", "From platform four.", " 2 of 20 utterances"]);
}

#[track_caller]
fn assert_whole(directory: &TempDir, place: &str) {
    let verified = run(directory, &["verify", place]).worked();
    assert_holds(&verified, &[&format!("verified {place}: 1 conversation, 2 utterances, "), " records, in "]);
    assert_eq!(verified.lines().count(), 1, "{verified}");
}

#[test]
fn what_was_said_outlives_the_server() {
    for engine in ENGINES {
        let server = serve(store(engine), engine, "data");
        assert_shows(&server);
        assert_whole(&server.kill(), &format!("{engine}:data"));
    }
}

#[test]
fn an_interrupted_restore_is_repeated() {
    for engine in ENGINES {
        let directory = store(engine);
        let (source, target) = (format!("{engine}:data"), format!("{engine}:there/copy"));
        run(&directory, &["backup", "file", "--from", &source]).worked();
        let restore = ["restore", "file", "--to", &target];
        run(&directory, &restore).worked();
        interrupt(&directory.path().join("there/copy"), engine);
        let serving =
            ["serve", "--listen", "127.0.0.1:0", "--backend", engine.name(), "--data-dir", "there/copy"];
        let backup = ["backup", "none", "--from", &target];
        for command in [&serving[..], &["verify", &target], &["scrub", &target], &backup] {
            assert_holds(
                &run(&directory, command).failed(1),
                &["the store in there/copy is not restored wholly; finish it: utterd restore FILE --to"],
            );
        }
        run(&directory, &restore).worked();
        assert_whole(&directory, &target);
        assert_whole(&directory, &source);
        assert_shows(&serve(directory, engine, "there/copy"));
    }
}

/// Turns a finished restore into what an interrupted one would have left.
fn interrupt(data: &Path, engine: EngineKind) {
    let directory = Directory::open(engine, data).expect("the store is opened");
    let rest =
        directory.pairs().range(Bound::Included(&[Utterances::NUMBER]), Bound::Excluded(&[Links::NUMBER]));
    let rest = rest.map(|pair| pair.expect("it is read").0);
    let (key, value) = records::pair::<Metas>(&Meta::Copying, &1);
    let writes = rest.map(|key| (key, None)).chain([(key, Some(value))]).collect();
    directory.pairs().apply(writes, Durability::Disk).expect("it is written");
}

#[test]
fn scrubbed_files_do_not_hold_what_was_forgotten() {
    for engine in ENGINES {
        let directory = store(engine);
        let data = directory.path().join("data");
        assert!(Entry::read(&data).holds("zanzibar"), "{engine} has not written it");
        let place = format!("{engine}:data");
        let scrubbed = run(&directory, &["scrub", &place]).worked();
        assert_holds(&scrubbed, &[&format!("scrubbed {place}: "), " before, ", " after"]);
        assert!(!Entry::read(&data).holds("zanzibar"));
        assert_whole(&directory, &place);
        assert_shows(&serve(directory, engine, "data"));
    }
}

#[test]
fn a_server_scrubs_by_itself() {
    for engine in ENGINES {
        let flags = ["--backend", engine.name(), "--data-dir", "data", "--scrub-interval", "1s"];
        let server = Server::start_in(store(engine), &flags);
        // the files change while they are searched: a removed one contains nothing
        let mut search = Command::new("grep");
        search.args(["-rqs", "zanzibar", "data"]).current_dir(server.directory.path());
        let deadline = Instant::now() + Duration::from_secs(60);
        while search.status().expect("grep runs").code() != Some(1) {
            assert!(Instant::now() < deadline, "{engine} still holds what was forgotten");
            thread::sleep(Duration::from_millis(50));
        }
        assert_shows(&server);
        assert_whole(&server.kill(), &format!("{engine}:data"));
    }
}

#[test]
fn what_is_missing_is_named() {
    for engine in ENGINES {
        let directory = store(engine);
        remove_an_utterance(&directory.path().join("data"), engine);
        let place = format!("{engine}:data");
        let outcome = run(&directory, &["verify", &place]);
        assert_eq!(outcome.code, Some(1), "{}{}", outcome.stdout, outcome.stderr);
        assert!(outcome.stdout.lines().count() > 1, "{}", outcome.stdout);
        assert_holds(&outcome.stderr, &["error: ", " problem", &format!(" in {place}")]);
    }
}

/// Removes the first utterance behind the store's back.
fn remove_an_utterance(data: &Path, engine: EngineKind) {
    let directory = Directory::open(engine, data).expect("the store is opened");
    let first: Key = vec![Utterances::NUMBER];
    let mut utterances = directory.pairs().range(Bound::Included(&first), Bound::Unbounded);
    let (key, _) = utterances.next().expect("there is an utterance").expect("it is read");
    assert_eq!(key[0], Utterances::NUMBER);
    drop(utterances);
    let batch = vec![(key, None)];
    directory.pairs().apply(batch, Durability::Disk).expect("it is removed");
}

#[test]
fn a_store_in_use_is_left_alone() {
    for engine in ENGINES {
        let server = serve(store(engine), engine, "data");
        let place = format!("{engine}:data");
        server.run(&["backup", "file"]).worked();
        let used = ["the store in data is in use by process ", "stop what uses it"];
        for command in [
            &["verify", &place][..],
            &["scrub", &place],
            &["restore", "file", "--to", &place],
            &["serve", "--listen", "127.0.0.1:0", "--backend", engine.name(), "--data-dir", "data"],
        ] {
            assert_holds(&Outcome::of(&mut server.command(command)).failed(1), &used);
        }
        assert_shows(&server);
    }
}

#[test]
fn what_is_no_store_is_refused() {
    let directory = store(EngineKind::Fjall);
    run(&directory, &["backup", "file", "--from", "fjall:data"]).worked();
    for (command, code, expected) in [
        (&["verify", "fjall:nowhere"][..], 1, "there is no store in nowhere"),
        (&["scrub", "sled:nowhere"], 1, "there is no store in nowhere"),
        (&["verify", "sled:data"], 1, "the store in data is kept by fjall, not by sled; open it as fjall"),
        (&["restore", "file", "--to", "fjall:."], 1, "holds files that are not a store's"),
        (&["verify", "data"], 2, "it does not say which backend the files belong to"),
        (&["scrub", "rocks:data"], 2, "there is no backend `rocks`"),
        (&["restore", "file", "--to", "in-memory:data"], 2, "the in-memory backend keeps no files"),
        (&["restore", "--to", "fjall:copy"], 2, "FILE is missing"),
    ] {
        assert_holds(&run(&directory, command).failed(code), &[expected]);
    }
    for untouched in ["nowhere", "copy"] {
        assert!(!directory.path().join(untouched).exists(), "{untouched}");
    }
    assert_whole(&directory, "fjall:data");
}
