//! Byte-pair encoding of pieces that are mostly runs of one byte: rulers, indentation, padding.
//!
//! The vocabularies hold dozens of tokens of one repeated character (spaces, `-`, `=`), and the
//! usual algorithms try them all at each position. Here a run of equal tokens is one node, and
//! merging its pairs is one step, so a run costs the logarithm of its length.
//!
//! Byte-pair encoding repeatedly merges the pair of the lowest rank, the leftmost first, until
//! none is left. All pairs of a rank can be merged in one sweep, since no merge creates a pair of
//! the same or a lower rank. That holds for vocabularies in which each token encodes to itself,
//! as in OpenAI's.

use std::{collections::BTreeMap, ops::Range};

use super::ranks::{NO_RANK, Ranks};

/// Pieces up to this length, in bytes, are cheap with any algorithm.
const SHORT: usize = 64;

/// The least length of a run, in bytes.
const RUN: usize = 8;

/// Whether the piece is long, and at least two fifths of it are runs of one byte. With fewer runs, the many nodes cost
/// more than the usual algorithm.
pub(super) fn suits(piece: &[u8]) -> bool {
    if piece.len() <= SHORT {
        return false;
    }
    let runs = piece.chunk_by(u8::eq).map(<[u8]>::len);
    let in_runs: usize = runs.filter(|&len| len >= RUN).sum();
    5 * in_runs >= 2 * piece.len()
}

/// Returns the number of tokens of a piece.
pub(super) fn count(ranks: &Ranks, piece: &[u8]) -> usize {
    merged(ranks, piece).nodes.iter().map(|node| node.copies).sum()
}

/// Fills `ends` with the ends of the tokens of a part of `piece`.
pub(super) fn encode(ranks: &Ranks, piece: &[u8], part: Range<usize>, ends: &mut Vec<usize>) {
    ends.clear();
    for node in merged(ranks, &piece[part.clone()]).nodes {
        let each = 1..=node.copies;
        ends.extend(each.map(|copy| part.start + node.start + copy * node.token_len));
    }
    // The nodes are in the order of their creation, not of their place in the piece.
    ends.sort_unstable();
}

fn merged<'a>(ranks: &'a Ranks, piece: &'a [u8]) -> Merging<'a> {
    let mut merging = Merging::new(ranks, piece);
    merging.run();
    merging
}

/// The missing neighbour of the first and the last node.
const NO_NODE: usize = usize::MAX;

/// `copies` equal tokens in a row. Neighbours hold different tokens. A node without copies has
/// left the list.
struct Node {
    start: usize,
    token_len: usize,
    copies: usize,
    previous: usize,
    next: usize,
    /// The rank of a pair of its tokens.
    rank_within: u32,
    /// The rank of the pair of its last token and the first token of the next node.
    rank_across: u32,
}

impl Node {
    /// A node outside any list.
    fn new(start: usize, token_len: usize, copies: usize) -> Self {
        Self {
            start,
            token_len,
            copies,
            previous: NO_NODE,
            next: NO_NODE,
            rank_within: NO_RANK,
            rank_across: NO_RANK,
        }
    }

    fn end(&self) -> usize {
        self.start + self.token_len * self.copies
    }
}

struct Merging<'a> {
    ranks: &'a Ranks,
    piece: &'a [u8],
    nodes: Vec<Node>,
    /// For each rank, the nodes that have had a pair of it.
    queue: BTreeMap<u32, Vec<usize>>,
}

impl<'a> Merging<'a> {
    fn new(ranks: &'a Ranks, piece: &'a [u8]) -> Self {
        let mut merging = Self { ranks, piece, nodes: nodes_of(piece), queue: BTreeMap::new() };
        for node in 0..merging.nodes.len() {
            merging.enqueue(node);
        }
        merging
    }

    fn run(&mut self) {
        while let Some((rank, mut nodes)) = self.queue.pop_first() {
            nodes.sort_by_key(|&node| self.nodes[node].start);
            for node in nodes {
                if self.nodes[node].rank_within == rank {
                    self.merge_within(node);
                } else if self.nodes[node].rank_across == rank {
                    self.merge_across(node);
                }
            }
        }
    }

