//! What every engine has to do, tested on each.

use std::{
    collections::BTreeMap,
    fs,
    ops::Bound::{self, Excluded, Included, Unbounded},
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, Ordering},
    thread,
};

use proptest::{collection::vec, prelude::*};
use tempfile::TempDir;

use super::{
    fjall::FjallEngine,
    generations::{Engine, Generations},
    key_value::{Batch, Durability, Key, KeyValue as _, KeyValueError, MAX_KEY_BYTES, Value},
    sled::SledEngine,
};

on_each_engine! {
    keys_are_ordered_by_their_bytes
    bounds_are_kept_in_both_directions
    a_range_from_above_its_end_is_empty
    a_range_is_read_from_both_ends
    a_batch_writes_and_removes_together
    what_is_read_later_is_not_older
    an_empty_value_is_not_a_missing_one
    large_values_and_long_keys_come_back
    what_was_applied_is_there_after_reopening
    many_pairs_survive_reopening_and_scrubbing
    a_scrub_leaves_no_byte_of_what_was_removed
    a_scrub_waits_for_the_ranges_before_it
    reads_go_on_during_a_scrub
    writes_go_on_during_a_scrub
    files_take_less_than_a_megabyte_when_nothing_is_stored
    a_damaged_file_is_an_error_or_opens
    behaves_like_a_map
}

fn keys_are_ordered_by_their_bytes<E: Engine>() {
    let store = Store::<E>::new();
    let keys: [&[u8]; 7] = [b"\x00", b"\x00\x00", b"\x00\xff", b"a", b"aa", b"b", b"\xff\xff"];
    for key in keys.iter().rev() {
        store.put(key, b"value");
    }
    assert_eq!(store.keys(Unbounded, Unbounded), keys);
}

type Within<'a> = (Bound<&'a [u8]>, Bound<&'a [u8]>);

