//! Checks the conversations one by one: the records under their lineages.

use std::{collections::BTreeSet, mem, sync::Arc};

use super::{
    forks::Forks,
    indexes::Indexes,
    names::{Names, subject},
    said::{self, Ids},
    survey::Survey,
};
use crate::{
    domain::{
        ConversationId, Head, Identity, LineageId, Sequence, Timestamp, Utterance, check::Check,
        compaction::Compaction, segment::Segment, state::StateEntry,
    },
    store::{
        durable::{
            lineages::{KindName, Lineages, Parts},
            records::{
                BlockLists, Blocks, Compactions, GivenIds, HeadRecord, Kind, OfLineage, StateValues,
                Utterances,
            },
        },
        entries::Moments,
    },
};

/// The kinds whose keys begin with a lineage, apart from [`Parts::KINDS`].
const OTHER_KINDS: [KindName; 6] = [
    (Compactions::NUMBER, Compactions::NAME),
    (Utterances::NUMBER, Utterances::NAME),
    (GivenIds::NUMBER, GivenIds::NAME),
    (Blocks::NUMBER, Blocks::NAME),
    (BlockLists::NUMBER, BlockLists::NAME),
    (StateValues::NUMBER, StateValues::NAME),
];

/// The conversations of a store, read lineage by lineage.
pub(super) struct Conversations<'c, 'a> {
    survey: &'c mut Survey<'a>,
    names: &'c Names,
    forks: &'c Forks,
    indexes: &'c mut Indexes,
    lineages: Lineages<'a>,
}

impl<'c, 'a> Conversations<'c, 'a> {
    /// Checks that each record of a lineage belongs to a conversation and fits its other records, and that each
    /// conversation has a head and a policy.
    pub(super) fn check(
        survey: &'c mut Survey<'a>,
        names: &'c Names,
        forks: &'c Forks,
        indexes: &'c mut Indexes,
    ) {
        let lineages = Lineages::of(survey.pairs, Parts::KINDS.into_iter().chain(OTHER_KINDS));
        let mut conversations = Self { survey, names, forks, indexes, lineages };
        let mut unmet: BTreeSet<_> = names.lineages().collect();
        while let Some(lineage) = conversations.lineages.next_lineage() {
            unmet.remove(&lineage);
            conversations.check_lineage(lineage);
        }
        conversations.tell_unread();
        conversations.tell_headless(&unmet);
    }

    fn check_lineage(&mut self, lineage: LineageId) {
        match self.names.of(lineage) {
            Some(identity) => self.check_conversation(identity),
            None if self.forks.hold(lineage) => drop(self.check_said(lineage, |_, _| {})),
            None => {}
        }
        self.check_rest(lineage);
        self.tell_unread();
    }

    /// Checks that a conversation's records are complete and form a state that the rules can produce.
    fn check_conversation(&mut self, identity: &Arc<Identity>) {
        let lineage = identity.lineage;
        let parts = Parts::take(&mut self.lineages, lineage);
        let compactions: Vec<_> =
            self.lineages.all::<Compactions>(lineage).map(|(compaction, _)| Arc::new(compaction)).collect();
        let values: Vec<_> =
            self.lineages.all::<StateValues>(lineage).map(|(value, _)| value.entry()).collect();
        let is_read = self.lineages.is_whole();
        self.pass::<Blocks>(lineage);
        self.pass::<BlockLists>(lineage);
        match parts.whole_head(identity.clone()) {
            Ok(record) if is_read => {
                self.check_listed(&record.head, parts.awaits_since());
                self.check_values(&record.head, values);
                self.check_state(&record, &parts.segments, &compactions);
            }
            incomplete => {
                self.survey.complete = false;
                if let (Err(missing), true) = (incomplete, is_read) {
                    self.survey.problem(subject(identity), missing);
                }
                self.check_said(lineage, |_, _| {});
            }
        }
    }

    /// Checks the index entries of a conversation. A recipient's own state must need none.
    fn check_listed(&mut self, head: &Head, waits: Option<Timestamp>) {
        let (identity, moments) = (&head.identity, Moments::of(head, waits));
        self.indexes.check(identity, &moments, self.survey);
        if identity.is_listed() {
            return;
        }
        if identity.key.id != ConversationId::of_state(&identity.recipient) {
            self.survey
                .problem(subject(identity), format_args!("it holds the state of {}", identity.recipient));
        }
        if moments.are_any() {
            self.survey.problem(subject(identity), "it ends, expires, or waits for a model");
        }
    }

