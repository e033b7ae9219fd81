//! A part of an index, for one block of sequences.

use std::ops::Range;

use utterd_text::{Language, Languages};

use super::{
    dictionary::{Dictionary, grow},
    postings::{Posting, Postings, Stated},
    questions::Questions,
    said::Said,
    term::Term,
    terms::{Reader, StopWords},
    vocabulary::Number,
};
use crate::{Role, limits::BLOCK_SEQUENCES};

/// The approximate length of a passage in words: a longer utterance is ranked by the best of its passages.
pub(super) const PASSAGE_WORDS: usize = 60;
/// The most passages per utterance; longer utterances get longer passages. So a block has at most 2^16.
const MAX_PASSAGES: usize = 64;
/// An utterance with at most this many terms is also indexed by its stop words.
const FEW_TERMS: usize = 3;

/// The utterances in a range of sequences, and the terms of each.
///
/// Holds terms only, no text. Utterances are numbered in sequence order, and so are their passages.
#[derive(Clone, Debug, Default)]
pub struct IndexBlock {
    /// The block's number, which determines its sequences: see [`crate::Block`].
    pub(super) number: u64,
    pub(super) dictionary: Dictionary,
    pub(super) documents: Vec<Document>,
    pub(super) passages: Vec<Passage>,
    pub(super) postings: Postings,
    pub(super) names: Vec<Box<str>>,
    pub(super) languages: Languages,
    /// The total words of all passages.
    pub(super) length: u64,
}

/// An utterance of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Document {
    /// The sequence, relative to the block's first.
    pub offset: u16,
    /// The number of words, without stop words.
    pub length: u16,
    /// The index of the first passage.
    pub first: u16,
    /// The index of the speaker's name in the block, from 1; 0 for none.
    pub name: u8,
    pub traits: u8,
    /// The time in minutes since 1970.
    pub minute: u32,
}

/// A passage of an utterance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Passage {
    /// The index of its utterance.
    pub document: u16,
    /// The number of words, without stop words.
    pub length: u16,
}

const QUESTION: u8 = 4;

impl Document {
    pub(super) fn role(&self) -> Role {
        Role::ALL[usize::from(self.traits & 3)]
    }

    /// Whether at least one of its sentences is a question.
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

    /// The utterance of a posting's passage.
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

    /// Adds an utterance after the others; returns its language.
    pub(super) fn add(&mut self, reader: &mut Reader, said: &Said<'_>, before: Language) -> Language {
        let mut terms = Vec::with_capacity(PASSAGE_WORDS);
        let (mut language, mut quarters) = (before, 0);
        let (questions, none) = (Questions::of(said.content), Questions::default());
        for text in said.texts() {
            language = reader.read(text, language);
            // Tool names and arguments are not questions.
            let questions = if std::ptr::eq(text, said.content) { &questions } else { &none };
            reader.each_term(text, language, StopWords::Skip, |term| {
                quarters += term.quarters();
                terms.push(Stated::new(self.number(&term), questions.hold(term.range.start)));
            });
        }
        self.languages.insert(language);
        let words = quarters.div_ceil(4);
        if terms.len() <= FEW_TERMS {
            terms.clear();
            reader.read(said.content, language);
            reader.each_term(said.content, language, StopWords::Keep, |term| {
                terms.push(Stated::new(self.number(&term), questions.hold(term.range.start)));
            });
        }
        self.add_document(said, words, !questions.is_empty());
        self.add_passages(&mut terms, words);
        language
    }

    /// The number of a term, adding the term if necessary.
    #[inline]
    fn number(&mut self, term: &Term<'_>) -> u32 {
        let known = term.number.and_then(Number::get);
        known.unwrap_or_else(|| {
            let number = self.dictionary.intern(term.text);
            term.number.inspect(|known| known.set(number));
            number
        })
    }

    fn add_document(&mut self, said: &Said<'_>, words: usize, is_question: bool) {
        let question = if is_question { QUESTION } else { 0 };
        let document = Document {
            offset: (said.sequence % BLOCK_SEQUENCES) as u16,
            length: u16::try_from(words).unwrap_or(u16::MAX),
            first: self.passages.len() as u16,
            name: self.name(said.name),
            traits: said.role as u8 | question,
            minute: said.minute,
        };
        grow(&mut self.documents);
        self.documents.push(document);
    }

    /// The index of a name, from 1; 0 for an empty name and for speakers beyond the first 255.
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

    /// Adds the passages of the last utterance, split into equal parts.
    fn add_passages(&mut self, terms: &mut [Stated], words: usize) {
        let passages = words.div_ceil(PASSAGE_WORDS).clamp(1, MAX_PASSAGES);
        let each = terms.len().div_ceil(passages).max(1);
        let document = (self.documents.len() - 1) as u16;
        let all = terms.len();
        if terms.is_empty() {
            return self.add_passage(document, &mut [], 0);
        }
        for part in terms.chunks_mut(each) {
            let words = (part.len() * words).div_ceil(all);
            self.add_passage(document, part, words);
        }
    }

    fn add_passage(&mut self, document: u16, part: &mut [Stated], words: usize) {
        grow(&mut self.passages);
        self.passages.push(Passage { document, length: u16::try_from(words).unwrap_or(u16::MAX) });
        self.length += words as u64;
        self.postings.push(part);
    }

    /// Orders the postings, which makes searches faster and the block smaller.
    pub(super) fn order(&mut self) {
        self.postings.order(self.dictionary.len());
        self.dictionary.shrink();
        self.documents.shrink_to_fit();
        self.passages.shrink_to_fit();
    }

    pub(super) fn heap_bytes(&self) -> usize {
        let names: usize = self.names.iter().map(|name| name.len() + 32).sum();
        self.postings.heap_bytes()
            + self.dictionary.heap_bytes()
            + self.documents.capacity() * size_of::<Document>()
            + self.passages.capacity() * size_of::<Passage>()
            + names
            + size_of::<Self>()
    }
}
