//! Cuts received bytes into messages.

use std::collections::VecDeque;

use bytes::{Buf, BufMut, Bytes, BytesMut};

/// The bytes before each message: whether it is compressed, and its length.
pub const HEAD: usize = 5;
/// The bytes of a block; an unfinished message is kept in blocks.
const BLOCK: usize = 64 << 10;

/// Accepts chunks as they arrive and returns whole messages.
///
/// Small messages that arrive whole are returned together, without a copy. Any other message is announced first. Of
/// an unfinished message only its own bytes are kept, not the buffers that they arrived in.
pub struct Cutter {
    /// Messages longer than this are announced, even if they arrive whole.
    small: usize,
    /// Received bytes that are not processed yet.
    chunk: Bytes,
    head: BytesMut,
    begun: Option<Begun>,
}

/// What the head of a message announces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Announced {
    /// Whether it is compressed.
    pub compressed: bool,
    /// The length of the message, without the head.
    pub length: usize,
}

/// The next result of cutting.
#[derive(Debug, PartialEq, Eq)]
pub enum Piece {
    /// Small messages, and their number.
    Whole(Bytes, usize),
    /// A message has begun.
    Begun(Announced),
    /// The message that had begun is whole.
    Message(Announced, VecDeque<Bytes>),
    /// More bytes are needed.
    More,
}

struct Begun {
    announced: Announced,
    /// The number of bytes still missing.
    rest: usize,
    blocks: VecDeque<BytesMut>,
}

impl Cutter {
    /// A cutter that announces messages longer than `small` bytes.
    pub fn new(small: usize) -> Self {
        Self { small, chunk: Bytes::new(), head: BytesMut::new(), begun: None }
    }

    /// Whether a message has begun and is not whole.
    pub fn is_within(&self) -> bool {
        self.begun.is_some() || !self.head.is_empty()
    }

    /// Adds a received chunk, once [`Self::next`] asks for more.
    pub fn push(&mut self, chunk: Bytes) {
        self.chunk = chunk;
    }

    /// Returns the next result.
    pub fn next(&mut self) -> Piece {
        if self.begun.is_some() {
            return self.go_on();
        }
        let (whole, count) = if self.head.is_empty() { self.whole() } else { (0, 0) };
        match whole {
            0 => self.begin(),
            _ => Piece::Whole(self.chunk.split_to(whole), count),
        }
    }

    /// Returns the bytes and the number of the small messages that the chunk begins with.
    fn whole(&self) -> (usize, usize) {
        let (mut end, mut count) = (0, 0);
        while let Some(announced) = Announced::read(&self.chunk[end..]) {
            let next = end + HEAD + announced.length;
            if announced.compressed || announced.length > self.small || next > self.chunk.len() {
                break;
            }
            (end, count) = (next, count + 1);
        }
        (end, count)
    }

    fn begin(&mut self) -> Piece {
        let part = (HEAD - self.head.len()).min(self.chunk.len());
        let announced = match self.head.is_empty() {
            // read in place, so that a message that arrived whole is not copied
            true => Announced::read(&self.chunk),
            false => {
                self.head.extend_from_slice(&self.chunk.split_to(part));
                Announced::read(&self.head)
            }
        };
        let Some(announced) = announced else {
            self.head.extend_from_slice(&std::mem::take(&mut self.chunk));
            return Piece::More;
        };
        let head = std::mem::take(&mut self.head);
        let rest = HEAD + announced.length - head.len();
        let blocks = if head.is_empty() { VecDeque::new() } else { VecDeque::from([head]) };
        self.begun = Some(Begun { announced, rest, blocks });
        Piece::Begun(announced)
    }

    fn go_on(&mut self) -> Piece {
        let Some(mut begun) = self.begun.take() else { return Piece::More };
        let came = self.chunk.split_to(begun.rest.min(self.chunk.len()));
        if self.chunk.is_empty() {
            self.chunk = Bytes::new();
        }
        begun.rest -= came.len();
        match begun.rest {
            0 => Piece::Message(begun.announced, begun.finish(came)),
            _ => {
                begun.keep(&came);
                self.begun = Some(begun);
                Piece::More
            }
        }
    }
}

impl Begun {
    fn keep(&mut self, mut came: &[u8]) {
        let mut rest = self.rest + came.len();
        while came.has_remaining() {
            let room = self.blocks.back().map_or(0, |block| block.capacity() - block.len());
            if room == 0 {
                self.blocks.push_back(BytesMut::with_capacity(rest.min(BLOCK)));
                continue;
            }
            let part = room.min(came.len());
            if let Some(block) = self.blocks.back_mut() {
                block.put_slice(&came[..part]);
            }
            came.advance(part);
            rest -= part;
        }
    }

