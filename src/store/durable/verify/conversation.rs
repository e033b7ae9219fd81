//! Checks the conversations one by one: the records under their lineages.

use std::sync::Arc;

use super::{
    forked::Forked,
    found::Found,
    lineages::Lineages,
    names::{Known, Moment, Names},
    stream::{AnyStream, Stream},
    survey::{Findings, Survey},
};
use crate::{
    domain::{
        Ending, Head, LineageId, Sequence, Timestamp, Utterance, check::Check, compaction::Compaction,
        segment::Segment,
    },
    store::{
        durable::records::{
            BlockLists, Blocks, Compactions, Descriptions, Endings, GivenIds, HeadRecord, Heads, Policies,
            Segments, StateValues, Utterances,
        },
        listing::span_of,
    },
};

/// The kinds whose keys begin with a lineage, read in parallel.
struct Streams<'a> {
    heads: Stream<'a, Heads>,
    policies: Stream<'a, Policies>,
    descriptions: Stream<'a, Descriptions>,
    endings: Stream<'a, Endings>,
    segments: Stream<'a, Segments>,
    compactions: Stream<'a, Compactions>,
    utterances: Stream<'a, Utterances>,
    given_ids: Stream<'a, GivenIds>,
    blocks: Stream<'a, Blocks>,
    block_lists: Stream<'a, BlockLists>,
    state_values: Stream<'a, StateValues>,
}

/// Checks that each record of a lineage belongs to a conversation and fits its other records, and that each
/// conversation has a head and a policy.
pub(super) fn check_all(survey: &mut Survey<'_>, names: &mut Names, lineages: &Lineages) {
    let mut streams = Streams::open(survey);
    while let Some(lineage) = streams.next_lineage() {
        streams.all().into_iter().for_each(|stream| stream.resume(lineage, survey));
        match names.of(lineage) {
            Some(known) => {
                known.met = true;
                check(known, &mut streams, lineages, survey);
            }
            None => check_shared(lineage, &mut streams, lineages, survey),
        }
        streams.orphans(lineage, names.complete && lineages.complete, survey);
    }
    let heads_are_known = !streams.heads.is_broken();
    for known in names.iter().filter(|known| !known.met && heads_are_known) {
        survey.problem(known.subject(), "it has no head");
    }
}

fn check<'a>(known: &mut Known, streams: &mut Streams<'a>, lineages: &Lineages, survey: &mut Survey<'a>) {
    let lineage = known.identity.lineage;
    let head = streams.heads.one(lineage, survey);
    let policy = streams.policies.one(lineage, survey);
    check_values(known, streams, survey);
    streams.blocks.pass(lineage, survey);
    streams.block_lists.pass(lineage, survey);
    check_shared(lineage, streams, lineages, survey);
    let ending = streams.endings.one(lineage, survey);
    known.ended = match &ending {
        Found::There(ending) => Moment::At(ending.time),
        Found::Missing => Moment::Never,
        Found::Unreadable => Moment::Unknown,
    };
    let segments = streams.segments.all(lineage, survey);
    let compactions = streams.compactions.all(lineage, survey);
    let mut findings = Findings { survey, subject: known.subject() };
    let head = findings.there(head, "it has no head");
    let policy = findings.there(policy, "it has no policy");
    if let Some(record) = &head {
        known.updated = Moment::At(span_of(record.head.update_time));
    }
    if let (Some(record), Some(policy)) = (&head, &policy) {
        known.expiry = match policy.expire_after {
            Some(after) => Moment::At(record.head.update_time.plus(after)),
            None => Moment::Never,
        };
    }
    if let (Some(segments), Some(closing)) = (&segments, closing_awaits(&ending)) {
        let awaited = segments.iter().filter_map(|segment| Some(segment.awaits.as_ref()?.since));
        known.waits = awaited.chain(closing).min().map_or(Moment::Never, Moment::At);
    }
    match (head, policy, segments, compactions) {
        (Some(record), Some(policy), Some(segments), Some(compactions)) => {
            let record = HeadRecord { head: Head { policy, ..record.head }, ..record };
            check_state(&record, &segments, &compactions, streams, &mut findings);
        }
        // Without these records, the rest cannot be checked.
        _ => {
            streams.utterances.pass(lineage, findings.survey);
            streams.given_ids.pass(lineage, findings.survey);
        }
    }
}

/// Checks that a conversation's state values are those its description lists.
fn check_values<'a>(known: &Known, streams: &mut Streams<'a>, survey: &mut Survey<'a>) {
    let lineage = known.identity.lineage;
    let told = match streams.descriptions.one(lineage, survey) {
        Found::There(description) => description.state,
        Found::Missing => Default::default(),
        Found::Unreadable => {
            streams.state_values.pass(lineage, survey);
            return;
        }
    };
    let mut found = Vec::new();
    while let Some((_, value)) = streams.state_values.take(lineage, survey) {
        found.extend(value.map(|value| value.entry()));
    }
    found.sort_by(|one, other| one.name.cmp(&other.name));
    if *told != *found && !streams.state_values.is_broken() {
        let what =
            format_args!("its {} state values are not the {} in its description", found.len(), told.len());
        survey.problem(known.subject(), what);
    }
}

