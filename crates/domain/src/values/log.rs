//! A persistent list that is appended to at one end and cut at the other.
//!
//! Clones share every chunk. An append writes the next slot of the last chunk, which no clone looks at, so
//! that nothing is copied; if two clones append to one chunk, the second gets its own copy of it.

use std::sync::{Arc, OnceLock};

use imbl::Vector;

/// Slots per chunk. Members that were cut off stay in memory until their whole chunk is cut off.
const CHUNK: usize = 32;

/// The list. The cost of every operation except [`Log::collect`](FromIterator) is constant, or logarithmic in
/// the length.
#[derive(Clone, Debug)]
pub struct Log<T> {
    chunks: Vector<Arc<Chunk<T>>>,
    /// Slots before the first member, less than a chunk.
    start: usize,
    length: usize,
}

#[derive(Debug)]
struct Chunk<T>([OnceLock<T>; CHUNK]);

impl<T> Default for Log<T> {
    fn default() -> Self {
        Self { chunks: Vector::new(), start: 0, length: 0 }
    }
}

impl<T: Clone> Log<T> {
    /// The number of members.
    pub fn len(&self) -> usize {
        self.length
    }

    /// The member at a place, counted from 0.
    pub fn get(&self, place: usize) -> Option<&T> {
        if place >= self.length {
            return None;
        }
        let slot = self.start + place;
        self.chunks.get(slot / CHUNK)?.0[slot % CHUNK].get()
    }

    /// The members at the places `range`, counted from 0; places beyond the end are skipped.
    pub fn slice(
        &self,
        range: std::ops::Range<usize>,
    ) -> impl DoubleEndedIterator<Item = &T> + ExactSizeIterator {
        let end = range.end.min(self.length);
        (range.start.min(end)..end).map(|place| &self[place])
    }

    /// Adds a member at the end.
    pub fn push(&mut self, member: T) {
        let slot = self.start + self.length;
        self.length += 1;
        let Some(chunk) = self.chunks.get(slot / CHUNK) else {
            self.chunks.push_back(Arc::new(Chunk::of([member])));
            return;
        };
        if let Err(member) = chunk.0[slot % CHUNK].set(member) {
            let shared = chunk.0[..slot % CHUNK].iter().filter_map(OnceLock::get).cloned();
            let own = Arc::new(Chunk::of(shared.chain([member])));
            self.chunks.set(slot / CHUNK, own);
        }
    }

    /// Replaces the member at an existing place; returns the old one.
    pub fn set(&mut self, place: usize, member: T) -> T {
        let before = self[place].clone();
        let slot = self.start + place;
        let used = CHUNK.min(self.start + self.length - slot / CHUNK * CHUNK);
        let chunk = &self.chunks[slot / CHUNK].0[..used];
        let members = chunk.iter().filter_map(OnceLock::get).cloned().enumerate();
        let changed =
            members.map(|(index, other)| if index == slot % CHUNK { member.clone() } else { other });
        let own = Arc::new(Chunk::of(changed));
        self.chunks.set(slot / CHUNK, own);
        before
    }

    /// Removes the members after the first `length`, at the cost of its chunks. The last remaining chunk is
    /// copied, so that no removed member stays in memory.
    pub fn truncate(&mut self, length: usize) {
        if length >= self.length {
            return;
        }
        self.length = length;
        let end = self.start + length;
        while self.chunks.len() > end.div_ceil(CHUNK) {
            self.chunks.pop_back();
        }
        if let Some(last) = self.chunks.last().filter(|_| !end.is_multiple_of(CHUNK)) {
            let kept = last.0[..end % CHUNK].iter().filter_map(OnceLock::get).cloned();
            let own = Arc::new(Chunk::of(kept));
            self.chunks.set(end / CHUNK, own);
        }
    }

    /// Removes `count` members from the front.
    pub fn cut(&mut self, count: usize) {
        let count = count.min(self.length);
        self.start += count;
        self.length -= count;
        while self.start >= CHUNK {
            self.chunks.pop_front();
            self.start -= CHUNK;
        }
    }
}

impl<T> Chunk<T> {
    fn of(members: impl IntoIterator<Item = T>) -> Self {
        let mut members = members.into_iter();
        Self(std::array::from_fn(|_| members.next().map_or_else(OnceLock::new, OnceLock::from)))
    }
}

impl<T: Clone> std::ops::Index<usize> for Log<T> {
    type Output = T;

    fn index(&self, place: usize) -> &T {
        let slot = self.start + place;
        match self.chunks[slot / CHUNK].0[slot % CHUNK].get() {
            Some(member) if place < self.length => member,
            _ => panic!("place {place} of a log of {}", self.length),
        }
    }
}

impl<T: Clone> FromIterator<T> for Log<T> {
    /// Copies every member into chunks of its own.
    fn from_iter<I: IntoIterator<Item = T>>(members: I) -> Self {
        let mut log = Self::default();
        members.into_iter().for_each(|member| log.push(member));
        log
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn every_clone_behaves_like_a_list_of_its_own(steps in prop::collection::vec((0..7u8, any::<u16>(), 0..4usize), 0..200)) {
            let mut logs = vec![(Log::<u16>::default(), Vec::<u16>::new())];
            for (step, value, which) in steps {
                let which = which % logs.len();
                let (log, naive) = &mut logs[which];
                match step {
                    0..=2 => { log.push(value); naive.push(value); }
                    6 => { let length = value as usize % 80; log.truncate(length); naive.truncate(length); }
                    3 => { let count = value as usize % 40; log.cut(count); naive.drain(..count.min(naive.len())); }
                    4 if !naive.is_empty() => {
                        let place = value as usize % naive.len();
                        prop_assert_eq!(log.set(place, value), naive[place]);
                        naive[place] = value;
                    }
                    _ if logs.len() < 4 => { let copy = logs[which].clone(); logs.push(copy); }
                    _ => {}
                }
                for (log, naive) in &logs {
                    prop_assert_eq!(log.len(), naive.len());
                    prop_assert_eq!(log.slice(0..usize::MAX).copied().collect::<Vec<_>>(), naive.clone());
                    prop_assert_eq!(log.get(naive.len()), None);
                }
            }
        }
    }
}
