//! Cuts a long run of utterances into pieces that are summarised one by one.

use std::{
    ops::Range,
    sync::{Arc, LazyLock},
};

use rustc_hash::FxHashMap;

use crate::{Role, Utterance, extractive::concepts};

/// A run of fewer utterances stays whole.
const WHOLE: usize = 60;
/// The fewest utterances of a piece.
const LEAST: usize = 25;
/// The usual number of utterances of a piece.
const USUAL: usize = 50;
/// The most utterances of a piece, unless an exchange is longer.
const MOST: usize = 75;
/// The number of utterances on each side of a place that are compared.
const WINDOW: usize = 8;
/// Bytes of an utterance that are read to see what it is about.
const READ_BYTES: usize = 1 << 10;
/// Bytes of a call's arguments that are read.
const ARGUMENT_BYTES: usize = 256;

/// Bonus for a place before a user's utterance; a change of words counts at most 1.
const USER_BONUS: f64 = 0.3;
/// Bonus for a place where the work changes between planning, implementing and debugging.
const PHASE_BONUS: f64 = 0.6;
/// Penalty for a place as far from the usual length as a piece can be.
const DISTANCE_MALUS: f64 = 0.4;

/// Cuts a run of whole exchanges into pieces of 25 to 75 utterances.
///
/// - A run of fewer than 60 stays one piece. No exchange is split, so a piece with a long exchange is longer.
/// - A piece ends where the talk turns to something else: where the words after the place differ from those
///   before it, where a user begins, or where the work changes between planning, implementing and debugging;
///   of several such places, one that makes it about 50 long is preferred.
/// - Pure and linear.
pub(super) fn chunks(units: &[Arc<Utterance>]) -> Vec<Range<usize>> {
    let mut chunks = Vec::new();
    let mut start = 0;
    if units.len() >= WHOLE {
        let turns = turns(units);
        while units.len() - start >= WHOLE {
            let end = end(units, &turns, start);
            chunks.push(start..end);
            start = end;
        }
    }
    if start < units.len() {
        chunks.push(start..units.len());
    }
    chunks
}

/// Returns the end of the piece that begins at `start`.
fn end(units: &[Arc<Utterance>], turns: &[f64], start: usize) -> usize {
    let parts = |at: &usize| units[*at - 1].unit != units[*at].unit;
    let worth = |at: usize| {
        let distance = (at - start).abs_diff(USUAL) as f64 / (MOST - USUAL) as f64;
        turns[at] - DISTANCE_MALUS * distance
    };
    let last = (start + MOST).min(units.len() - LEAST);
    let near = (start + LEAST..=last).filter(parts);
    // of equals, the earlier
    let best = near.rev().max_by(|one, other| worth(*one).total_cmp(&worth(*other)));
    best.or_else(|| (last + 1..units.len()).find(parts)).unwrap_or(units.len())
}

/// How much the talk turns before each utterance.
fn turns(units: &[Arc<Utterance>]) -> Vec<f64> {
    let read: Vec<Read> = units.iter().map(|utterance| Read::of(utterance)).collect();
    let mut view = View::default();
    read[..WINDOW.min(read.len())].iter().for_each(|behind| view.shift(behind, Side::Behind, 1));
    let turn = |at: usize| {
        let user = if units[at].role == Role::User { USER_BONUS } else { 0.0 };
        let turn = view.turn() + user;
        view.shift(&read[at], Side::Behind, -1);
        view.shift(&read[at], Side::Before, 1);
        if at >= WINDOW {
            view.shift(&read[at - WINDOW], Side::Before, -1);
        }
        if let Some(next) = read.get(at + WINDOW) {
            view.shift(next, Side::Behind, 1);
        }
        turn
    };
    (0..units.len()).map(turn).collect()
}

/// What an utterance is about.
struct Read {
    /// Distinct words.
    concepts: Vec<u32>,
    /// Whether each phase shows.
    phases: [bool; 3],
}

impl Read {
    fn of(utterance: &Utterance) -> Self {
        let mut read = Self { concepts: Vec::new(), phases: [false; 3] };
        if !utterance.is_live() {
            return read;
        }
        if utterance.role != Role::Tool {
            read.text(clip(&utterance.content, READ_BYTES));
        }
        for call in utterance.tool_calls() {
            concepts(clip(&call.arguments_json, ARGUMENT_BYTES), |concept| read.concepts.push(concept));
            read.phases[IMPLEMENTING] |=
                EDITS.iter().any(|edit| call.name.to_ascii_lowercase().contains(edit));
        }
        read.concepts.sort_unstable();
        read.concepts.dedup();
        read
    }

    fn text(&mut self, text: &str) {
        concepts(text, |concept| {
            self.concepts.push(concept);
            if let Some(phase) = PHASES.get(&concept) {
                self.phases[*phase] = true;
            }
        });
    }
}

const IMPLEMENTING: usize = 1;
/// The phase that a word shows: planning, implementing or debugging.
static PHASES: LazyLock<FxHashMap<u32, usize>> = LazyLock::new(|| {
    let words = [
        "plan planning design roadmap approach milestone phase scope",
        "implement implemented implementing implementation write wrote add added create",
        "bug debug debugging error fail failed failing crash traceback",
    ];
    let mut phases = FxHashMap::default();
    for (phase, words) in words.iter().enumerate() {
        concepts(words, |concept| phases.extend([(concept, phase)]));
    }
    phases
});
/// Parts of the names of tools that change files.
const EDITS: [&str; 5] = ["edit", "write", "create", "replace", "patch"];