/// Returns since when the closing has been waiting for a model, if it is; `None` if unknown.
fn closing_awaits(ending: &Found<Ending>) -> Option<Option<Timestamp>> {
    match ending {
        Found::There(ending) => Some(ending.awaits),
        Found::Missing => Some(None),
        Found::Unreadable => None,
    }
}

/// Checks that a conversation's records are complete and form a state that the rules can produce.
fn check_state<'a>(
    record: &HeadRecord,
    segments: &[Arc<Segment>],
    compactions: &[Arc<Compaction>],
    streams: &mut Streams<'a>,
    findings: &mut Findings<'_, 'a>,
) {
    if segments.len() != record.segments as usize {
        findings.add(format_args!("it has {1} segments instead of {0}", record.segments, segments.len()));
    }
    let mut check = Check::of(&record.head, segments, record.next_segment, compactions);
    let all_were_read = match record.head.is_forked() {
        true => check_forked(&record.head, &mut check, findings.survey),
        false => streams.check_said(record.head.identity.lineage, findings, |_, sequence, utterance| {
            add(&mut check, sequence, utterance);
        }),
    };
    if all_were_read {
        check.done().into_iter().for_each(|wrong| findings.add(wrong));
    }
}

/// Checks what a conversation reads from several lineages; returns whether all of it could be read.
fn check_forked(head: &Head, check: &mut Check<'_>, survey: &Survey<'_>) -> bool {
    let mut forked = Forked::open(head, survey);
    while let Some((sequence, utterance)) = forked.next() {
        add(check, sequence, utterance.as_ref());
    }
    !forked.is_broken()
}

fn add(check: &mut Check<'_>, sequence: Sequence, utterance: Option<&Utterance>) {
    match utterance {
        Some(utterance) => check.utterance(utterance),
        None => check.unreadable(sequence),
    }
}

/// Checks a lineage that several conversations may read: some conversation has each utterance, and the ids
/// that clients gave lead to their utterances.
fn check_shared<'a>(
    lineage: LineageId,
    streams: &mut Streams<'a>,
    lineages: &Lineages,
    survey: &mut Survey<'a>,
) {
    if !lineages.holds(lineage) {
        return;
    }
    let mut findings = Findings { survey, subject: format!("lineage {lineage}") };
    streams.check_said(lineage, &mut findings, |findings, sequence, _| {
        lineages.check(lineage, sequence, findings);
    });
}

impl<'a> Streams<'a> {
    fn open(survey: &mut Survey<'a>) -> Self {
        Self {
            heads: Stream::open(survey),
            policies: Stream::open(survey),
            descriptions: Stream::open(survey),
            endings: Stream::open(survey),
            segments: Stream::open(survey),
            compactions: Stream::open(survey),
            utterances: Stream::open(survey),
            given_ids: Stream::open(survey),
            blocks: Stream::open(survey),
            block_lists: Stream::open(survey),
            state_values: Stream::open(survey),
        }
    }

    fn all(&mut self) -> [&mut dyn AnyStream<'a>; 11] {
        [
            &mut self.heads,
            &mut self.policies,
            &mut self.descriptions,
            &mut self.endings,
            &mut self.segments,
            &mut self.compactions,
            &mut self.utterances,
            &mut self.given_ids,
            &mut self.blocks,
            &mut self.block_lists,
            &mut self.state_values,
        ]
    }

    /// Returns the next lineage with a record of any kind.
    fn next_lineage(&mut self) -> Option<LineageId> {
        self.all().into_iter().filter_map(|stream| stream.lineage()).min()
    }

    /// Passes each utterance stored in a lineage to `each`, and checks that the ids that clients gave lead to
    /// their utterances. Returns whether all could be read.
    fn check_said<'f>(
        &mut self,
        lineage: LineageId,
        findings: &mut Findings<'f, 'a>,
        mut each: impl FnMut(&mut Findings<'f, 'a>, Sequence, Option<&Utterance>),
    ) -> bool {
        while let Some(((_, sequence), utterance)) = self.utterances.take(lineage, findings.survey) {
            if let Some(id) = utterance.as_ref().and_then(Utterance::given_id) {
                findings.check_named(lineage, sequence, id);
            }
            each(findings, sequence, utterance.as_ref());
        }
        while let Some(((_, id), sequence)) = self.given_ids.take(lineage, findings.survey) {
            sequence.into_iter().for_each(|sequence| findings.check_entry(lineage, &id, sequence));
        }
        !self.utterances.is_broken()
    }

    /// Reports that the remaining records of a lineage belong to no conversation, if that is certain: they
    /// might belong to one whose name cannot be read.
    fn orphans(&mut self, lineage: LineageId, certain: bool, survey: &mut Survey<'a>) {
        for stream in self.all() {
            let (name, count) = (stream.name(), stream.pass(lineage, survey));
            if certain && count > 0 {
                let what = format_args!("without a conversation: {count} of the kind {name:?}");
                survey.problem(format_args!("lineage {lineage}"), what);
            }
        }
    }
}
