//! Interruptions at each step, and engines that fail.

use std::{
    fs,
    ops::Bound::{self, Unbounded},
    path::Path,
    sync::atomic::{AtomicBool, Ordering::Relaxed},
};

use tempfile::TempDir;

use super::generations::{Engine, Generations};
use crate::durable::{
    fjall::FjallEngine,
    key_value::{Durability, Key, KeyValue as _, KeyValueError, Value, Writes},
    sled::SledEngine,
};

on_each_engine! {
    a_copy_that_was_interrupted_is_dropped
    a_copy_that_nothing_points_to_is_dropped
    a_pointer_that_was_not_put_in_place_is_ignored
    old_files_that_were_not_removed_go_at_the_next_opening
    a_creation_that_was_interrupted_begins_anew
    a_store_without_its_pointer_is_refused
    a_pointer_to_nothing_is_refused
}

fn a_copy_that_was_interrupted_is_dropped<E: Engine>() {
    let store = Closed::<E>::with_a_pair();
    store.copy("data-000001", "data-000002");
    let files: Vec<_> = fs::read_dir(store.path("data-000002")).unwrap().map(|file| file.unwrap()).collect();
    let (half, _) = files.split_at(files.len() / 2);
    for file in half {
        match file.path().is_dir() {
            true => fs::remove_dir_all(file.path()).unwrap(),
            false => fs::remove_file(file.path()).unwrap(),
        }
    }
    store.opens_with_its_pair();
    assert!(!store.path("data-000002").exists());
}

fn a_copy_that_nothing_points_to_is_dropped<E: Engine>() {
    let store = Closed::<E>::with_a_pair();
    store.copy("data-000001", "data-000002");
    let opened = store.open().unwrap();
    put(&opened, b"after").unwrap();
    opened.scrub().unwrap();
    drop(opened);
    assert_eq!(keys(&store.open().unwrap()), [&b"after"[..], b"before"]);
}

fn a_pointer_that_was_not_put_in_place_is_ignored<E: Engine>() {
    let store = Closed::<E>::with_a_pair();
    store.copy("data-000001", "data-000002");
    store.write("CURRENT.new", "data-0000");
    store.opens_with_its_pair();
    store.write("CURRENT.new", "data-000002\n");
    let opened = store.open().unwrap();
    opened.scrub().unwrap();
    drop(opened);
    store.opens_with_its_pair();
}

fn old_files_that_were_not_removed_go_at_the_next_opening<E: Engine>() {
    let store = Closed::<E>::with_a_pair();
    store.copy("data-000001", "data-000002");
    store.write("CURRENT", "data-000002\n");
    store.opens_with_its_pair();
    assert!(!store.path("data-000001").exists());

    store.write("data-000001", "what is left of a directory need not be one");
    fs::remove_file(store.path("data-000001")).unwrap();
    fs::create_dir(store.path("data-000001")).unwrap();
    store.opens_with_its_pair();
    assert!(!store.path("data-000001").exists());
}

fn a_creation_that_was_interrupted_begins_anew<E: Engine>() {
    let store = Closed::<E>::with_a_pair();
    store.write("CURRENT", "none\n");
    for file in fs::read_dir(store.path("data-000001")).unwrap() {
        let file = file.unwrap().path();
        if file.is_file() {
            fs::write(file, "half").unwrap();
        }
    }
    let opened = store.open().unwrap();
    assert_eq!(keys(&opened), [b""; 0]);
    put(&opened, b"before").unwrap();
    drop(opened);
    store.opens_with_its_pair();
}

fn a_store_without_its_pointer_is_refused<E: Engine>() {
    let store = Closed::<E>::with_a_pair();
    fs::remove_file(store.path("CURRENT")).unwrap();
    assert!(store.refusal().contains("CURRENT is missing"));
    store.write("CURRENT", "data-000001\n");
    store.opens_with_its_pair();
}

fn a_pointer_to_nothing_is_refused<E: Engine>() {
    let store = Closed::<E>::with_a_pair();
    for (content, reason) in [
        ("", "does not name"),
        ("data-1\n", "does not name"),
        ("data-000000\n", "does not name"),
        ("data-000007/..\n", "does not name"),
        ("data-000007\n", "is missing"),
    ] {
        store.write("CURRENT", content);
        assert!(store.refusal().contains(reason), "{content:?}: {}", store.refusal());
    }
    assert!(store.path("data-000001").is_dir(), "a wrong pointer removes nothing");
}

#[test]
fn a_panic_of_the_engine_is_an_error() {
    let directory = tempfile::tempdir().unwrap();
    let store = Generations::<Fragile>::open(directory.path()).unwrap();
    FAILS.with(|fails| fails.store(true, Relaxed));
    assert_eq!(store.get(b"key").unwrap_err().0, "the engine panicked: the page of 7 is torn");
    let read: Vec<_> = store.range(Unbounded, Unbounded).collect();
    assert_eq!(read.len(), 2);
    assert_eq!(read[1], Err(KeyValueError("the engine panicked: no such page".to_owned())));
    drop(store);
}

