//! What segments cover and say, and what compactions folded.

use std::sync::Arc;

use crate::{Head, Ranges, compaction::Compaction, extract::Kind, limits::MAX_SEGMENTS, segment::Segment};

/// Checks that a segment has a number that was assigned; that it covers utterances that left the window and
/// that no other segment covers, or was imported and covers none; and that it tells only of
/// utterances that it covers. All segments together must be within their limits. Returns the sequences that
/// it tells of.
pub(super) fn check(
    head: &Head,
    segments: &[Arc<Segment>],
    next_segment: u32,
    wrong: &mut Vec<String>,
) -> Ranges {
    let (mut covered, mut told) = (Ranges::new(), Ranges::new());
    for segment in segments {
        let number = segment.number;
        told.union(&check_segment(segment, &mut covered, &format!("segment {number}"), head, wrong));
        if number >= next_segment {
            wrong.push(format!(
                "segment {number} has a number that was not given out yet: the next is {next_segment}"
            ));
        }
    }
    let tokens: u64 = segments.iter().map(|segment| u64::from(segment.tokens)).sum();
    if let Some(limit) = head.policy.summary_token_limit.filter(|limit| tokens > u64::from(*limit)) {
        wrong.push(format!("its summary has {tokens} tokens; its policy allows {limit}"));
    }
    if segments.len() > MAX_SEGMENTS {
        let count = segments.len();
        wrong.push(format!("its summary has {count} segments; accepted: at most {MAX_SEGMENTS}"));
    }
    told
}

/// Checks that compactions are numbered consecutively up to the last one made; that each was made by a
/// revision that exists; that the utterances of each are still out of the window, unless it was undone; and
/// that the segments it folded cover only utterances that had left before. Returns the sequences
/// that these segments tell of.
pub(super) fn check_compactions(
    head: &Head,
    compactions: &[Arc<Compaction>],
    wrong: &mut Vec<String>,
) -> Ranges {
    let (mut told, mut newest) = (Ranges::new(), None);
    for compaction in compactions {
        let number = compaction.number;
        if let Some(missing) = newest.map(|newest: u32| newest + 1).filter(|next| *next != number) {
            wrong.push(format!("compaction {missing} is missing"));
        }
        newest = Some(number);
        if number >= head.next_compaction {
            let next = head.next_compaction;
            wrong.push(format!(
                "compaction {number} has a number that was not given out yet: the next is {next}"
            ));
        }
        told.union(&check_compaction(compaction, head, wrong));
    }
    let last = head.next_compaction.saturating_sub(1);
    if last > newest.unwrap_or(0) {
        wrong.push(format!("compaction {last} is missing"));
    }
    told
}

fn check_compaction(compaction: &Compaction, head: &Head, wrong: &mut Vec<String>) -> Ranges {
    let number = compaction.number;
    if compaction.revision > head.revision {
        let (made, revision) = (compaction.revision.0, head.revision.0);
        wrong.push(format!(
            "compaction {number} was made by revision {made}, but its head is at revision {revision}"
        ));
    }
    let live = without(&compaction.compacted, &head.left);
    if compaction.undone.is_none() && !live.is_empty() {
        wrong.push(format!("compaction {number} compacted what did not leave the window: {live}"));
    }
    let (mut covered, mut told) = (Ranges::new(), Ranges::new());
    for segment in compaction.folded.iter().flat_map(|folded| folded.iter()) {
        let name = format!("segment {} that compaction {number} folded", segment.number);
        told.union(&check_segment(segment, &mut covered, &name, head, wrong));
    }
    told
}

/// Adds what the segment covers to `covered`; returns the sequences that it tells of.
fn check_segment(
    segment: &Segment,
    covered: &mut Ranges,
    name: &str,
    head: &Head,
    wrong: &mut Vec<String>,
) -> Ranges {
    let covers = &segment.covers;
    let mut told = segment.known();
    told.union(&segment.own_told());
    let is_unsaid = segment.items.iter().all(|item| item.kind == Kind::Quoted) && told.is_empty();
    let llm_text = segment.llm_text.iter().map(|text| &text.from);
    let awaits = segment.awaits.iter().map(|awaits| &awaits.from);
    let said = Ranges::before(head.next);
    let mut none = |what: &str, sequences: &Ranges| {
        if !sequences.is_empty() {
            wrong.push(format!("{name} {what}: {sequences}"));
        }
    };
    none("covers what another segment covers too", &covers.intersection(covered));
    none("covers what did not leave the window", &without(covers, &head.left));
    none("has text from what it does not cover", &without(&told, covers));
    llm_text.chain(awaits).for_each(|from| none("was written from what was not said", &without(from, &said)));
    if !segment.stands() {
        wrong.push(format!("{name} covers nothing"));
    }
    if segment.imported.is_some() && !(covers.is_empty() && is_unsaid) {
        wrong.push(format!("{name} was imported, but has text from what was said here"));
    }
    covered.union(covers);
    told
}

fn without(all: &Ranges, known: &Ranges) -> Ranges {
    let mut rest = all.clone();
    rest.subtract(known);
    rest
}