fn bounds_are_kept_in_both_directions<E: Engine>() {
    let store = Store::<E>::new();
    for key in [b"a", b"b", b"c", b"d"] {
        store.put(key, key);
    }
    let ranges: [(Within<'_>, &[&[u8]]); 6] = [
        ((Included(b"b"), Included(b"c")), &[b"b", b"c"]),
        ((Excluded(b"b"), Included(b"c")), &[b"c"]),
        ((Included(b"b"), Excluded(b"c")), &[b"b"]),
        ((Unbounded, Excluded(b"b")), &[b"a"]),
        ((Excluded(b"c"), Unbounded), &[b"d"]),
        ((Included(b"bb"), Included(b"cc")), &[b"c"]),
    ];
    for ((from, to), expected) in ranges {
        assert_eq!(store.keys(from, to), expected);
        let mut backwards = all(store.get().range(from, to).rev());
        backwards.reverse();
        assert_eq!(backwards, all(store.get().range(from, to)));
    }
}

fn a_range_from_above_its_end_is_empty<E: Engine>() {
    let store = Store::<E>::new();
    store.put(b"b", b"");
    for (from, to) in [
        (Included(&b"c"[..]), Included(&b"a"[..])),
        (Included(b"b"), Excluded(b"b")),
        (Excluded(b"b"), Included(b"b")),
        (Excluded(b"b"), Excluded(b"b")),
        (Excluded(b"c"), Excluded(b"a")),
    ] {
        assert_eq!(store.keys(from, to), [b""; 0]);
    }
}

fn a_range_is_read_from_both_ends<E: Engine>() {
    let store = Store::<E>::new();
    for key in 0..100_u8 {
        store.put(&[key], &[key]);
    }
    let mut range = store.get().range(Unbounded, Unbounded);
    for low in 0..50 {
        assert_eq!(range.next(), Some(Ok((vec![low], vec![low]))));
        assert_eq!(range.next_back(), Some(Ok((vec![99 - low], vec![99 - low]))));
    }
    assert_eq!((range.next(), range.next_back()), (None, None));
}

fn a_batch_writes_and_removes_together<E: Engine>() {
    let store = Store::<E>::new();
    store.apply([(&b"gone"[..], Some(&b"1"[..])), (b"over", Some(b"old")), (b"kept", Some(b"2"))]);
    store.apply([(&b"gone"[..], None), (b"over", Some(&b"new"[..])), (b"never", None)]);
    let expected = [(b"kept".to_vec(), b"2".to_vec()), (b"over".to_vec(), b"new".to_vec())];
    assert_eq!(store.pairs(), expected);
    assert_eq!(store.get().get(b"gone"), Ok(None));
    assert_eq!(store.get().get(b"over"), Ok(Some(b"new".to_vec())));
}

/// Whoever sees one pair of a batch sees the others after that, by their keys or in a range.
fn what_is_read_later_is_not_older<E: Engine>() {
    const ROUNDS: u32 = 2_000;
    let store = Store::<E>::new();
    let number =
        |value: Option<Value>| value.map_or(0, |value| u32::from_be_bytes(value.try_into().unwrap()));
    let keys: Vec<Key> = (0..20u8).map(|key| vec![key]).collect();
    thread::scope(|scope| {
        scope.spawn(|| {
            for round in 1..=ROUNDS {
                let write = |key: &Key| (key.clone(), Some(round.to_be_bytes().to_vec()));
                let batch = Batch { writes: keys.iter().map(write).collect() };
                store.get().apply(batch, Durability::Process).unwrap();
            }
        });
        let mut seen = 0;
        while seen < ROUNDS {
            for key in &keys {
                let here = number(store.get().get(key).unwrap());
                let range = store.get().range(Unbounded, Unbounded);
                let all: Vec<u32> = range.map(|pair| number(Some(pair.unwrap().1))).collect();
                assert!(here >= seen && all.iter().all(|other| *other >= here), "{here} of {all:?}");
                seen = all.into_iter().max().unwrap_or(here);
            }
        }
    });
}

fn an_empty_value_is_not_a_missing_one<E: Engine>() {
    let mut store = Store::<E>::new();
    store.put(b"empty", b"");
    store.reopen();
    store.get().scrub().unwrap();
    assert_eq!(store.get().get(b"empty"), Ok(Some(Vec::new())));
    assert_eq!(store.get().get(b"missing"), Ok(None));
}

fn large_values_and_long_keys_come_back<E: Engine>() {
    let mut store = Store::<E>::new();
    let pairs: Vec<(Key, Value)> = [2 << 20, 16 << 20]
        .into_iter()
        .map(|bytes| (vec![b'k'; 300], noise(bytes)))
        .chain([(vec![b'm'; MAX_KEY_BYTES], noise(10))])
        .collect();
    for (index, (key, value)) in pairs.iter().enumerate() {
        store.put(&[&[index as u8], &key[1..]].concat(), value);
    }
    let expected: Vec<_> = pairs
        .iter()
        .enumerate()
        .map(|(at, (key, value))| ([&[at as u8], &key[1..]].concat(), value.clone()))
        .collect();
    assert!(store.pairs() == expected);
    store.reopen();
    assert!(store.pairs() == expected);
    store.get().scrub().unwrap();
    store.reopen();
    assert!(store.pairs() == expected);
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
        store.get().apply(Batch { writes: writes.to_vec() }, Durability::Process).unwrap();
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

/// Damage is refused, found when it is read, or cuts off the newest writes; it is no panic.
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

        if let Ok(opened) = Generations::<E>::open(store.directory.path(), CACHE) {
            let _read = opened.range(Unbounded, Unbounded).count();
            let _read = opened.get(&[7]);
        }
    }
}

#[derive(Clone, Debug)]
enum Step {
    /// Values by their length: see [`noise`].
    Apply(BTreeMap<Key, Option<usize>>, Durability),
    Read(Key),
    Range(Bound<Key>, Bound<Key>),
    Reopen,
    Scrub,
}

fn behaves_like_a_map<E: Engine>() {
    let config = ProptestConfig { cases: 12, failure_persistence: None, ..ProptestConfig::default() };
    proptest!(config, |(steps in vec(step(), 1..30))| {
        let mut store = Store::<E>::new();
        let mut map = BTreeMap::new();
        for step in steps {
            take(step, &mut store, &mut map);
            prop_assert!(store.pairs().into_iter().eq(map.clone()));
        }
    });
}

fn take<E: Engine>(step: Step, store: &mut Store<E>, map: &mut BTreeMap<Key, Value>) {
    match step {
        Step::Apply(writes, durability) => {
            let writes: Vec<_> = writes.into_iter().map(|(key, bytes)| (key, bytes.map(noise))).collect();
            for (key, value) in &writes {
                match value {
                    Some(value) => map.insert(key.clone(), value.clone()),
                    None => map.remove(key),
                };
            }
            store.get().apply(Batch { writes }, durability).unwrap();
        }
        Step::Read(key) => assert_eq!(store.get().get(&key).unwrap().as_ref(), map.get(&key)),
        Step::Range(from, to) => {
            let within = (from.as_ref().map(Vec::as_slice), to.as_ref().map(Vec::as_slice));
            let expected: Vec<_> = map
                .iter()
                .filter(|(key, _)| std::ops::RangeBounds::<[u8]>::contains(&within, key.as_slice()))
                .map(|(key, value)| (key.clone(), value.clone()))
                .collect();
            assert_eq!(all(store.get().range(within.0, within.1)), expected);
            let backwards: Vec<_> = expected.into_iter().rev().collect();
            assert_eq!(all(store.get().range(within.0, within.1).rev()), backwards);
        }
        Step::Reopen => store.reopen(),
        Step::Scrub => store.get().scrub().unwrap(),
    }
}

