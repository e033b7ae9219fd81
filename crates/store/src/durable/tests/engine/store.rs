//! A store that tests open, close and read.

use std::{
    fs,
    ops::Bound::{self, Unbounded},
};

use tempfile::TempDir;

use crate::durable::{
    disk::generations::{Engine, Generations},
    key_value::{Durability, Key, KeyValue as _, KeyValueError, Value},
};

/// A store in its own directory, synced to disk.
pub(super) struct Store<E: Engine> {
    opened: Option<Generations<E>>,
    pub(super) directory: TempDir,
}

impl<E: Engine> Store<E> {
    pub(super) fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        Self { opened: Some(Generations::open(directory.path()).unwrap()), directory }
    }

    pub(super) fn get(&self) -> &Generations<E> {
        self.opened.as_ref().unwrap()
    }

    pub(super) fn close(&mut self) {
        self.opened = None;
    }

    pub(super) fn reopen(&mut self) {
        self.close();
        self.opened = Some(Generations::open(self.directory.path()).unwrap());
    }

    pub(super) fn put(&self, key: &[u8], value: &[u8]) {
        self.apply([(key, Some(value))]);
    }

    pub(super) fn apply<'a>(&self, writes: impl IntoIterator<Item = (&'a [u8], Option<&'a [u8]>)>) {
        self.write(writes, Durability::Disk);
    }

    pub(super) fn write<'a>(
        &self,
        writes: impl IntoIterator<Item = (&'a [u8], Option<&'a [u8]>)>,
        durability: Durability,
    ) {
        let writes =
            writes.into_iter().map(|(key, value)| (key.to_vec(), value.map(<[u8]>::to_vec))).collect();
        self.get().apply(writes, durability).unwrap();
    }

    pub(super) fn pairs(&self) -> Vec<(Key, Value)> {
        all(self.get().range(Unbounded, Unbounded))
    }

    pub(super) fn keys(&self, from: Bound<&[u8]>, to: Bound<&[u8]>) -> Vec<Key> {
        all(self.get().range(from, to)).into_iter().map(|(key, _)| key).collect()
    }

    pub(super) fn file(&self, name: &str) -> Vec<u8> {
        fs::read(self.directory.path().join(name)).unwrap()
    }
}

pub(super) fn all(pairs: impl Iterator<Item = Result<(Key, Value), KeyValueError>>) -> Vec<(Key, Value)> {
    pairs.map(Result::unwrap).collect()
}

/// Incompressible bytes, always the same for a given length.
pub(super) fn noise(bytes: usize) -> Value {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64 + bytes as u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 32) as u8
    };
    (0..bytes).map(|_| next()).collect()
}
