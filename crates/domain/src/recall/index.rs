//! The index of one conversation's utterances.

use std::sync::Arc;

use utterd_text::{Language, Languages};

use super::{block::IndexBlock, said::Said, terms::Reader};
use crate::limits::BLOCK_SEQUENCES;

/// An inverted index over the utterances of one conversation.
///
/// Holds terms and the utterances that have them, no text, in blocks of [`BLOCK_SEQUENCES`]. Clones share the
/// blocks.
#[derive(Clone, Debug, Default)]
pub struct Index {
    /// Ascending by number. Utterances are added to the last block.
    blocks: Vec<Arc<IndexBlock>>,
    /// The language of the last utterance added.
    language: Option<Language>,
}

impl Index {
    /// Creates an empty index.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds utterances in ascending sequence. Utterances not after the newest one are skipped.
    pub fn extend<'a>(&mut self, utterances: impl IntoIterator<Item = Said<'a>>) {
        IndexMaker::default().extend(self, utterances);
    }

    /// Appends a whole block; returns false if it is not after the present ones.
    pub fn push(&mut self, block: Arc<IndexBlock>) -> bool {
        let is_behind = self.blocks.last().is_none_or(|last| last.number < block.number);
        if is_behind {
            self.order_last(|last| last.postings.has_new());
            self.blocks.push(block);
            self.language = None;
        }
        is_behind
    }

    /// Returns the last block, as an index has it once another block follows.
    pub fn into_block(mut self) -> Option<Arc<IndexBlock>> {
        self.order_last(|last| last.postings.has_new());
        self.blocks.pop()
    }

    /// Keeps only the blocks whose number `keep` accepts.
    pub fn retain_blocks(&mut self, keep: impl Fn(u64) -> bool) {
        self.blocks.retain(|block| keep(block.number));
    }

    /// All blocks but the last, with their numbers: these are complete.
    pub fn whole_blocks(&self) -> impl Iterator<Item = (u64, &Arc<IndexBlock>)> {
        self.blocks.iter().rev().skip(1).rev().map(|block| (block.number, block))
    }

    /// The number of utterances.
    pub fn len(&self) -> usize {
        self.blocks.iter().map(|block| block.documents.len()).sum()
    }

    /// Whether it has no utterances.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The sequence of the newest utterance: later ones can extend the index.
    pub fn newest(&self) -> Option<u64> {
        let last = self.blocks.last()?;
        Some(last.sequence(last.documents.len().checked_sub(1)?))
    }

    /// The approximate heap memory in bytes.
    pub fn heap_bytes(&self) -> usize {
        self.blocks.iter().map(|block| block.heap_bytes()).sum()
    }

    pub(super) fn blocks(&self) -> &[Arc<IndexBlock>] {
        &self.blocks
    }

    pub(super) fn languages(&self) -> Languages {
        self.blocks.iter().fold(Languages::default(), |all, block| all.union(block.languages))
    }

    fn add(&mut self, reader: &mut Reader, said: &Said<'_>) {
        let number = said.sequence / BLOCK_SEQUENCES;
        if self.blocks.last().is_none_or(|last| last.number != number) {
            self.order_last(|last| last.postings.has_new());
            self.blocks.push(Arc::new(IndexBlock::new(number)));
            // A block must depend only on its own utterances.
            self.language = None;
            reader.begin_block();
        }
        if let Some(block) = self.blocks.last_mut() {
            let before = self.language.unwrap_or(Language::English);
            self.language = Some(Arc::make_mut(block).add(reader, said, before));
        }
    }

    fn order_last(&mut self, is_due: impl Fn(&IndexBlock) -> bool) {
        if let Some(last) = self.blocks.last_mut().filter(|last| is_due(last)) {
            Arc::make_mut(last).order();
        }
    }
}

/// Builds indexes, keeping the vocabulary it has read to be faster.
#[derive(Default)]
pub struct IndexMaker {
    reader: Reader,
}

impl IndexMaker {
    /// Does the same as [`Index::extend`].
    pub fn extend<'a>(&mut self, index: &mut Index, utterances: impl IntoIterator<Item = Said<'a>>) {
        self.reader.begin_block();
        for said in utterances {
            if index.newest().is_none_or(|newest| newest < said.sequence) {
                index.add(&mut self.reader, &said);
            }
        }
        index.order_last(|last| last.postings.has_many_new());
    }
}
