//! The embeddings of one conversation.

use std::{collections::BTreeMap, ops::RangeInclusive};

use super::block;
use utterd_domain::{
    Block, Conversation, Ranges, Revision, Sequence,
    recall::hybrid::{Place, Similar},
    values::embedding::Embedding,
};

/// The bytes of an entry besides its embedding, in a half-full tree.
const PLACE_BYTES: usize = 48;

/// The embeddings of a conversation's utterances, as far as they were made.
#[derive(Debug)]
pub(super) struct Held {
    /// The revision of the last erasure or edit of their texts.
    erased_at: Revision,
    /// The revision of the last soft forget or restore.
    silenced_at: Revision,
    /// The sequence below which nothing is missing.
    complete_to: Sequence,
    /// Whether the stored embeddings were read.
    is_read: bool,
    /// The number of stored embeddings of each block.
    kept: BTreeMap<Block, usize>,
    /// `None` for an utterance with nothing to embed.
    by_sequence: BTreeMap<u64, Option<Embedding>>,
    bytes: usize,
}

/// The embeddings and the prompt are from different models.
pub(super) struct OfAnother;

impl Held {
    /// Creates an empty set for `state`.
    pub(super) fn new(state: &Conversation) -> Self {
        Self {
            erased_at: state.head.erased_at,
            silenced_at: state.head.silenced_at,
            complete_to: Sequence::FIRST,
            is_read: false,
            kept: BTreeMap::new(),
            by_sequence: BTreeMap::new(),
            bytes: 0,
        }
    }

    /// Whether a text was erased or edited later than in `state`.
    pub(super) fn is_newer(&self, state: &Conversation) -> bool {
        self.erased_at > state.head.erased_at
    }

    /// Whether the embeddings are of the texts that `state` stores.
    pub(super) fn is_of(&self, state: &Conversation) -> bool {
        self.erased_at == state.head.erased_at
    }

    /// Whether no embedding of `state` is missing.
    pub(super) fn is_complete(&self, state: &Conversation) -> bool {
        self.is_of(state) && self.silenced_at == state.head.silenced_at && self.complete_to >= state.head.next
    }

    /// Records that no embedding of `state` is missing, or that there is no room for the rest.
    pub(super) fn complete(&mut self, state: &Conversation) {
        if self.is_of(state) {
            (self.silenced_at, self.complete_to) = (state.head.silenced_at, state.head.next);
        }
    }

    /// Returns the sequences of `state` that were not processed yet. After a soft forget or a restore, those
    /// without an embedding are processed again.
    pub(super) fn missing(&mut self, state: &Conversation) -> Ranges {
        if self.silenced_at != state.head.silenced_at {
            self.silenced_at = state.head.silenced_at;
            self.complete_to = Sequence::FIRST;
            self.by_sequence.retain(|_, embedding| embedding.is_some());
            self.bytes = self.by_sequence.values().map(bytes).sum();
        }
        let mut missing = stored(state);
        missing.subtract(&self.by_sequence.keys().map(|sequence| Sequence(*sequence)).collect());
        missing
    }

    /// Adds embeddings of texts of `state`, unless texts were erased or edited since. Returns whether it did.
    /// If the new embeddings have another length, the existing ones are from another model, and are dropped.
    pub(super) fn take(&mut self, state: &Conversation, made: Vec<(Sequence, Option<Embedding>)>) -> bool {
        if !self.is_of(state) {
            return false;
        }
        for (sequence, embedding) in made {
            if let Some(embedding) = &embedding {
                self.keep_length(embedding.values().len());
            }
            self.bytes += bytes(&embedding);
            if let Some(before) = self.by_sequence.insert(sequence.get(), embedding) {
                self.bytes -= bytes(&before);
            }
        }
        true
    }

    fn keep_length(&mut self, length: usize) {
        if self.length().is_some_and(|other| other != length) {
            self.start_anew();
        }
    }

    fn length(&self) -> Option<usize> {
        Some(self.by_sequence.values().flatten().next()?.values().len())
    }

    /// Drops all embeddings, because they are from another model.
    pub(super) fn start_anew(&mut self) {
        self.by_sequence.clear();
        self.kept.clear();
        (self.bytes, self.complete_to, self.is_read) = (0, Sequence::FIRST, true);
    }

    /// Drops the embeddings of `gone`: utterances that `after` does not store any more, or stores with
    /// another text.
    pub(super) fn give_up(&mut self, gone: &Ranges, after: &Conversation) {
        if !self.is_of(after) {
            // the store has removed them with the texts
            for block in Block::holding(gone) {
                self.kept.remove(&block);
            }
            self.erased_at = after.head.erased_at;
        }
        for range in gone.iter() {
            let (first, last) = (range.start().get(), range.end().get());
            let gone: Vec<u64> =
                self.by_sequence.range(first..=last).map(|(sequence, _)| *sequence).collect();
            for sequence in gone {
                self.bytes -= self.by_sequence.remove(&sequence).as_ref().map_or(0, bytes);
                self.complete_to = self.complete_to.min(Sequence(sequence));
            }
        }
    }

