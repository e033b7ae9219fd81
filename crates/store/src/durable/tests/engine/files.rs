//! The content of the files: after reopening, during and after a scrub, and damaged.

use std::{
    collections::BTreeMap,
    fs,
    ops::Bound::Unbounded,
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, Ordering},
    thread,
};

use super::store::*;
use crate::durable::{
    disk::generations::{Engine, Generations},
    fjall::FjallEngine,
    key_value::{Durability, Key, KeyValue as _, Value},
    sled::SledEngine,
};

on_each_engine! {
    what_was_applied_is_there_after_reopening
    many_pairs_survive_reopening_and_scrubbing
    a_scrub_leaves_no_byte_of_what_was_removed
    a_scrub_waits_for_the_ranges_before_it
    reads_go_on_during_a_scrub
    writes_go_on_during_a_scrub
    files_take_less_than_a_megabyte_when_nothing_is_stored
    a_damaged_file_is_an_error_or_opens
}

fn what_was_applied_is_there_after_reopening<E: Engine>() {
    let mut store = Store::<E>::new();
    for round in 0..5_u8 {
        store.put(&[round], b"on the disk");
        store.write([(&[round, 1][..], Some(&b"with the system"[..]))], Durability::Process);
        store.write([(&[round, 2][..], Some(&b"synced"[..]))], Durability::Process);
        store.get().sync().unwrap();
        store.reopen();
        assert_eq!(store.pairs().len(), 3 * (usize::from(round) + 1));
    }
}

fn many_pairs_survive_reopening_and_scrubbing<E: Engine>() {
    const PAIRS: u32 = 100_000;
    let mut store = Store::<E>::new();
    let expected: BTreeMap<Key, Value> = (0..PAIRS)
        .map(|index| {
            (index.wrapping_mul(2_654_435_761).to_be_bytes().to_vec(), index.to_le_bytes().repeat(8))
        })
        .collect();
    let all: Vec<_> = expected.iter().map(|(key, value)| (key.clone(), Some(value.clone()))).collect();
    for writes in all.chunks(5_000) {
        store.get().apply(writes.to_vec(), Durability::Process).unwrap();
    }
    store.reopen();
    assert!(store.pairs().into_iter().eq(expected.clone()));
    store.get().scrub().unwrap();
    assert!(store.pairs().into_iter().eq(expected.clone()));
    store.reopen();
    assert!(store.pairs().into_iter().eq(expected));
}

fn a_scrub_leaves_no_byte_of_what_was_removed<E: Engine>() {
    const SECRETS: [&[u8]; 3] = [b"Xq7removed-text", b"Xq7overwritten-text", b"Xq7removed-key"];
    let mut store = Store::<E>::new();
    store.apply([
        (&b"removed"[..], Some(SECRETS[0])),
        (b"overwritten", Some(SECRETS[1])),
        (SECRETS[2], Some(b"")),
        (b"kept", Some(b"Xq7kept-text")),
    ]);
    store.reopen();
    store.apply([(&b"removed"[..], None), (b"overwritten", Some(&b"new"[..])), (SECRETS[2], None)]);
    assert!(SECRETS.iter().all(|secret| contains(store.directory.path(), secret)), "else nothing is shown");

    store.get().scrub().unwrap();
    assert!(SECRETS.iter().all(|secret| !contains(store.directory.path(), secret)));
    assert!(contains(store.directory.path(), b"Xq7kept-text"));
    store.reopen();
    assert!(SECRETS.iter().all(|secret| !contains(store.directory.path(), secret)));
    assert_eq!(store.keys(Unbounded, Unbounded), [&b"kept"[..], b"overwritten"]);
}

fn a_scrub_waits_for_the_ranges_before_it<E: Engine>() {
    let store = Store::<E>::new();
    for key in 0..200_u8 {
        store.put(&[key], &[key]);
    }
    let mut range = store.get().range(Unbounded, Unbounded);
    assert_eq!(range.next(), Some(Ok((vec![0], vec![0]))));
    thread::scope(|scope| {
        let scrub = scope.spawn(|| store.get().scrub());
        while store.file("CURRENT") == b"data-000001\n" {
            thread::yield_now();
        }
        assert_eq!(range.by_ref().count(), 199);
        assert!(!scrub.is_finished());
        assert!(store.directory.path().join("data-000001").is_dir());
        drop(range);
        scrub.join().unwrap().unwrap();
        assert!(!store.directory.path().join("data-000001").exists());
    });
}

