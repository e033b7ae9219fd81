//! One conversation after another: what is stored under its lineage.

use super::{
    compactions::Compacted,
    forked::Forked,
    given_ids,
    lineages::Lineages,
    names::{Known, Moment, Names},
    stream::{Part, Stream},
    summary::Told,
    survey::{Findings, Survey},
    utterances::Said,
};
use crate::{
    domain::{Head, LineageId, Policy, Ranges, Utterance},
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
    if let Part::There(ending) = streams.endings.one(lineage, survey) {
        known.ended = Some(ending.time);
    }
    let mut findings = Findings { survey, subject: known.subject() };
    if let Part::Missing = policy {
        findings.add("it has no policy");
    }
    match head {
        Part::There(head) => {
            let policy = if let Part::There(policy) = policy { Some(policy) } else { None };
            known.expiry = expiry(&head.head, policy.as_ref());
            known.waits = check_stored(lineage, &head, policy.as_ref(), streams, &mut findings);
        }
        Part::Missing => {
            findings.add("it has no head");
            streams.pass(lineage, survey);
        }
        Part::Unreadable => drop(streams.pass(lineage, survey)),
    }
}

fn expiry(head: &Head, policy: Option<&Policy>) -> Moment {
    match policy.map(|policy| policy.expire_after) {
        Some(Some(after)) => Moment::At(head.update_time.plus(after)),
        Some(None) => Moment::Never,
        None => Moment::Unknown,
    }
}

/// Answers since when a segment waits for a model.
fn check_stored<'a>(
    lineage: LineageId,
    record: &HeadRecord,
    policy: Option<&Policy>,
    streams: &mut Streams<'a>,
    findings: &mut Findings<'_, 'a>,
) -> Moment {
    let head = &record.head;
    let mut told = streams.told(lineage, record, findings);
    told.sentences.union(&streams.compacted(lineage, head, findings));
    let mut said = Said::of(head, &told);
    match head.is_forked() {
        true => check_forked(head, policy, &mut said, findings),
        false => streams.check_said(lineage, policy, &mut said, findings),
    }
    if !streams.segments.is_broken() {
        told.check_count(record, findings);
    }
    if let Some(policy) = policy {
        told.check(policy, findings);
        check_archive(head, policy, findings);
    }
    told.waits()
}

/// What a conversation reads out of several lineages.
fn check_forked<'a>(
    head: &Head,
    policy: Option<&Policy>,
    said: &mut Said<'_>,
    findings: &mut Findings<'_, 'a>,
) {
    let mut forked = Forked::open(head, findings.survey);
    while let Some((sequence, utterance)) = forked.next() {
        said.add(sequence, utterance.as_ref(), findings);
    }
    if !forked.is_broken() {
        said.check(policy, findings);
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

fn check_archive(head: &Head, policy: &Policy, findings: &mut Findings<'_, '_>) {
    let (archived, limit) = (head.archived.count(), policy.archive_limit);
    if archived > u64::from(limit) {
        findings.add(format_args!("{archived} utterances are archived; its policy lets {limit} be"));
    }
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

    /// What is stored of what was said in a conversation that has its lineage alone.
    fn check_said(
        &mut self,
        lineage: LineageId,
        policy: Option<&Policy>,
        said: &mut Said<'_>,
        findings: &mut Findings<'_, 'a>,
    ) {
        while let Some(((_, sequence), utterance)) = self.utterances.take(lineage, findings.survey) {
            findings.survey.report.utterances += 1;
            said.add(sequence, utterance.as_ref(), findings);
        }
        if !self.utterances.is_broken() {
            said.check(policy, findings);
        }
        let named = said.ids;
        self.check_ids(lineage, &named, findings);
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

    /// What the segments of a conversation cover and tell.
    fn told(&mut self, lineage: LineageId, head: &HeadRecord, findings: &mut Findings<'_, 'a>) -> Told {
        let mut told = Told::default();
        while let Some((_, segment)) = self.segments.take(lineage, findings.survey) {
            findings.survey.report.segments += 1;
            match segment {
                Some(segment) => told.add(&segment, head, findings),
                None => told.pass(),
            }
        }
        if self.segments.is_broken() {
            told.lose();
        }
        told
    }

    /// The compactions of a conversation; answers of what the segments tell that they folded.
    fn compacted(&mut self, lineage: LineageId, head: &Head, findings: &mut Findings<'_, 'a>) -> Ranges {
        let mut compacted = Compacted::default();
        while let Some(((_, number), compaction)) = self.compactions.take(lineage, findings.survey) {
            compacted.add(number, compaction.as_ref(), head, findings);
        }
        if !self.compactions.is_broken() {
            compacted.check_newest(head, findings);
        }
        compacted.sentences
    }

    /// Passes over what is stored beside a head that cannot be looked at.
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
