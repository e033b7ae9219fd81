//! One conversation after another: what is stored under its lineage.

use std::sync::Arc;

use super::{
    forked::Forked,
    found::Found,
    given_ids,
    lineages::Lineages,
    names::{Known, Moment, Names},
    stream::Stream,
    survey::{Findings, Survey},
};
use crate::{
    domain::{Head, LineageId, Sequence, Utterance, check::Check, compaction::Compaction, segment::Segment},
    store::durable::records::{
        Compactions, Descriptions, Endings, GivenIds, HeadRecord, Heads, Kind, Policies, Segments, Utterances,
    },
};

/// The kinds whose keys begin with a lineage, side by side.
struct Streams<'a> {
    heads: Stream<'a, Heads>,
    policies: Stream<'a, Policies>,
    descriptions: Stream<'a, Descriptions>,
    endings: Stream<'a, Endings>,
    segments: Stream<'a, Segments>,
    compactions: Stream<'a, Compactions>,
    utterances: Stream<'a, Utterances>,
    given_ids: Stream<'a, GivenIds>,
}

/// Each record that is of a lineage is of a conversation, and fits its other records; each
/// conversation has a head and a policy.
pub(super) fn check_all(survey: &mut Survey<'_>, names: &mut Names, lineages: &Lineages) {
    let mut streams = Streams::open(survey);
    while let Some(lineage) = streams.next_lineage() {
        streams.resume(lineage, survey);
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
    streams.descriptions.pass(lineage, survey);
    check_shared(lineage, streams, lineages, survey);
    if let Found::There(ending) = streams.endings.one(lineage, survey) {
        known.ended = Some(ending.time);
    }
    let (count, segments) = streams.segments.all(lineage, survey);
    survey.report.segments += count;
    let (_, compactions) = streams.compactions.all(lineage, survey);
    let mut findings = Findings { survey, subject: known.subject() };
    let head = findings.there(head, "it has no head");
    let policy = findings.there(policy, "it has no policy");
    if let (Some(record), Some(policy)) = (&head, &policy) {
        known.expiry = match policy.expire_after {
            Some(after) => Moment::At(record.head.update_time.plus(after)),
            None => Moment::Never,
        };
    }
    if let Some(segments) = &segments {
        let since = segments.iter().filter_map(|segment| Some(segment.awaits.as_ref()?.since)).min();
        known.waits = since.map_or(Moment::Never, Moment::At);
    }
    match (head, policy, segments, compactions) {
        (Some(record), Some(policy), Some(segments), Some(compactions)) => {
            let record = HeadRecord { head: Head { policy, ..record.head }, ..record };
            check_state(&record, &segments, &compactions, streams, &mut findings);
        }
        // What is wrong with the rest cannot be told without them.
        _ => drop(streams.pass(lineage, findings.survey)),
    }
}

/// The records of a conversation are all there, and what they come to is a state that the rules make.
fn check_state<'a>(
    record: &HeadRecord,
    segments: &[Arc<Segment>],
    compactions: &[Arc<Compaction>],
    streams: &mut Streams<'a>,
    findings: &mut Findings<'_, 'a>,
) {
    if segments.len() != record.segments as usize {
        findings.add(format_args!("of {} segments {} are there", record.segments, segments.len()));
    }
    let mut check = Check::of(&record.head, segments, record.next_segment, compactions);
    let all_were_read = match record.head.is_forked() {
        true => check_forked(&record.head, &mut check, findings.survey),
        false => streams.check_said(record.head.identity.lineage, &mut check, findings),
    };
    if all_were_read {
        check.done().into_iter().for_each(|wrong| findings.add(wrong));
    }
}

/// What a conversation reads out of several lineages; answers whether all could be read.
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

