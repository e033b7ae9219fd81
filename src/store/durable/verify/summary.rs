//! What a conversation's segments cover, and what they tell of.

use super::{names::Moment, survey::Findings};
use crate::{
    domain::{Head, Policy, Ranges, Timestamp, limits::MAX_SEGMENTS, segment::Segment},
    store::durable::records::HeadRecord,
};

/// What the segments of one conversation come to.
#[derive(Default)]
pub(super) struct Told {
    /// The sequences that segments cover, and those that they have sentences of.
    covered: Ranges,
    pub(super) sentences: Ranges,
    tokens: u64,
    segments: usize,
    /// Since when the first of them waits for a model.
    since: Option<Timestamp>,
    unread: bool,
}

impl Told {
    /// A segment has a number that was given out, covers what left the window and no other
    /// segment covers, and tells only of what it covers.
    pub(super) fn add(&mut self, segment: &Segment, record: &HeadRecord, findings: &mut Findings<'_, '_>) {
        let number = segment.number;
        let sentences =
            check_shape(segment, &self.covered, &format!("segment {number}"), &record.head, findings);
        if number >= record.next_segment {
            findings.add(format_args!(
                "segment {number} has a number that the next ones get: from {}",
                record.next_segment
            ));
        }
        self.covered.union(&segment.covers);
        self.sentences.union(&sentences);
        self.tokens += u64::from(segment.tokens);
        self.segments += 1;
        let since = segment.awaits.as_ref().map(|awaits| awaits.since);
        self.since = self.since.into_iter().chain(since).min();
    }

    /// A segment that cannot be read.
    pub(super) fn pass(&mut self) {
        self.segments += 1;
        self.unread = true;
    }

    /// Not all segments can be read.
    pub(super) fn lose(&mut self) {
        self.unread = true;
    }

    /// Since when a segment waits for a model.
    pub(super) fn waits(&self) -> Moment {
        match self.since {
            _ if self.unread => Moment::Unknown,
            Some(since) => Moment::At(since),
            None => Moment::Never,
        }
    }

    /// The segments are all there.
    pub(super) fn check_count(&self, head: &HeadRecord, findings: &mut Findings<'_, '_>) {
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

/// A segment covers what left the window, and nothing of what is `covered`; it tells only of what it
/// covers. Answers of what it does.
pub(super) fn check_shape(
    segment: &Segment,
    covered: &Ranges,
    name: &str,
    head: &Head,
    findings: &mut Findings<'_, '_>,
) -> Ranges {
    let covers = &segment.covers;
    let sentences: Ranges = segment.sentences.iter().map(|sentence| sentence.sequence).collect();
    let retold = segment.retold.iter().map(|retold| &retold.from);
    let awaits = segment.awaits.iter().map(|awaits| &awaits.from);
    let said = Ranges::before(head.next);
    let mut wrong = |what: &str, sequences: &Ranges| {
        if !sequences.is_empty() {
            findings.add(format_args!("{name} {what}: {sequences}"));
        }
    };
    wrong("covers what another segment covers too", &covers.intersection(covered));
    wrong("covers what did not leave the window", &without(covers, &head.left));
    wrong("tells of what it does not cover", &without(&sentences, covers));
    retold.chain(awaits).for_each(|from| wrong("was told from what was not said", &without(from, &said)));
    if covers.is_empty() {
        findings.add(format_args!("{name} covers nothing"));
    }
    sentences
}

pub(super) fn without(all: &Ranges, known: &Ranges) -> Ranges {
    let mut rest = all.clone();
    rest.subtract(known);
    rest
}
