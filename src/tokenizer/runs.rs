//! Byte-pair encoding of pieces that are mostly runs of one byte: rulers, indentation, padding.
//!
//! The vocabularies hold dozens of tokens of one repeated character (spaces, `-`, `=`), and the
//! usual algorithms try them all at each position. Here a run of equal tokens is one node, and
//! merging its pairs is one step, so a run costs the logarithm of its length.
//!
//! Merging all pairs of a run at once gives what merging them one at a time gives, since no
//! merge makes a pair of a lower or the same rank possible. That holds for a vocabulary each of
//! whose tokens encodes to itself, which the `bpe` crate checks for all four.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rustc_hash::FxHashMap;

/// Counts the tokens of a piece by merging runs of equal tokens.
pub(super) struct RunMerger {
    ranks: FxHashMap<Vec<u8>, u32>,
    longest_token: usize,
}

impl RunMerger {
    /// Pieces up to this length, in bytes, are cheap by any algorithm.
    const SHORT: usize = 64;

    pub(super) fn new(tokens: impl Iterator<Item = (Vec<u8>, u32)>) -> Self {
        let ranks: FxHashMap<_, _> = tokens.collect();
        let longest_token = ranks.keys().map(Vec::len).max().unwrap_or(0);
        Self { ranks, longest_token }
    }

    /// Whether the piece is long and its runs of one byte are eight long on average.
    pub(super) fn suits(piece: &[u8]) -> bool {
        piece.len() > Self::SHORT && piece.chunk_by(u8::eq).count() <= piece.len() / 8
    }

    /// The number of tokens of a piece, whose pairs are merged lowest rank first, and leftmost
    /// first among those of one rank.
    pub(super) fn count(&self, piece: &[u8]) -> usize {
        let mut merging = Merging::new(self, piece);
        merging.run();
        merging.nodes.iter().map(|node| node.copies).sum()
    }

    fn rank(&self, token: &[u8]) -> Option<u32> {
        let known = token.len() <= self.longest_token;
        known.then(|| self.ranks.get(token).copied()).flatten()
    }
}

/// The neighbour of the first and of the last node.
const NONE: usize = usize::MAX;

/// `copies` equal tokens in a row; none once the node has left the list.
struct Node {
    start: usize,
    token_len: usize,
    copies: usize,
    previous: usize,
    next: usize,
}

impl Node {
    fn end(&self) -> usize {
        self.start + self.token_len * self.copies
    }
}

/// Two neighbouring tokens that together are one, ordered by rank and then by position.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Pair {
    rank: u32,
    start: usize,
    middle: usize,
    end: usize,
    /// The node of the first token.
    node: usize,
}

struct Merging<'a> {
    merger: &'a RunMerger,
    piece: &'a [u8],
    nodes: Vec<Node>,
    pairs: BinaryHeap<Reverse<Pair>>,
}

impl<'a> Merging<'a> {
    fn new(merger: &'a RunMerger, piece: &'a [u8]) -> Self {
        let nodes = nodes_of(piece);
        let pairs = BinaryHeap::with_capacity(2 * nodes.len());
        let mut merging = Self { merger, piece, nodes, pairs };
        for node in 0..merging.nodes.len() {
            merging.propose(node);
        }
        merging
    }

    fn run(&mut self) {
        while let Some(Reverse(pair)) = self.pairs.pop() {
            if self.within(pair.node) == Some((pair.start, pair.middle, pair.end)) {
                self.merge_within(pair.node);
            } else if self.across(pair.node) == Some((pair.start, pair.middle, pair.end)) {
                self.merge_across(pair.node);
            }
            // Otherwise one of its tokens has been merged meanwhile.
        }
    }

    /// Queues the pairs whose first token is in this node.
    fn propose(&mut self, node: usize) {
        let candidates = [self.within(node), self.across(node)];
        for (start, middle, end) in candidates.into_iter().flatten() {
            if let Some(rank) = self.merger.rank(&self.piece[start..end]) {
                self.pairs.push(Reverse(Pair { rank, start, middle, end, node }));
            }
        }
    }

    /// Where the first two tokens of the node begin, meet and end.
    fn within(&self, node: usize) -> Option<(usize, usize, usize)> {
        let n = self.nodes.get(node).filter(|n| n.copies >= 2)?;
        let middle = n.start + n.token_len;
        Some((n.start, middle, middle + n.token_len))
    }

    /// Where the node's last token begins, meets the next node's first one, and that one ends.
    fn across(&self, node: usize) -> Option<(usize, usize, usize)> {
        let n = self.nodes.get(node).filter(|n| n.copies >= 1)?;
        let next = self.nodes.get(n.next)?;
        let middle = n.end();
        Some((middle - n.token_len, middle, middle + next.token_len))
    }

    /// Merges the node's tokens two by two; an odd one stays behind them.
    fn merge_within(&mut self, node: usize) {
        let n = &mut self.nodes[node];
        let (end, token_len, odd) = (n.end(), n.token_len, n.copies % 2);
        n.token_len *= 2;
        n.copies /= 2;
        let previous = n.previous;
        if odd == 1 {
            let rest = self.insert_after(node, end - token_len, token_len);
            self.propose(rest);
        }
        self.propose(previous);
        self.propose(node);
    }

    /// Merges the node's last token with the first one of the next node.
    fn merge_across(&mut self, node: usize) {
        let n = &mut self.nodes[node];
        let (start, first_len, next) = (n.end() - n.token_len, n.token_len, n.next);
        n.copies -= 1;
        let second_len = self.nodes[next].token_len;
        self.nodes[next].start += second_len;
        self.nodes[next].copies -= 1;

        let merged = self.insert_after(node, start, first_len + second_len);
        self.unlink_if_empty(node);
        self.unlink_if_empty(next);
        self.propose(self.nodes[merged].previous);
        self.propose(merged);
        self.propose(next);
    }

    /// Inserts a node of one token behind `node`.
    fn insert_after(&mut self, node: usize, start: usize, token_len: usize) -> usize {
        let inserted = self.nodes.len();
        let next = self.nodes[node].next;
        self.nodes.push(Node { start, token_len, copies: 1, previous: node, next });
        self.nodes[node].next = inserted;
        if let Some(next) = self.nodes.get_mut(next) {
            next.previous = inserted;
        }
        inserted
    }

    fn unlink_if_empty(&mut self, node: usize) {
        let Node { copies, previous, next, .. } = self.nodes[node];
        if copies > 0 {
            return;
        }
        if let Some(previous) = self.nodes.get_mut(previous) {
            previous.next = next;
        }
        if let Some(next) = self.nodes.get_mut(next) {
            next.previous = previous;
        }
    }
}

/// One node for each run of one byte.
fn nodes_of(piece: &[u8]) -> Vec<Node> {
    let mut nodes = Vec::new();
    let mut start = 0;
    for run in piece.chunk_by(u8::eq) {
        let index = nodes.len();
        nodes.push(Node {
            start,
            token_len: 1,
            copies: run.len(),
            previous: index.checked_sub(1).unwrap_or(NONE),
            next: index + 1,
        });
        start += run.len();
    }
    if let Some(last) = nodes.last_mut() {
        last.next = NONE;
    }
    nodes
}