/// What is stored in a lineage that several conversations may read: somebody has each utterance, and
/// the ids that clients gave lead to theirs.
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
    let mut named = given_ids::Ids::default();
    while let Some(((_, sequence), utterance)) = streams.utterances.take(lineage, findings.survey) {
        findings.survey.report.utterances += 1;
        lineages.check(lineage, sequence, &mut findings);
        if let Some(id) = utterance.as_ref().and_then(Utterance::given_id) {
            named.add(id, sequence);
        }
    }
    streams.check_ids(lineage, &named, &mut findings);
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
        }
    }

    /// The next lineage of which there is a record of any kind.
    fn next_lineage(&self) -> Option<LineageId> {
        let next = [
            self.heads.lineage(),
            self.policies.lineage(),
            self.descriptions.lineage(),
            self.endings.lineage(),
            self.segments.lineage(),
            self.compactions.lineage(),
            self.utterances.lineage(),
            self.given_ids.lineage(),
        ];
        next.into_iter().flatten().min()
    }

    fn resume(&mut self, lineage: LineageId, survey: &mut Survey<'a>) {
        self.heads.resume(lineage, survey);
        self.policies.resume(lineage, survey);
        self.descriptions.resume(lineage, survey);
        self.endings.resume(lineage, survey);
        self.segments.resume(lineage, survey);
        self.compactions.resume(lineage, survey);
        self.utterances.resume(lineage, survey);
        self.given_ids.resume(lineage, survey);
    }

    /// What is stored of what was said in a conversation that has its lineage alone; answers whether all
    /// could be read.
    fn check_said(
        &mut self,
        lineage: LineageId,
        check: &mut Check<'_>,
        findings: &mut Findings<'_, 'a>,
    ) -> bool {
        let mut named = given_ids::Ids::default();
        while let Some(((_, sequence), utterance)) = self.utterances.take(lineage, findings.survey) {
            findings.survey.report.utterances += 1;
            if let Some(id) = utterance.as_ref().and_then(Utterance::given_id) {
                named.add(id, sequence);
            }
            add(check, sequence, utterance.as_ref());
        }
        let all_were_read = !self.utterances.is_broken();
        self.check_ids(lineage, &named, findings);
        all_were_read
    }

    /// The ids that clients gave in a lineage are those of its utterances.
    fn check_ids(&mut self, lineage: LineageId, named: &given_ids::Ids, findings: &mut Findings<'_, 'a>) {
        let mut ids = given_ids::Ids::default();
        while let Some(((_, id), sequence)) = self.given_ids.take(lineage, findings.survey) {
            sequence.into_iter().for_each(|sequence| ids.add(&id, sequence));
        }
        if ids != *named && !self.given_ids.is_broken() {
            given_ids::compare(lineage, findings);
        }
    }

    /// Passes over what may be any number.
    fn pass(&mut self, lineage: LineageId, survey: &mut Survey<'a>) -> [u64; 4] {
        let segments = self.segments.pass(lineage, survey);
        let utterances = self.utterances.pass(lineage, survey);
        survey.report.segments += segments;
        survey.report.utterances += utterances;
        let compactions = self.compactions.pass(lineage, survey);
        [segments, compactions, utterances, self.given_ids.pass(lineage, survey)]
    }

    /// Notes that what is stored under a lineage is of no conversation, unless that may be one
    /// whose name cannot be read.
    fn orphans(&mut self, lineage: LineageId, certain: bool, survey: &mut Survey<'a>) {
        let [heads, policies, descriptions, endings] = [
            self.heads.pass(lineage, survey),
            self.policies.pass(lineage, survey),
            self.descriptions.pass(lineage, survey),
            self.endings.pass(lineage, survey),
        ];
        let [segments, compactions, utterances, given_ids] = self.pass(lineage, survey);
        let orphans = [
            (Heads::NAME, heads),
            (Policies::NAME, policies),
            (Descriptions::NAME, descriptions),
            (Endings::NAME, endings),
            (Segments::NAME, segments),
            (Compactions::NAME, compactions),
            (Utterances::NAME, utterances),
            (GivenIds::NAME, given_ids),
        ];
        for (name, count) in orphans.into_iter().filter(|(_, count)| certain && *count > 0) {
            let what = format_args!("of no conversation: {count} of the kind {name:?}");
            survey.problem(format_args!("lineage {lineage}"), what);
        }
    }
}
