//! Pairs, ranges and batches.

use std::{
    collections::BTreeMap,
    ops::Bound::{self, Excluded, Included, Unbounded},
    thread,
};

use proptest::{collection::vec, prelude::*};

use super::store::*;
use crate::durable::{
    disk::generations::Engine,
    fjall::FjallEngine,
    key_value::{Durability, Key, KeyValue as _, MAX_KEY_BYTES, Value},
    sled::SledEngine,
};

on_each_engine! {
    a_range_from_above_its_end_is_empty
    a_range_is_read_from_both_ends
    what_is_read_later_is_not_older
    an_empty_value_is_not_a_missing_one
    large_values_and_long_keys_come_back
    behaves_like_a_map
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

/// A reader that has seen one pair of a batch then sees the others, by key or in a range.
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
                let batch = keys.iter().map(write).collect();
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

#[derive(Clone, Debug)]
enum Step {
    /// Values are given by their length: see [`noise`].
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
            store.get().apply(writes, durability).unwrap();
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
