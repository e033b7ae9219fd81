//! The numbered terms of a block.

use std::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashTable, hash_table::Entry};

/// Terms by number, from 0 in the order of arrival.
#[derive(Clone, Debug, Default)]
pub(super) struct Dictionary {
    /// All terms, concatenated.
    text: String,
    /// The end of each term.
    ends: Vec<u32>,
    numbers: HashTable<u32>,
    /// Seeded randomly for each dictionary, so that nobody can choose words that collide.
    hasher: DefaultHashBuilder,
}

impl Dictionary {
    /// Creates a dictionary from concatenated terms and their ends; `None` if an end is invalid.
    pub(super) fn of(text: String, ends: Vec<u32>) -> Option<Self> {
        let mut before = 0;
        for &end in &ends {
            (before <= end && text.is_char_boundary(end as usize)).then_some(())?;
            before = end;
        }
        (before as usize == text.len()).then_some(())?;
        let mut dictionary = Self { text, ends, ..Self::default() };
        let Self { text, ends, numbers, hasher } = &mut dictionary;
        let hash = |&number: &u32| hasher.hash_one(term(text, ends, number));
        numbers.reserve(ends.len(), hash);
        for number in 0..ends.len() as u32 {
            numbers.insert_unique(hash(&number), number, hash);
        }
        Some(dictionary)
    }

    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    pub(super) fn ends(&self) -> &[u32] {
        &self.ends
    }

    /// The number of a term, if present.
    pub(super) fn find(&self, wanted: &str) -> Option<u32> {
        self.numbers.find(self.hasher.hash_one(wanted), |&number| self.get(number) == wanted).copied()
    }

    /// The number of a term, adding the term if necessary.
    pub(super) fn intern(&mut self, wanted: &str) -> u32 {
        let Self { text, ends, numbers, hasher } = self;
        let same = |&number: &u32| term(text, ends, number) == wanted;
        let hash = |&number: &u32| hasher.hash_one(term(text, ends, number));
        match numbers.entry(hasher.hash_one(wanted), same, hash) {
            Entry::Occupied(known) => *known.get(),
            Entry::Vacant(room) => {
                let number = ends.len() as u32;
                room.insert(number);
                grow(ends);
                text.push_str(wanted);
                ends.push(text.len() as u32);
                number
            }
        }
    }

    /// The term with a number.
    pub(super) fn get(&self, number: u32) -> &str {
        term(&self.text, &self.ends, number)
    }

    /// The number of the term that covers byte `at` of the concatenated terms.
    pub(super) fn at(&self, at: usize) -> u32 {
        self.ends.partition_point(|&end| end as usize <= at) as u32
    }

    /// Releases spare capacity once nothing more is added.
    pub(super) fn shrink(&mut self) {
        self.text.shrink_to_fit();
        self.ends.shrink_to_fit();
    }

    pub(super) fn heap_bytes(&self) -> usize {
        self.text.capacity() + self.ends.capacity() * 4 + self.numbers.allocation_size()
    }
}

fn term<'a>(text: &'a str, ends: &[u32], number: u32) -> &'a str {
    let start = number.checked_sub(1).map_or(0, |before| ends[before as usize]);
    &text[start as usize..ends[number as usize] as usize]
}

/// Reserves room for one more item, growing by a quarter instead of doubling.
pub(super) fn grow<T>(list: &mut Vec<T>) {
    if list.len() == list.capacity() {
        list.reserve_exact(list.len() / 4 + 64);
    }
}
