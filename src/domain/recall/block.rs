//! A part of an index: the utterances of one block of sequences.

use std::ops::Range;

use super::{
    dictionary::{Dictionary, grow},
    languages::{Language, Languages},
    postings::{Posting, Postings, Stated},
    questions::Questions,
    said::Said,
    terms::{Reader, StopWords, Term},
    vocabulary::Number,
};
use crate::domain::{Role, limits::BLOCK_SEQUENCES};

/// A longer utterance is ranked by the best of its passages, each of about so many words.
pub(super) const PASSAGE_WORDS: usize = 60;
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
    /// The words of all its passages.
    pub(super) length: u64,
}

/// An utterance of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Document {
    /// Its sequence, from the block's first.
    pub offset: u16,
    /// Its words, without stop words.
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
    /// Its words, without stop words.
    pub length: u16,
}

const QUESTION: u8 = 4;

impl Document {
    pub(super) fn role(&self) -> Role {
        Role::ALL[usize::from(self.traits & 3)]
    }

    /// Whether some of its sentences ask.
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
        let mut terms = Vec::with_capacity(PASSAGE_WORDS);
        let (mut language, mut quarters) = (before, 0);
        let (questions, none) = (Questions::of(said.content), Questions::default());
        for text in said.texts() {
            language = reader.read(text, language);
            // Tools and their arguments ask nobody.
            let questions = if std::ptr::eq(text, said.content) { &questions } else { &none };
            reader.each_term(text, language, StopWords::Skip, |term| {
                quarters += term.quarters();
                terms.push((self.number(&term), questions.hold(term.range.start)));
            });
        }
        self.languages.insert(language);
        let words = quarters.div_ceil(4);
        if terms.len() <= FEW_TERMS {
            terms.clear();
            reader.read(said.content, language);
            reader.each_term(said.content, language, StopWords::Keep, |term| {
                terms.push((self.number(&term), questions.hold(term.range.start)));
            });
        }
        self.add_document(said, words, !questions.is_empty());
        self.add_passages(&mut terms, words);
        language
    }

    /// The number of a term, which is there then.
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

    /// Orders its postings: it is quicker to search then, and smaller.
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