fn reads_go_on_during_a_scrub<E: Engine>() {
    let store = Store::<E>::new();
    for key in 0..=255_u8 {
        store.put(&[key], &noise(1_000));
    }
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        let reader = scope.spawn(|| {
            let mut rounds = 0;
            while !done.load(Ordering::Relaxed) || rounds == 0 {
                assert_eq!(store.get().range(Unbounded, Unbounded).filter(Result::is_ok).count(), 256);
                assert_eq!(store.get().get(&[7]), Ok(Some(noise(1_000))));
                rounds += 1;
            }
        });
        for _ in 0..3 {
            store.get().scrub().unwrap();
            store.put(&[9], &noise(1_000));
        }
        done.store(true, Ordering::Relaxed);
        reader.join().unwrap();
    });
}

fn writes_go_on_during_a_scrub<E: Engine>() {
    let mut store = Store::<E>::new();
    for key in 0..200_u32 {
        store.put(&key.to_be_bytes(), &noise(1_000));
    }
    let (done, mut expected) = (AtomicBool::new(false), BTreeMap::new());
    thread::scope(|scope| {
        let writer = scope.spawn(|| {
            let mut written = BTreeMap::new();
            let mut round = 0_u32;
            while !done.load(Ordering::Relaxed) || round < 1_500 {
                let (key, other) = ((round * 7 % 400).to_be_bytes(), (round * 5 % 400).to_be_bytes());
                let value = round.to_be_bytes();
                store.apply([(&key[..], Some(&value[..]))]);
                written.insert(key.to_vec(), Some(value.to_vec()));
                store.apply([(&other[..], None)]);
                written.insert(other.to_vec(), None);
                round += 1;
            }
            written
        });
        for _ in 0..3 {
            store.get().scrub().unwrap();
        }
        done.store(true, Ordering::Relaxed);
        expected = writer.join().unwrap();
    });
    for reopened in [false, true] {
        if reopened {
            store.reopen();
        }
        for (key, value) in &expected {
            assert_eq!(&store.get().get(key).unwrap(), value, "{key:?} {reopened}");
        }
    }
}

fn files_take_less_than_a_megabyte_when_nothing_is_stored<E: Engine>() {
    let store = Store::<E>::new();
    let bytes = store.get().disk_bytes().unwrap();
    assert!((1..1 << 20).contains(&bytes), "{bytes}");
    store.put(b"key", &noise(4 << 20));
    assert!(store.get().disk_bytes().unwrap() > 4 << 20);
}

/// Damage is refused, found on reading, or cuts off the newest writes. It never causes a panic.
fn a_damaged_file_is_an_error_or_opens<E: Engine>() {
    for (numerator, flip) in [(0, 0xff), (1, 0x01), (3, 0xff), (5, 0x80), (7, 0xff)] {
        let mut store = Store::<E>::new();
        for key in 0..60_u8 {
            store.put(&[key], &noise(300));
        }
        store.close();
        let file = largest_content(&store.directory.path().join("data-000001"));
        let mut content = written(&file);
        let at = content.len() * numerator / 8;
        content[at] ^= flip;
        fs::write(&file, content).unwrap();

        if let Ok(opened) = Generations::<E>::open(store.directory.path()) {
            let _read = opened.range(Unbounded, Unbounded).count();
            let _read = opened.get(&[7]);
        }
    }
}

/// Whether a file below `directory` contains a text, or has it in its name.
fn contains(directory: &Path, text: &[u8]) -> bool {
    files_under(directory).iter().any(|path| {
        let content = written(path);
        let name = path.as_os_str().as_encoded_bytes();
        [&content, name].iter().any(|bytes| memchr::memmem::find(bytes, text).is_some())
    })
}

fn largest_content(directory: &Path) -> PathBuf {
    use std::os::unix::fs::MetadataExt as _;
    files_under(directory).into_iter().max_by_key(|path| fs::metadata(path).unwrap().blocks()).unwrap()
}

/// A file's content without the zeros with which fjall preallocates its journal.
fn written(file: &Path) -> Vec<u8> {
    const BLOCK: usize = 4_096;
    let mut content = fs::read(file).unwrap_or_default();
    let blocks = content.chunks(BLOCK).rposition(|block| *block != [0; BLOCK][..block.len()]);
    content.truncate(blocks.map_or(0, |last| (last + 1) * BLOCK));
    content
}

fn files_under(directory: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { files.extend(files_under(&path)) } else { files.push(path) }
    }
    files
}
