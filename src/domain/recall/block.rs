//! A part of an index: the utterances of one block of sequences.

use std::ops::Range;

use super::{
    dictionary::{Dictionary, grow},
    languages::{Language, Languages},
    said::Said,
    terms::{Reader, StopWords},
};
use crate::domain::{Role, limits::BLOCK_SEQUENCES};

/// A longer utterance is ranked by the best of its passages, each of about so many terms.
pub(super) const PASSAGE_TERMS: usize = 60;
/// Passages of one utterance; of a longer one they are longer. So a block has no more than 2^16.
const MAX_PASSAGES: usize = 64;
/// An utterance of so few terms can be found by its stop words too.
const FEW_TERMS: usize = 3;

/// The utterances of a stretch of sequences, and which terms they have.
///
/// It holds no text, only terms. Utterances are numbered in the order of their sequences, and so are their passages.
#[derive(Clone, Debug, Default)]
pub struct IndexBlock {
    /// Which sequences it has: see [`crate::domain::Block`].
    pub(super) number: u64,
    pub(super) dictionary: Dictionary,
    pub(super) documents: Vec<Document>,
    pub(super) passages: Vec<Passage>,
    pub(super) postings: Postings,
    pub(super) names: Vec<Box<str>>,
    pub(super) languages: Languages,
    /// The terms of all its passages, repetitions included.
    pub(super) length: u64,
}

/// An utterance of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Document {
    /// Its sequence, from the block's first.
    pub offset: u16,
    /// Its terms, repetitions included.
    pub length: u16,
    /// The place of its first passage.
    pub first: u16,
    /// The place of its speaker's name among the block's, from 1; 0 for none.
    pub name: u8,
    pub traits: u8,
    /// Minutes since 1970.
    pub minute: u32,
}

/// A passage of an utterance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Passage {
    /// The place of its utterance.
    pub document: u16,
    /// Its terms, repetitions included.
    pub length: u16,
}

/// Which passages have which terms.
#[derive(Clone, Debug)]
pub(super) enum Postings {
    /// While utterances are added: by passage.
    Open {
        /// By passage: where its terms end.
        ends: Vec<u32>,
        terms: Vec<u32>,
        counts: Vec<u8>,
    },
    /// Of a whole block: by term.
    Closed {
        /// By term: where its passages end.
        ends: Vec<u32>,
        passages: Vec<u16>,
        counts: Vec<u8>,
    },
}

/// How often a passage has a term.
#[derive(Clone, Copy, Debug)]
pub(super) struct Posting {
    pub passage: u16,
    pub count: u8,
}

impl Default for Postings {
    fn default() -> Self {
        Self::Open { ends: Vec::new(), terms: Vec::new(), counts: Vec::new() }
    }
}

const QUESTION: u8 = 4;

impl Document {
    pub(super) fn role(&self) -> Role {
        Role::ALL[usize::from(self.traits & 3)]
    }

    /// Whether it ends as a question does.
    pub(super) fn is_question(&self) -> bool {
        self.traits & QUESTION != 0
    }
}

impl IndexBlock {
    pub(super) fn new(number: u64) -> Self {
        Self { number, ..Self::default() }
    }

    pub(super) fn sequence(&self, document: usize) -> u64 {
        self.number * BLOCK_SEQUENCES + u64::from(self.documents[document].offset)
    }

    /// The utterance that a passage with a term is of.
    pub(super) fn document_of(&self, posting: Posting) -> u16 {
        self.passages[usize::from(posting.passage)].document
    }

    /// The passages of an utterance.
    pub(super) fn passages_of(&self, document: usize) -> Range<usize> {
        let first = usize::from(self.documents[document].first);
        let next =
            self.documents.get(document + 1).map_or(self.passages.len(), |next| usize::from(next.first));
        first..next
    }

    /// The name of an utterance's speaker.
    pub(super) fn name_of(&self, document: &Document) -> Option<&str> {
        self.names.get(usize::from(document.name).checked_sub(1)?).map(|name| &**name)
    }

    /// Adds an utterance behind the others; answers its language.
    pub(super) fn add(&mut self, reader: &mut Reader, said: &Said<'_>, before: Language) -> Language {
        let mut terms = Vec::with_capacity(PASSAGE_TERMS);
        let mut language = before;
        for text in said.texts() {
            language = reader.read(text, language);
            reader.each_term(text, language, StopWords::Skip, |term| {
                terms.push(self.dictionary.intern(term.text));
            });
        }
        self.languages.insert(language);
        let length = terms.len();
        if length <= FEW_TERMS {
            terms.clear();
            reader.read(said.content, language);
            reader.each_term(said.content, language, StopWords::Keep, |term| {
                terms.push(self.dictionary.intern(term.text));
            });
        }
        self.add_document(said, length);
        self.add_passages(&mut terms, length);
        language
    }

    fn add_document(&mut self, said: &Said<'_>, length: usize) {
        let question = if said.is_question() { QUESTION } else { 0 };
        let document = Document {
            offset: (said.sequence % BLOCK_SEQUENCES) as u16,
            length: u16::try_from(length).unwrap_or(u16::MAX),
            first: self.passages.len() as u16,
            name: self.name(said.name),
            traits: said.role as u8 | question,
            minute: said.minute,
        };
        grow(&mut self.documents);
        self.documents.push(document);
    }

    /// The place of a name. Of more speakers than it can tell apart, the others have none.
    fn name(&mut self, name: &str) -> u8 {
        if name.is_empty() {
            return 0;
        }
        let known = self.names.iter().position(|known| **known == *name);
        let place = known.or_else(|| {
            (self.names.len() < usize::from(u8::MAX)).then(|| {
                self.names.push(name.into());
                self.names.len() - 1
            })
        });
        place.map_or(0, |place| place as u8 + 1)
    }

