//! Decides when a page is full, and how much to read for it at a time.

use std::sync::Arc;

use utterd_domain::{Head, Utterance, limits::MAX_ANSWER_BYTES};

/// The room left on a page, in items and in bytes of the answer.
#[derive(Clone, Copy, Debug)]
pub struct PageRoom {
    items: usize,
    bytes: usize,
    is_empty: bool,
}

impl PageRoom {
    /// Returns the room of an empty page of at most `items` items, in an answer with `taken` other bytes.
    pub fn new(items: usize, taken: usize) -> Self {
        Self { items, bytes: MAX_ANSWER_BYTES.saturating_sub(taken), is_empty: true }
    }

    /// Returns the room of a page that is limited only by its number of items.
    pub(crate) fn of_items(items: usize) -> Self {
        Self { items, bytes: usize::MAX, is_empty: true }
    }

    /// Adds an item of `bytes` bytes. Returns false if the page ends before it. An empty page accepts any item.
    pub fn takes(&mut self, bytes: usize) -> bool {
        let fits = self.items > 0 && (self.is_empty || bytes <= self.bytes);
        if fits {
            self.items -= 1;
            self.bytes = self.bytes.saturating_sub(bytes);
            self.is_empty = false;
        }
        fits
    }

    /// Returns the bytes left.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Whether the page has no items yet.
    pub(crate) fn is_empty(&self) -> bool {
        self.is_empty
    }

    /// Whether the page accepts no more items, however small.
    pub(crate) fn is_full(&self) -> bool {
        self.items == 0
    }
}

/// The number of stored utterances to read at a time: about [`ReadSize::BYTES`] worth. If their size is
/// unknown, the first read takes only a few.
#[derive(Clone, Copy, Debug)]
pub struct ReadSize(u64);

impl ReadSize {
    const BYTES: usize = 1 << 20;
    const FIRST: u64 = 4;
    const MOST: u64 = 256;

    pub const fn new() -> Self {
        Self(Self::FIRST)
    }

    /// Returns the size for a conversation, from the average size of its utterances.
    pub fn of(head: &Head) -> Self {
        let average = head.stored_bytes.checked_div(head.stored);
        let fit = |average: u64| (Self::BYTES as u64 / average.max(1)).clamp(1, Self::MOST);
        Self(average.map_or(Self::FIRST, fit))
    }

    pub const fn get(self) -> u64 {
        self.0
    }

    /// Adjusts the size of the next read to the utterances that were just read.
    pub fn learn<'a>(&mut self, read: impl IntoIterator<Item = &'a Arc<Utterance>>) {
        let bytes: usize = read.into_iter().map(|utterance| utterance.answer_bytes()).sum();
        self.0 = match bytes {
            few if few <= Self::BYTES / 4 => (self.0 * 4).min(Self::MOST),
            many if many > Self::BYTES => (self.0 / 4).max(1),
            _ => self.0,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_ends_at_its_items_or_its_bytes_and_has_one_at_least() {
        let mut room = PageRoom::new(3, 0);
        assert!(room.takes(MAX_ANSWER_BYTES + 1), "an empty page takes any item");
        assert!(!room.takes(1));
        let mut room = PageRoom::new(3, MAX_ANSWER_BYTES - 10);
        assert_eq!([6, 5, 4, 0, 0].map(|bytes| room.takes(bytes)), [true, false, true, true, false]);
        assert!(room.is_full());
        let mut room = PageRoom::new(2, usize::MAX);
        assert_eq!([1, 1].map(|bytes| room.takes(bytes)), [true, false], "what stands beside them is large");
    }
}
