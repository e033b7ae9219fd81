//! What the utterances of one conversation can be found by.

use std::collections::{BTreeSet, HashMap};

use smallvec::SmallVec;

use super::terms::Reader;

/// An inverted index over the utterances of one conversation.
///
/// It holds no text, only terms and which utterances have them. What an utterance was made of
/// leaves the index with it.
#[derive(Clone, Debug, Default)]
pub struct Index {
    sequences: BTreeSet<u64>,
    /// By slot: utterances have slots in the order in which they were added.
    documents: Vec<Document>,
    /// Each term's place in `postings`.
    terms: HashMap<Box<str>, u32>,
    postings: Vec<PostingList>,
    total_length: u64,
    term_bytes: usize,
}

/// One utterance of an index.
#[derive(Clone, Copy, Debug)]
pub(super) struct Document {
    pub(super) sequence: u64,
    /// Its terms, repetitions included.
    pub(super) length: u32,
}

/// How often one utterance has one term.
#[derive(Clone, Copy, Debug)]
pub(super) struct Posting {
    pub(super) slot: u32,
    pub(super) frequency: u32,
}

/// Ascending by slot. Most terms stand in one or two utterances: these need no allocation.
type PostingList = SmallVec<[Posting; 2]>;

impl Index {
    /// An index of no utterance.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds an utterance, as [`extend`](Self::extend) does.
    pub fn add(&mut self, sequence: u64, text: &str) {
        self.read(&mut Reader::new(), sequence, text);
    }

    /// Adds utterances: the sequence of each, and its text.
    ///
    /// - They may come in any order.
    /// - A sequence that is there already is replaced, at the cost of [`retain`](Self::retain).
    /// - A text without any term counts as an utterance and is never found.
    /// - It costs less for each utterance than [`add`](Self::add).
    pub fn extend<'a>(&mut self, utterances: impl IntoIterator<Item = (u64, &'a str)>) {
        let mut reader = Reader::for_many();
        for (sequence, text) in utterances {
            self.read(&mut reader, sequence, text);
        }
    }

    /// Removes an utterance and each term that no other utterance has, if it is there.
    ///
    /// It costs as much as [`retain`](Self::retain), which removes many at once.
    pub fn remove(&mut self, sequence: u64) {
        if self.sequences.contains(&sequence) {
            self.retain(|other| other != sequence);
        }
    }

    /// Keeps the utterances whose sequence `keep` accepts, and removes the others as
    /// [`remove`](Self::remove) does, in one pass over the index.
    pub fn retain(&mut self, keep: impl Fn(u64) -> bool) {
        let before = self.documents.len();
        let slots = renumber(self.documents.iter().map(|document| keep(document.sequence)));
        let mut places = slots.iter();
        self.documents.retain(|_| places.next().is_some_and(Option::is_some));
        if self.documents.len() == before {
            return;
        }
        self.sequences = self.documents.iter().map(|document| document.sequence).collect();
        self.total_length = self.documents.iter().map(|document| u64::from(document.length)).sum();
        for list in &mut self.postings {
            list.retain(|posting| moved(&mut posting.slot, &slots));
        }
        self.drop_unused_terms();
    }

    /// How many utterances it holds.
    pub fn len(&self) -> usize {
        self.documents.len()
    }

    /// Whether it holds no utterance.
    pub fn is_empty(&self) -> bool {
        self.documents.is_empty()
    }

    /// The newest utterance, by sequence: what comes after it is what extends the index.
    pub fn newest(&self) -> Option<u64> {
        self.sequences.last().copied()
    }

    /// About how many bytes it holds on the heap: measured, within a tenth.
    ///
    /// It takes a pass over the distinct terms.
    pub fn heap_bytes(&self) -> usize {
        let spilled = self.postings.iter().filter(|list| list.spilled());
        self.term_bytes
            + spilled.map(|list| allocation(list.capacity() * size_of::<Posting>())).sum::<usize>()
            + self.postings.capacity() * size_of::<PostingList>()
            + self.documents.capacity() * size_of::<Document>()
            // A bucket of the map has a control byte, and one in eight stays free.
            + self.terms.capacity() * 8 / 7 * (size_of::<(Box<str>, u32)>() + 1)
            // Nodes of a set that grows at its end are half full.
            + self.sequences.len() * 2 * size_of::<u64>()
    }

    /// The postings of a term; none for a term that no utterance has.
    pub(super) fn postings(&self, term: &str) -> &[Posting] {
        self.terms.get(term).map_or(&[], |&place| &self.postings[place as usize])
    }

    pub(super) fn document(&self, slot: u32) -> Document {
        self.documents[slot as usize]
    }

    pub(super) fn total_length(&self) -> u64 {
        self.total_length
    }

    fn read(&mut self, reader: &mut Reader, sequence: u64, text: &str) {
        self.remove(sequence);
        self.sequences.insert(sequence);
        // 2^32 utterances do not fit into memory.
        let slot = self.documents.len() as u32;
        let mut length = 0;
        reader.each_term(text, |term, _, _| {
            self.count(term, slot);
            length += 1;
        });
        self.documents.push(Document { sequence, length });
        self.total_length += u64::from(length);
    }

    fn count(&mut self, term: &str, slot: u32) {
        let place = match self.terms.get(term) {
            Some(&place) => place,
            None => self.intern(term),
        };
        let list = &mut self.postings[place as usize];
        match list.last_mut() {
            Some(last) if last.slot == slot => last.frequency += 1,
            _ => list.push(Posting { slot, frequency: 1 }),
        }
    }

    fn intern(&mut self, term: &str) -> u32 {
        let place = self.postings.len() as u32;
        self.terms.insert(term.into(), place);
        self.postings.push(PostingList::new());
        self.term_bytes += allocation(term.len());
        place
    }

    fn drop_unused_terms(&mut self) {
        let places = renumber(self.postings.iter().map(|list| !list.is_empty()));
        self.postings.retain(|list| !list.is_empty());
        self.terms.retain(|_, place| moved(place, &places));
        self.term_bytes = self.terms.keys().map(|term| allocation(term.len())).sum();
    }
}

/// The new number of each element when those that are not kept leave.
fn renumber(kept: impl Iterator<Item = bool>) -> Vec<Option<u32>> {
    let mut next = 0..;
    kept.map(|kept| if kept { next.next() } else { None }).collect()
}

/// Gives a number its new value, and says whether it has one.
fn moved(number: &mut u32, renumbered: &[Option<u32>]) -> bool {
    let new = renumbered[*number as usize];
    *number = new.unwrap_or(*number);
    new.is_some()
}

/// What a block of this size takes from an allocator that keeps 8 bytes beside it and rounds up to
/// 16.
fn allocation(bytes: usize) -> usize {
    (bytes + 8).next_multiple_of(16).max(32)
}