    /// Checks that a conversation's state values are those its description lists.
    fn check_values(&mut self, head: &Head, mut found: Vec<StateEntry>) {
        found.sort_by(|one, other| one.name.cmp(&other.name));
        if *head.state != *found {
            let told = head.state.len();
            let what = format_args!("its {} state values are not the {told} in its description", found.len());
            self.survey.problem(subject(&head.identity), what);
        }
    }

    fn check_state(
        &mut self,
        HeadRecord { head, next_segment, segments: count }: &HeadRecord,
        segments: &[Arc<Segment>],
        compactions: &[Arc<Compaction>],
    ) {
        if segments.len() != *count as usize {
            let what = format_args!("it has {} segments instead of {count}", segments.len());
            self.survey.problem(subject(&head.identity), what);
        }
        let mut check = Check::of(head, segments, *next_segment, compactions);
        let each = |sequence, utterance: Option<&Utterance>| match utterance {
            Some(utterance) => check.utterance(utterance),
            None => check.unreadable(sequence),
        };
        let lineage = head.identity.lineage;
        let are_all = match head.is_forked() {
            true => said::each_of_forked(head, self.survey.pairs, each),
            false => self.check_said(lineage, each),
        };
        if head.is_forked() && self.forks.hold(lineage) {
            self.check_said(lineage, |_, _| {});
        }
        for wrong in check.done().into_iter().filter(|_| are_all) {
            self.survey.problem(subject(&head.identity), wrong);
        }
    }

    /// Checks the utterances of a lineage: the ids that clients gave lead to their utterances, and if forks
    /// share the lineage, each utterance belongs to a conversation. Passes each utterance to `each`; returns
    /// whether none was skipped.
    fn check_said(&mut self, lineage: LineageId, mut each: impl FnMut(Sequence, Option<&Utterance>)) -> bool {
        let (mut wrong, unread, is_shared) =
            (Vec::new(), self.lineages.unread.len(), self.forks.hold(lineage));
        let mut ids = Ids::take(&mut self.lineages, lineage);
        while let Some(((_, sequence), utterance, _)) = self.lineages.take::<Utterances>(lineage) {
            wrong.extend(utterance.as_ref().and_then(|utterance| ids.ask_for(utterance)));
            if is_shared && !self.forks.may_have(lineage, sequence) {
                let what = format_args!("utterance {sequence} is stored, but no conversation has it");
                self.survey.problem(format_args!("lineage {lineage}"), what);
            }
            each(sequence, utterance.as_ref());
        }
        let are_all = !self.lineages.is_broken::<Utterances>();
        let are_ids_known = are_all && !self.lineages.is_broken::<GivenIds>() && self.indexes.are_known;
        if are_ids_known && self.lineages.unread.len() == unread {
            let subject = match self.names.of(lineage) {
                Some(identity) if !is_shared => subject(identity),
                _ => format!("lineage {lineage}"),
            };
            wrong.into_iter().chain(ids.rest()).for_each(|wrong| self.survey.problem(&subject, wrong));
        }
        are_all
    }

    fn pass<K: Kind<Key: OfLineage>>(&mut self, lineage: LineageId) {
        while self.lineages.take::<K>(lineage).is_some() {}
    }

    /// Reports that the remaining records of a lineage belong to no conversation, unless they may belong to
    /// one whose name or head cannot be read.
    fn check_rest(&mut self, lineage: LineageId) {
        for (kind, count) in self.lineages.rest(lineage) {
            if self.forks.complete {
                let what = format_args!("without a conversation: {count} of the kind {kind:?}");
                self.survey.problem(format_args!("lineage {lineage}"), what);
            }
        }
    }

    /// Reports the records that could not be read, and counts all that were found.
    fn tell_unread(&mut self) {
        for (kind, error) in mem::take(&mut self.lineages.unread) {
            self.survey.unread(kind, error);
        }
        self.survey.count(mem::take(&mut self.lineages.read));
    }

    /// Reports conversations without any record under their lineages, unless some records were skipped.
    fn tell_headless(&mut self, lineages: &BTreeSet<LineageId>) {
        for identity in lineages.iter().filter_map(|lineage| self.names.of(*lineage)) {
            self.survey.complete = false;
            if !self.lineages.was_broken() {
                self.survey.problem(subject(identity), "it has no head");
            }
        }
    }
}