fn step() -> impl Strategy<Value = Step> {
    let durability = prop_oneof![Just(Durability::Process), Just(Durability::Disk)];
    let writes = proptest::collection::btree_map(key(), proptest::option::weighted(0.7, value()), 0..12);
    let bound = || prop_oneof![Just(Unbounded), key().prop_map(Included), key().prop_map(Excluded)];
    prop_oneof![
        6 => (writes, durability).prop_map(|(writes, durability)| Step::Apply(writes, durability)),
        2 => key().prop_map(Step::Read),
        4 => (bound(), bound()).prop_map(|(from, to)| Step::Range(from, to)),
        1 => Just(Step::Reopen),
        1 => Just(Step::Scrub),
    ]
}

fn key() -> impl Strategy<Value = Key> {
    prop_oneof![vec(0..3_u8, 1..4), vec(any::<u8>(), 1..3), vec(Just(b'k'), 300)]
}

fn value() -> impl Strategy<Value = usize> {
    prop_oneof![4 => 0..40_usize, 1 => 0..300_000_usize]
}

const CACHE: u64 = 8 << 20;

/// A store in a directory of its own, durable on the disk.
struct Store<E: Engine> {
    opened: Option<Generations<E>>,
    directory: TempDir,
}

impl<E: Engine> Store<E> {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        Self { opened: Some(Generations::open(directory.path(), CACHE).unwrap()), directory }
    }

    fn get(&self) -> &Generations<E> {
        self.opened.as_ref().unwrap()
    }

    fn close(&mut self) {
        self.opened = None;
    }

    fn reopen(&mut self) {
        self.close();
        self.opened = Some(Generations::open(self.directory.path(), CACHE).unwrap());
    }

    fn put(&self, key: &[u8], value: &[u8]) {
        self.apply([(key, Some(value))]);
    }

    fn apply<'a>(&self, writes: impl IntoIterator<Item = (&'a [u8], Option<&'a [u8]>)>) {
        self.write(writes, Durability::Disk);
    }

    fn write<'a>(
        &self,
        writes: impl IntoIterator<Item = (&'a [u8], Option<&'a [u8]>)>,
        durability: Durability,
    ) {
        let writes =
            writes.into_iter().map(|(key, value)| (key.to_vec(), value.map(<[u8]>::to_vec))).collect();
        self.get().apply(Batch { writes }, durability).unwrap();
    }

    fn pairs(&self) -> Vec<(Key, Value)> {
        all(self.get().range(Unbounded, Unbounded))
    }

    fn keys(&self, from: Bound<&[u8]>, to: Bound<&[u8]>) -> Vec<Key> {
        all(self.get().range(from, to)).into_iter().map(|(key, _)| key).collect()
    }

    fn file(&self, name: &str) -> Vec<u8> {
        fs::read(self.directory.path().join(name)).unwrap()
    }
}

fn all(pairs: impl Iterator<Item = Result<(Key, Value), KeyValueError>>) -> Vec<(Key, Value)> {
    pairs.map(Result::unwrap).collect()
}

/// Bytes that do not compress, the same each time for one length.
fn noise(bytes: usize) -> Value {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64 + bytes as u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 32) as u8
    };
    (0..bytes).map(|_| next()).collect()
}

/// Whether a text is in a file below `directory`, or in a file's name.
fn contains(directory: &Path, text: &[u8]) -> bool {
    files_under(directory).iter().any(|path| {
        let content = written(path);
        let name = path.as_os_str().as_encoded_bytes();
        [&content, name].iter().any(|bytes| bytes.windows(text.len()).any(|at| at == text))
    })
}

fn largest_content(directory: &Path) -> PathBuf {
    use std::os::unix::fs::MetadataExt as _;
    files_under(directory).into_iter().max_by_key(|path| fs::metadata(path).unwrap().blocks()).unwrap()
}

/// A file's content up to the zeros with which fjall fills its journal in advance.
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
        match path.is_dir() {
            true => files.extend(files_under(&path)),
            false => files.push(path),
        }
    }
    files
}
