//! What the utterances of one conversation can be found by.

use std::sync::Arc;

use super::{
    block::IndexBlock,
    languages::{Language, Languages},
    said::Said,
    terms::Reader,
};
use crate::domain::limits::BLOCK_SEQUENCES;

/// An inverted index over the utterances of one conversation.
///
/// It holds no text, only terms and which utterances have them, in blocks of [`BLOCK_SEQUENCES`]. A copy shares them.
#[derive(Clone, Debug, Default)]
pub struct Index {
    /// Ascending by number. Utterances are added to the last one.
    blocks: Vec<Arc<IndexBlock>>,
    /// The language of the utterance that was added last.
    language: Option<Language>,
}

impl Index {
    /// An index of no utterance.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds utterances, by ascending sequence. One that is not behind those that are there is left out.
    pub fn extend<'a>(&mut self, utterances: impl IntoIterator<Item = Said<'a>>) {
        IndexMaker::default().extend(self, utterances);
    }

    /// Adds a whole block behind those that are there; answers whether it is behind them.
    pub fn push(&mut self, block: Arc<IndexBlock>) -> bool {
        let is_behind = self.blocks.last().is_none_or(|last| last.number < block.number);
        if is_behind {
            self.order_last(|last| last.postings.has_new());
            self.blocks.push(block);
            self.language = None;
        }
        is_behind
    }

    /// Removes the blocks of which `keep` refuses the number.
    pub fn retain_blocks(&mut self, keep: impl Fn(u64) -> bool) {
        self.blocks.retain(|block| keep(block.number));
    }

    /// Its blocks behind which there is another, each with its number: all of their utterances are there.
    pub fn whole_blocks(&self) -> impl Iterator<Item = (u64, &Arc<IndexBlock>)> {
        self.blocks.iter().rev().skip(1).rev().map(|block| (block.number, block))
    }

    /// How many utterances it holds.
    pub fn len(&self) -> usize {
        self.blocks.iter().map(|block| block.documents.len()).sum()
    }

    /// Whether it holds no utterance.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The newest utterance, by sequence: what comes after it is what extends the index.
    pub fn newest(&self) -> Option<u64> {
        let last = self.blocks.last()?;
        Some(last.sequence(last.documents.len().checked_sub(1)?))
    }

    /// How many bytes it holds on the heap.
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
            // What a block holds depends on its own utterances alone.
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

/// Makes indexes, and remembers the vocabulary of what it has read, which makes it quicker.
#[derive(Default)]
pub struct IndexMaker {
    reader: Reader,
}

impl IndexMaker {
    /// What [`Index::extend`] does.
    pub fn extend<'a>(&mut self, index: &mut Index, utterances: impl IntoIterator<Item = Said<'a>>) {
        self.reader.begin_block();
        for said in utterances {
            if index.newest().is_none_or(|newest| newest < said.sequence) {
                index.add(&mut self.reader, &said);
            }
        }
        index.order_last(|last| last.postings.has_many_new());
    }

    /// The block of utterances by ascending sequence, all of one block: what [`Index::extend`] makes of them.
    pub fn block<'a>(&mut self, utterances: impl IntoIterator<Item = Said<'a>>) -> Option<Arc<IndexBlock>> {
        let mut index = Index::new();
        self.extend(&mut index, utterances);
        index.order_last(|last| last.postings.has_new());
        index.blocks.pop()
    }
}