#[derive(Clone, Copy)]
enum Side {
    Before,
    Behind,
}

/// What comes before a place and after it.
#[derive(Default)]
struct View {
    /// For each concept, the number of utterances with it on either side.
    counts: FxHashMap<u32, [i64; 2]>,
    /// The sum of the products of both sides' counts.
    products: i64,
    /// The sum of the squares of each side's counts.
    squares: [i64; 2],
    /// For each phase, the number of utterances that show it on either side.
    phases: [[i64; 2]; 3],
}

impl View {
    /// Adds an utterance to one side, or removes it.
    fn shift(&mut self, read: &Read, side: Side, by: i64) {
        let (own, other) = (side as usize, 1 - side as usize);
        for concept in &read.concepts {
            let counts = self.counts.entry(*concept).or_default();
            self.squares[own] += 2 * by * counts[own] + 1;
            self.products += by * counts[other];
            counts[own] += by;
        }
        for (counts, shows) in self.phases.iter_mut().zip(read.phases) {
            counts[own] += if shows { by } else { 0 };
        }
    }

    /// How different the two sides are.
    fn turn(&self) -> f64 {
        let lengths = (self.squares[0] as f64).sqrt() * (self.squares[1] as f64).sqrt();
        let likeness = if lengths > 0.0 { self.products as f64 / lengths } else { 1.0 };
        let (before, behind) = (self.phase(Side::Before), self.phase(Side::Behind));
        let changes = before.is_some() && behind.is_some() && before != behind;
        1.0 - likeness + if changes { PHASE_BONUS } else { 0.0 }
    }

    /// The phase that shows most, if at least a quarter of the utterances show it.
    fn phase(&self, side: Side) -> Option<usize> {
        let count = |phase: &usize| self.phases[*phase][side as usize];
        let most = (0..self.phases.len()).rev().max_by_key(count)?;
        (count(&most) >= WINDOW as i64 / 4).then_some(most)
    }
}

/// The first `limit` bytes, or a little less.
fn clip(text: &str, limit: usize) -> &str {
    &text[..text.floor_char_boundary(limit)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{More, Sequence, ToolCall, testing::said};

    fn talk(lines: impl IntoIterator<Item = String>) -> Vec<Arc<Utterance>> {
        let role = |sequence| if sequence % 2 == 1 { Role::User } else { Role::Assistant };
        let said = |(line, sequence): (String, u64)| Arc::new(said(sequence, role(sequence), &line));
        lines.into_iter().zip(1..).map(said).collect()
    }

    fn about(topic: &str, count: usize) -> impl Iterator<Item = String> {
        (0..count).map(move |number| format!("{topic} {number}"))
    }

    #[test]
    fn a_short_run_stays_whole() {
        assert!(chunks(&[]).is_empty());
        let whole = 0..59;
        assert_eq!(chunks(&talk(about("flights to Paris", 59))), [whole]);
    }

    #[test]
    fn a_piece_ends_where_the_topic_does() {
        for first in [44, 50, 56, 60] {
            let lines = about("flights to Paris, hotels and museums", first)
                .chain(about("the garden, its roses and the watering", 100 - first));
            assert_eq!(chunks(&talk(lines)), [0..first, first..100], "{first}");
        }
    }

    /// Seed 004: planning, implementation, debugging.
    #[test]
    fn phases_of_work_are_pieces() {
        let lines = about("Our plan for the store, its scope and its design", 46)
            .chain(about("I implement the store and write its module", 52))
            .chain(about("The store fails: debug this error", 48));
        assert_eq!(chunks(&talk(lines)), [0..46, 46..98, 98..146]);
    }

    #[test]
    fn an_exchange_is_never_parted() {
        let mut units = talk(about("reading the file", 200));
        let call = ToolCall { id: "1".into(), name: "read".into(), arguments_json: "{}".into() };
        for (at, utterance) in units.iter_mut().enumerate() {
            let utterance = Arc::make_mut(utterance);
            utterance.unit = Sequence(at as u64 / 90 * 90 + 1);
            utterance.role = if at % 90 == 0 { Role::Assistant } else { Role::Tool };
            utterance.more = Some(Box::new(More { tool_calls: vec![call.clone()], ..More::default() }));
        }
        assert_eq!(chunks(&units), [0..90, 90..180, 180..200]);
    }

    #[test]
    fn pieces_are_neither_short_nor_long() {
        for count in [60, 74, 75, 99, 100, 101, 333, 1_000] {
            let pieces = chunks(&talk(about("one and the same matter", count)));
            assert_eq!(pieces.first().map(|piece| piece.start), Some(0));
            assert_eq!(pieces.last().map(|piece| piece.end), Some(count));
            assert!(pieces.windows(2).all(|pair| pair[0].end == pair[1].start));
            assert!(pieces.iter().all(|piece| (LEAST..=MOST).contains(&piece.len())), "{count}: {pieces:?}");
        }
    }
}
