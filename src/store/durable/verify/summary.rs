//! What a conversation's segments cover, and what they tell of.

use super::survey::Findings;
use crate::{
    domain::{Policy, Ranges, limits::MAX_SEGMENTS, segment::Segment},
    store::durable::records::StoredHead,
};

/// What the segments of one conversation come to.
#[derive(Default)]
pub(super) struct Told {
    /// The sequences that segments cover, and those that they have sentences of.
    covered: Ranges,
    pub(super) sentences: Ranges,
    tokens: u64,
    segments: usize,
}

impl Told {
    /// A segment has a number that was given out, covers what left the window and no other
    /// segment covers, and tells only of what it covers.
    pub(super) fn add(&mut self, segment: &Segment, head: &StoredHead, findings: &mut Findings<'_, '_>) {
        let (number, covers) = (segment.number, &segment.covers);
        let sentences: Ranges = segment.sentences.iter().map(|sentence| sentence.sequence).collect();
        let mut wrong = |what: &str, sequences: &Ranges| {
            if !sequences.is_empty() {
                findings.add(format_args!("segment {number} {what}: {sequences}"));
            }
        };
        wrong("covers what another segment covers too", &covers.intersection(&self.covered));
        wrong("covers what did not leave the window", &without(covers, &head.left));
        wrong("tells of what it does not cover", &without(&sentences, covers));
        if covers.is_empty() {
            findings.add(format_args!("segment {number} covers nothing"));
        }
        if number >= head.next_segment {
            findings.add(format_args!(
                "segment {number} has a number that the next ones get: from {}",
                head.next_segment
            ));
        }
        self.covered.union(covers);
        self.sentences.union(&sentences);
        self.tokens += u64::from(segment.tokens);
        self.segments += 1;
    }

    /// A segment that cannot be read.
    pub(super) fn pass(&mut self) {
        self.segments += 1;
    }

    /// The segments are all there.
    pub(super) fn check_count(&self, head: &StoredHead, findings: &mut Findings<'_, '_>) {
        if self.segments != head.segments as usize {
            findings.add(format_args!("of {} segments {} are there", head.segments, self.segments));
        }
    }

    /// The segments together are within their limits.
    pub(super) fn check(&self, policy: &Policy, findings: &mut Findings<'_, '_>) {
        if let Some(limit) = policy.summary_token_limit
            && self.tokens > u64::from(limit)
        {
            findings
                .add(format_args!("its summary has {} tokens; its policy lets it have {limit}", self.tokens));
        }
        if self.segments > MAX_SEGMENTS {
            findings
                .add(format_args!("its summary has {} segments; it may have {MAX_SEGMENTS}", self.segments));
        }
    }
}

fn without(all: &Ranges, known: &Ranges) -> Ranges {
    let mut rest = all.clone();
    rest.subtract(known);
    rest
}