    /// Returns the message, whose last bytes are `came`.
    fn finish(self, came: Bytes) -> VecDeque<Bytes> {
        self.blocks.into_iter().map(BytesMut::freeze).chain([came]).collect()
    }
}

impl Announced {
    /// Reads the head at the beginning of `bytes`; `None` if it is not whole.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let (head, _) = bytes.split_first_chunk::<HEAD>()?;
        let [flag, length @ ..] = *head;
        // the decoder refuses an invalid flag
        Some(Self { compressed: flag != 0, length: u32::from_be_bytes(length) as usize })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SMALL: usize = 100;

    fn message(compressed: bool, length: usize) -> Vec<u8> {
        let length_bytes = u32::try_from(length).unwrap().to_be_bytes();
        let content = (0..length).map(|index| index as u8);
        [u8::from(compressed)].into_iter().chain(length_bytes).chain(content).collect()
    }

    /// Returns what a cutter makes of chunks, what it announced, and whether it ends within a message.
    fn cut<'a>(chunks: impl IntoIterator<Item = &'a [u8]>) -> (Vec<u8>, Vec<Announced>, bool) {
        let (mut cutter, mut handed, mut begun) = (Cutter::new(SMALL), Vec::new(), Vec::new());
        for chunk in chunks {
            cutter.push(Bytes::copy_from_slice(chunk));
            loop {
                match cutter.next() {
                    Piece::Whole(bytes, count) => {
                        assert_eq!(messages(&bytes).len(), count);
                        handed.extend_from_slice(&bytes);
                    }
                    Piece::Begun(announced) => begun.push(announced),
                    Piece::Message(announced, pieces) => {
                        assert_eq!(Some(&announced), begun.last());
                        let bytes = pieces.iter().flatten().copied().collect::<Vec<_>>();
                        assert_eq!(messages(&bytes), [announced]);
                        handed.extend(bytes);
                    }
                    Piece::More => break,
                }
            }
        }
        (handed, begun, cutter.is_within())
    }

    /// The heads of whole messages.
    fn messages(mut bytes: &[u8]) -> Vec<Announced> {
        let mut found = Vec::new();
        while let Some(announced) = Announced::read(bytes) {
            bytes = &bytes[HEAD + announced.length..];
            found.push(announced);
        }
        assert!(bytes.is_empty());
        found
    }

    proptest! {
        #[test]
        fn messages_come_out_whole_and_in_order(
            lengths in prop::collection::vec((prop::bool::weighted(0.1), prop_oneof![0..20_usize, 90..110_usize, 0..200_000_usize]), 0..8),
            mut cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..12),
            lost in 0..10_usize,
        ) {
            let sent: Vec<u8> = lengths.iter().flat_map(|(compressed, length)| message(*compressed, *length)).collect();
            let lost = lost.min(lengths.last().map_or(0, |(_, length)| *length));
            let came = &sent[..sent.len() - lost];
            let mut at: Vec<_> = cuts.iter_mut().map(|cut| cut.index(came.len() + 1)).collect();
            at.extend([0, came.len()]);
            at.sort_unstable();
            let (handed, begun, within) = cut(at.windows(2).map(|pair| &came[pair[0]..pair[1]]));
            let whole = lengths.len() - usize::from(lost > 0);
            let whole: Vec<u8> = lengths[..whole].iter().flat_map(|(compressed, length)| message(*compressed, *length)).collect();
            prop_assert!(handed == whole);
            prop_assert_eq!(within, lost > 0);
            let large = lengths.iter().filter(|(compressed, length)| *compressed || *length > SMALL).count();
            prop_assert!(begun.len() >= large, "each is told of");
        }
    }

    #[test]
    fn what_came_whole_is_handed_on_as_it_came() {
        let bytes = Bytes::from([message(false, 3), message(false, 100), message(false, 0)].concat());
        let mut cutter = Cutter::new(SMALL);
        cutter.push(bytes.clone());
        let Piece::Whole(handed, 3) = cutter.next() else { panic!("three messages came") };
        assert_eq!(handed.as_ptr(), bytes.as_ptr());
        assert_eq!(cutter.next(), Piece::More);
    }

    #[test]
    fn a_part_is_not_kept_with_the_buffer_that_it_came_in() {
        let buffer = Bytes::from(message(false, 50_000)).slice(..10);
        let mut cutter = Cutter::new(SMALL);
        cutter.push(buffer.clone());
        assert!(matches!(cutter.next(), Piece::Begun(_)));
        assert_eq!(cutter.next(), Piece::More);
        assert!(buffer.is_unique(), "nothing else refers to it");
    }
}