    /// Merges the node's tokens two by two; an odd one stays after them.
    fn merge_within(&mut self, node: usize) {
        let n = &mut self.nodes[node];
        let (end, token_len, odd) = (n.end(), n.token_len, n.copies % 2);
        n.token_len *= 2;
        n.copies /= 2;
        if odd == 1 {
            let rest = self.insert_after(node, end - token_len, token_len);
            self.enqueue(rest);
        }
        self.settle(node);
    }

    /// Merges the node's last token with the first token of the next node.
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
        self.enqueue(next);
        self.settle(merged);
    }

    /// Joins a changed node with neighbours that now hold the same token, and queues its pairs.
    fn settle(&mut self, node: usize) {
        let previous = self.nodes[node].previous;
        self.join_next(node);
        let node = if self.join_next(previous) { previous } else { node };
        self.enqueue(self.nodes[node].previous);
        self.enqueue(node);
    }

    fn join_next(&mut self, node: usize) -> bool {
        let Some(n) = self.nodes.get(node) else { return false };
        let next = n.next;
        let Some(m) = self.nodes.get(next) else { return false };
        let copies = m.copies;
        if self.token(n) != self.token(m) {
            return false;
        }
        self.nodes[next].copies = 0;
        self.unlink_if_empty(next);
        self.nodes[node].copies += copies;
        true
    }

    fn token(&self, node: &Node) -> &[u8] {
        &self.piece[node.start..node.start + node.token_len]
    }

    /// Computes the ranks of the node's pairs, and queues the node under those that are new.
    fn enqueue(&mut self, node: usize) {
        let Some(n) = self.nodes.get(node) else { return };
        let ranks = [self.rank_within(n), self.rank_across(n)];
        let known = [n.rank_within, n.rank_across];
        for (rank, known) in ranks.into_iter().zip(known) {
            if rank != known && rank != NO_RANK {
                self.queue.entry(rank).or_default().push(node);
            }
        }
        [self.nodes[node].rank_within, self.nodes[node].rank_across] = ranks;
    }

    fn rank_within(&self, node: &Node) -> u32 {
        let pair = node.start..node.start + 2 * node.token_len;
        if node.copies >= 2 { self.ranks.rank(&self.piece[pair]) } else { NO_RANK }
    }

    fn rank_across(&self, node: &Node) -> u32 {
        match self.nodes.get(node.next) {
            Some(next) if node.copies >= 1 => {
                let pair = node.end() - node.token_len..next.start + next.token_len;
                self.ranks.rank(&self.piece[pair])
            }
            _ => NO_RANK,
        }
    }

    /// Inserts a node of one token after `node`.
    fn insert_after(&mut self, node: usize, start: usize, token_len: usize) -> usize {
        let inserted = self.nodes.len();
        let next = self.nodes[node].next;
        self.nodes.push(Node { previous: node, next, ..Node::new(start, token_len, 1) });
        self.nodes[node].next = inserted;
        if let Some(next) = self.nodes.get_mut(next) {
            next.previous = inserted;
        }
        inserted
    }

    fn unlink_if_empty(&mut self, node: usize) {
        let n = &mut self.nodes[node];
        if n.copies > 0 {
            return;
        }
        [n.rank_within, n.rank_across] = [NO_RANK; 2];
        let (previous, next) = (n.previous, n.next);
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
    let mut nodes: Vec<Node> = Vec::new();
    for run in piece.chunk_by(u8::eq) {
        let start = nodes.last().map_or(0, Node::end);
        let previous = nodes.len().checked_sub(1).unwrap_or(NO_NODE);
        let next = nodes.len() + 1;
        nodes.push(Node { previous, next, ..Node::new(start, 1, run.len()) });
    }
    if let Some(last) = nodes.last_mut() {
        last.next = NO_NODE;
    }
    nodes
}