    /// Whether the stored embeddings were read.
    pub(super) fn is_read(&self) -> bool {
        self.is_read
    }

    /// Records that all stored embeddings were read.
    pub(super) fn read_all(&mut self) {
        self.is_read = true;
    }

    /// Adds stored embeddings of a block, except those of utterances that `state` no longer stores, or that
    /// were processed already.
    pub(super) fn take_kept(&mut self, state: &Conversation, block: Block, kept: Vec<(Sequence, Embedding)>) {
        let (count, length) = (kept.len(), self.length());
        let is_new = |sequence: Sequence| !self.by_sequence.contains_key(&sequence.get());
        let kept = kept.into_iter().filter(|(sequence, embedding)| {
            let fits = length.is_none_or(|length| length == embedding.values().len());
            fits && state.stores(*sequence) && is_new(*sequence)
        });
        let kept: Vec<_> = kept.map(|(sequence, embedding)| (sequence, Some(embedding))).collect();
        if self.take(state, kept) && count > 0 {
            self.kept.insert(block, count);
        }
    }

    /// Returns the blocks to store again: those in which at least `least` embeddings are not stored, and at
    /// least an eighth as many as are stored.
    pub(super) fn due(&self, least: usize) -> Vec<Block> {
        let mut counts: BTreeMap<Block, usize> = BTreeMap::new();
        for (sequence, _) in self.by_sequence.iter().filter(|(_, embedding)| embedding.is_some()) {
            *counts.entry(Block::of(Sequence(*sequence))).or_default() += 1;
        }
        let is_due = |(block, count): &(Block, usize)| {
            let kept = self.kept.get(block).copied().unwrap_or(0);
            *count >= kept + least.max(kept / 8)
        };
        counts.into_iter().filter(is_due).map(|(block, _)| block).collect()
    }

    /// Returns the stored form of a block's embeddings, and their number; `None` if they are no longer of the
    /// texts in `state`.
    pub(super) fn encoded(&self, state: &Conversation, block: Block, name: &str) -> Option<(usize, Vec<u8>)> {
        let of = self.by_sequence.range(within(block));
        let of: Vec<_> =
            of.filter_map(|(sequence, one)| Some((Sequence(*sequence), one.as_ref()?))).collect();
        let bytes = block::encode(name, block, &of).filter(|_| self.is_of(state))?;
        Some((of.len(), bytes))
    }

    /// Records that the store has `count` embeddings of a block.
    pub(super) fn was_kept(&mut self, state: &Conversation, block: Block, count: usize) {
        if self.is_of(state) {
            self.kept.insert(block, count);
        }
    }

    /// Returns the similarity of the `wanted` utterances to `prompt`, ascending by sequence, for the
    /// conversation at `index`; empty if the embeddings are not of the texts of `state`.
    pub(super) fn similar(
        &self,
        state: &Conversation,
        index: usize,
        wanted: &Ranges,
        prompt: &Embedding,
    ) -> Result<Vec<Similar>, OfAnother> {
        if !self.is_of(state) {
            return Ok(Vec::new());
        }
        let all = self.by_sequence.iter().filter_map(|(sequence, one)| Some((*sequence, one.as_ref()?)));
        let wanted = all.filter(|(sequence, _)| wanted.contains(Sequence(*sequence)));
        let similar = wanted.map(|(sequence, embedding)| {
            let cosine = embedding.cosine(prompt).ok_or(OfAnother)?;
            Ok(Similar { place: Place { index, sequence }, cosine })
        });
        similar.collect()
    }

    /// Returns the number of utterances that have an embedding or need none.
    pub(super) fn len(&self) -> usize {
        self.by_sequence.len()
    }

    /// Returns the approximate size of the embeddings in memory, in bytes.
    pub(super) fn memory_bytes(&self) -> u64 {
        (size_of::<Self>() + self.bytes) as u64
    }
}

fn bytes(embedding: &Option<Embedding>) -> usize {
    PLACE_BYTES + embedding.as_ref().map_or(0, Embedding::memory_bytes)
}

/// Returns the sequences a conversation stores.
pub(super) fn stored(state: &Conversation) -> Ranges {
    let mut stored = (*state.head.archived).clone();
    stored.union(&state.window.iter().map(|utterance| utterance.sequence).collect());
    stored
}

/// Returns the sequences of a block, as a range of tree keys.
fn within(block: Block) -> RangeInclusive<u64> {
    let (first, last) = block.sequences().into_inner();
    first.get()..=last.get()
}