#[test]
fn after_a_failed_write_nothing_more_is_applied() {
    let directory = tempfile::tempdir().unwrap();
    let store = Generations::<Fragile>::open(directory.path()).unwrap();
    put(&store, b"key").unwrap();
    FAILS.with(|fails| fails.store(true, Relaxed));
    assert_eq!(put(&store, b"key").unwrap_err().0, "the disk is full");
    FAILS.with(|fails| fails.store(false, Relaxed));
    for refused in [put(&store, b"key"), store.sync(), store.scrub()] {
        assert!(refused.unwrap_err().0.contains("reopened, because a write failed: the disk is full"));
    }
    assert_eq!(store.get(b"key"), Ok(None));
    drop(store);
    put(&Generations::<Fragile>::open(directory.path()).unwrap(), b"key").unwrap();
}

#[test]
fn a_scrub_that_fails_changes_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let store = Generations::<Fragile>::open(directory.path()).unwrap();
    FAILS.with(|fails| fails.store(true, Relaxed));
    store.scrub().unwrap_err();
    FAILS.with(|fails| fails.store(false, Relaxed));
    assert!(!directory.path().join("data-000002").exists());
    assert_eq!(fs::read(directory.path().join("CURRENT")).unwrap(), b"data-000001\n");
    put(&store, b"key").unwrap();
    store.scrub().unwrap();
    assert_eq!(fs::read(directory.path().join("CURRENT")).unwrap(), b"data-000002\n");
    assert!(!directory.path().join("data-000001").exists());
}

thread_local! {
    static FAILS: AtomicBool = const { AtomicBool::new(false) };
}

/// An engine without pairs that fails on demand.
struct Fragile;

impl Engine for Fragile {
    fn open(directory: &Path) -> Result<Self, KeyValueError> {
        fs::create_dir_all(directory).unwrap();
        Ok(Self)
    }

    fn get(&self, key: &[u8]) -> Result<Option<Value>, KeyValueError> {
        assert!(!fails(), "the page of {} is torn", key.len() + 4);
        Ok(None)
    }

    fn range(
        &self,
        _: Bound<&[u8]>,
        _: Bound<&[u8]>,
    ) -> impl DoubleEndedIterator<Item = Result<(Key, Value), KeyValueError>> + Send + 'static {
        (0..3_u8).map(|key| match (fails(), key) {
            (true, 1..) => panic!("no such page"),
            _ => Ok((vec![key], vec![])),
        })
    }

    fn apply(&self, _: Writes, _: Durability) -> Result<(), KeyValueError> {
        self.sync()
    }

    fn fill(
        &self,
        mut pairs: impl Iterator<Item = Result<(Key, Value), KeyValueError>>,
    ) -> Result<(), KeyValueError> {
        pairs.try_for_each(|pair| pair.map(|_| ()))
    }

    fn sync(&self) -> Result<(), KeyValueError> {
        match fails() {
            true => Err(KeyValueError("the disk is full".to_owned())),
            false => Ok(()),
        }
    }
}

impl Drop for Fragile {
    fn drop(&mut self) {
        assert!(!fails(), "cannot even close");
    }
}

fn fails() -> bool {
    FAILS.with(|fails| fails.load(Relaxed))
}

/// The files of a store with the key `before`.
struct Closed<E> {
    directory: TempDir,
    engine: std::marker::PhantomData<E>,
}

impl<E: Engine> Closed<E> {
    fn with_a_pair() -> Self {
        let closed = Self { directory: tempfile::tempdir().unwrap(), engine: std::marker::PhantomData };
        put(&closed.open().unwrap(), b"before").unwrap();
        closed
    }

    fn open(&self) -> Result<Generations<E>, KeyValueError> {
        Generations::open(self.directory.path())
    }

    fn opens_with_its_pair(&self) {
        assert_eq!(keys(&self.open().unwrap()), [b"before"]);
    }

    fn refusal(&self) -> String {
        self.open().err().unwrap().0
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.directory.path().join(name)
    }

    fn write(&self, name: &str, content: &str) {
        fs::write(self.path(name), content).unwrap();
    }

    fn copy(&self, from: &str, to: &str) {
        copy(&self.path(from), &self.path(to));
    }
}

fn put<E: Engine>(store: &Generations<E>, key: &[u8]) -> Result<(), KeyValueError> {
    store.apply(vec![(key.to_vec(), Some(vec![1]))], Durability::Disk)
}

fn keys<E: Engine>(store: &Generations<E>) -> Vec<Key> {
    store.range(Unbounded, Unbounded).map(|pair| pair.unwrap().0).collect()
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap().path();
        let copied = to.join(entry.file_name().unwrap());
        match entry.is_dir() {
            true => copy(&entry, &copied),
            false => drop(fs::copy(&entry, copied).unwrap()),
        }
    }
}