    /// Adds the passages of the utterance that was added last, in equal parts.
    fn add_passages(&mut self, terms: &mut [u32], length: usize) {
        let passages = terms.len().div_ceil(PASSAGE_TERMS).clamp(1, MAX_PASSAGES);
        let each = terms.len().div_ceil(passages).max(1);
        let document = (self.documents.len() - 1) as u16;
        if terms.is_empty() {
            return self.add_passage(document, &mut [], 0);
        }
        for part in terms.chunks_mut(each) {
            let length = part.len().min(length);
            self.add_passage(document, part, length);
        }
    }

    fn add_passage(&mut self, document: u16, part: &mut [u32], length: usize) {
        grow(&mut self.passages);
        self.passages.push(Passage { document, length: u16::try_from(length).unwrap_or(u16::MAX) });
        self.length += length as u64;
        part.sort_unstable();
        let Postings::Open { ends, terms, counts } = &mut self.postings else { return };
        for same in part.chunk_by(|one, other| one == other) {
            grow(terms);
            terms.push(same[0]);
            grow(counts);
            counts.push(u8::try_from(same.len()).unwrap_or(u8::MAX));
        }
        grow(ends);
        ends.push(terms.len() as u32);
    }

    /// Whether utterances are added to it.
    pub(super) fn is_open(&self) -> bool {
        matches!(self.postings, Postings::Open { .. })
    }

    /// Orders its postings by term: nothing is added to it any more.
    pub(super) fn close(&mut self) {
        let Postings::Open { ends, terms, counts } = &self.postings else { return };
        let mut starts = vec![0_u32; self.dictionary.len() + 1];
        terms.iter().for_each(|&term| starts[term as usize + 1] += 1);
        for place in 1..starts.len() {
            starts[place] += starts[place - 1];
        }
        let mut by_term = (vec![0_u16; terms.len()], vec![0_u8; terms.len()]);
        let mut from = 0;
        for (passage, &end) in ends.iter().enumerate() {
            for at in from..end as usize {
                let next = &mut starts[terms[at] as usize];
                by_term.0[*next as usize] = passage as u16;
                by_term.1[*next as usize] = counts[at];
                *next += 1;
            }
            from = end as usize;
        }
        starts.pop();
        self.postings = Postings::Closed { ends: starts, passages: by_term.0, counts: by_term.1 };
        self.dictionary.shrink();
        self.documents.shrink_to_fit();
        self.passages.shrink_to_fit();
    }

    /// Orders its postings by passage again, so that utterances can be added.
    pub(super) fn open(&mut self) {
        let Postings::Closed { ends, passages, counts } = &self.postings else { return };
        let mut starts = vec![0_u32; self.passages.len() + 1];
        passages.iter().for_each(|&passage| starts[usize::from(passage) + 1] += 1);
        for place in 1..starts.len() {
            starts[place] += starts[place - 1];
        }
        let mut by_passage = (vec![0_u32; passages.len()], vec![0_u8; passages.len()]);
        let mut from = 0;
        for (term, &end) in ends.iter().enumerate() {
            for at in from..end as usize {
                let next = &mut starts[usize::from(passages[at])];
                by_passage.0[*next as usize] = term as u32;
                by_passage.1[*next as usize] = counts[at];
                *next += 1;
            }
            from = end as usize;
        }
        starts.pop();
        self.postings = Postings::Open { ends: starts, terms: by_passage.0, counts: by_passage.1 };
    }

    /// The postings of some terms, ascending by passage: calls `found` with the place of each among `wanted`.
    pub(super) fn each_posting(&self, wanted: &[u32], mut found: impl FnMut(usize, Posting)) {
        if wanted.is_empty() {
            return;
        }
        match &self.postings {
            Postings::Closed { ends, passages, counts } => {
                for (place, &term) in wanted.iter().enumerate() {
                    let start = (term as usize).checked_sub(1).map_or(0, |before| ends[before] as usize);
                    for at in start..ends[term as usize] as usize {
                        found(place, Posting { passage: passages[at], count: counts[at] });
                    }
                }
            }
            Postings::Open { ends, terms, counts } => {
                let mut places = vec![u16::MAX; self.dictionary.len()];
                for (place, &term) in wanted.iter().enumerate().take(usize::from(u16::MAX)) {
                    places[term as usize] = place as u16;
                }
                let mut from = 0;
                for (passage, &end) in ends.iter().enumerate() {
                    for at in from..end as usize {
                        let place = places[terms[at] as usize];
                        if place != u16::MAX {
                            found(usize::from(place), Posting { passage: passage as u16, count: counts[at] });
                        }
                    }
                    from = end as usize;
                }
            }
        }
    }

    pub(super) fn heap_bytes(&self) -> usize {
        let postings = match &self.postings {
            Postings::Open { ends, terms, counts } => {
                ends.capacity() * 4 + terms.capacity() * 4 + counts.capacity()
            }
            Postings::Closed { ends, passages, counts } => {
                ends.capacity() * 4 + passages.capacity() * 2 + counts.capacity()
            }
        };
        let names: usize = self.names.iter().map(|name| name.len() + 32).sum();
        postings
            + self.dictionary.heap_bytes()
            + self.documents.capacity() * size_of::<Document>()
            + self.passages.capacity() * size_of::<Passage>()
            + names
            + size_of::<Self>()
    }
}
