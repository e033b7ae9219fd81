//! Whole index blocks as bytes, for stores.

use utterd_text::Languages;

use super::{
    block::{Document, IndexBlock, Passage},
    dictionary::Dictionary,
    postings::{ByTerm, Count, Postings},
};

/// The version of the text analysis and of this format: blocks of another version are rebuilt.
const VERSION: u8 = 3;

impl IndexBlock {
    /// Encodes the block if it is whole: ordered and not empty.
    pub fn to_bytes(&self) -> Option<Vec<u8>> {
        let ByTerm { ends, passages, counts } =
            self.postings.ordered().filter(|_| !self.documents.is_empty())?;
        let mut to = Writer(vec![VERSION]);
        to.long(self.number);
        to.long(self.length);
        to.word(self.languages.bits());
        to.list(self.dictionary.text().as_bytes(), |to, byte| to.0.push(*byte));
        to.list(self.dictionary.ends(), |to, end| to.word(*end));
        to.list(&self.names, |to, name| to.list(name.as_bytes(), |to, byte| to.0.push(*byte)));
        to.list(&self.documents, |to, document| {
            [document.offset, document.length, document.first].into_iter().for_each(|half| to.half(half));
            to.0.extend([document.name, document.traits]);
            to.word(document.minute);
        });
        to.list(&self.passages, |to, passage| {
            to.half(passage.document);
            to.half(passage.length);
        });
        to.list(ends, |to, end| to.word(*end));
        to.list(passages, |to, passage| to.half(*passage));
        to.list(counts, |to, count| to.0.push(count.0));
        Some(to.0)
    }

    /// Decodes block `number`; `None` if the bytes are not that block in this version.
    pub fn from_bytes(number: u64, bytes: &[u8]) -> Option<Self> {
        let mut from = Reader(bytes);
        (from.byte()? == VERSION && from.long()? == number).then_some(())?;
        let length = from.long()?;
        let languages = Languages::from_bits(from.word()?);
        let text = from.text()?;
        let dictionary = Dictionary::of(text, from.list(Reader::word)?)?;
        let names = from.list(|from| from.text().map(Into::into))?;
        let documents = from.list(Reader::document)?;
        let passages = from.list(|from| Some(Passage { document: from.half()?, length: from.half()? }))?;
        let ends = from.list(Reader::word)?;
        let counts = |from: &mut Reader<'_>| from.byte().map(Count);
        let by_term = ByTerm { ends, passages: from.list(Reader::half)?, counts: from.list(counts)? };
        let postings = Postings::of(by_term, passages.len());
        let block = Self { number, dictionary, documents, passages, postings, names, languages, length };
        (from.0.is_empty() && block.is_sound()).then_some(block)
    }

    /// Whether all references are valid.
    fn is_sound(&self) -> bool {
        let Some(ByTerm { ends, passages, counts }) = self.postings.ordered() else { return false };
        let documents = self.documents.iter().all(|document| {
            usize::from(document.first) < self.passages.len()
                && usize::from(document.name) <= self.names.len()
        });
        documents
            && self.documents.is_sorted_by(|one, next| one.offset < next.offset && one.first < next.first)
            && self.passages.iter().all(|passage| usize::from(passage.document) < self.documents.len())
            && passages.iter().all(|passage| usize::from(*passage) < self.passages.len())
            && ends.len() == self.dictionary.len()
            && ends.is_sorted()
            && ends.last().map_or(0, |end| *end as usize) == passages.len()
            && passages.len() == counts.len()
    }
}

/// Numbers are little-endian; lists are preceded by their lengths.
struct Writer(Vec<u8>);

impl Writer {
    fn half(&mut self, value: u16) {
        self.0.extend(value.to_le_bytes());
    }

    fn word(&mut self, value: u32) {
        self.0.extend(value.to_le_bytes());
    }

    fn long(&mut self, value: u64) {
        self.0.extend(value.to_le_bytes());
    }

    fn list<T>(&mut self, list: &[T], put: impl Fn(&mut Self, &T)) {
        self.word(list.len() as u32);
        list.iter().for_each(|item| put(self, item));
    }
}

struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn byte(&mut self) -> Option<u8> {
        self.0.split_off_first().copied()
    }

    fn half(&mut self) -> Option<u16> {
        Some(u16::from_le_bytes(self.array()?))
    }

    fn word(&mut self) -> Option<u32> {
        Some(u32::from_le_bytes(self.array()?))
    }

    fn long(&mut self) -> Option<u64> {
        Some(u64::from_le_bytes(self.array()?))
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.0.split_off(..N)?.try_into().ok()
    }

    fn list<T>(&mut self, item: impl Fn(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        let length = self.word()? as usize;
        // Each item takes at least one byte, so an invalid length cannot reserve more than that.
        (length <= self.0.len()).then_some(())?;
        (0..length).map(|_| item(self)).collect()
    }

    fn text(&mut self) -> Option<String> {
        let length = self.word()? as usize;
        String::from_utf8(self.0.split_off(..length)?.to_vec()).ok()
    }

    fn document(&mut self) -> Option<Document> {
        Some(Document {
            offset: self.half()?,
            length: self.half()?,
            first: self.half()?,
            name: self.byte()?,
            traits: self.byte()?,
            minute: self.word()?,
        })
    }
}
