//! A commit as statements.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use tokio_postgres::types::ToSql;

use super::{
    quotas::{self, Taken},
    sql,
    types::{Sequences, Time, Uuid},
};
use crate::{
    domain::{
        Block, Change, ChangeId, Conversation, ConversationKey, Head, LineageId, Ranges, Sequence, Trunk,
        Utterance, compaction::Compaction, segment::Segment, state::StateValue,
    },
    store::{
        Commit, Conflict, Outcome, OutcomeKey, PointerWrite, Write,
        durable::records::{
            self, Compactions, ConversationName, Description, Descriptions, Endings, HeadRecord, Heads, Kind,
            OutcomeName, Outcomes, Policies, Segments, StateName, StateValues, Utterances,
        },
        listing::span_of,
        underived::underived,
    },
};

/// A parameter of a statement.
pub(super) type Param = Box<dyn ToSql + Send + Sync>;

/// The statements of a commit.
pub(super) struct Plan {
    /// In this order.
    pub(super) steps: Vec<Step>,
    /// Whether it is one statement, which needs no transaction around it.
    pub(super) is_alone: bool,
    /// What the commit is looked up by.
    pub(super) logged: Logged,
}

/// The row by which a commit is looked up.
#[derive(Clone)]
pub(super) struct Logged {
    pub(super) change: Uuid,
    pub(super) namespace: String,
    pub(super) id: String,
}

/// A statement.
pub(super) struct Step {
    pub(super) sql: &'static str,
    pub(super) params: Vec<Param>,
    /// What it means if the statement finds that something is not as expected.
    pub(super) conflict: Option<Conflict>,
    /// What it means if a pointer is not as expected.
    pub(super) pointer: Option<Conflict>,
    /// What it means if it stores what is already stored.
    pub(super) outcome: Option<Conflict>,
    /// What a namespace has no room for if the statement finds that it exceeds a quota.
    pub(super) taken: Option<Taken>,
}

impl Step {
    fn new(sql: &'static str, params: Vec<Param>) -> Self {
        Self { sql, params, conflict: None, pointer: None, outcome: None, taken: None }
    }

    fn or(self, conflict: Conflict) -> Self {
        Self { conflict: Some(conflict), ..self }
    }
}

/// Collects parameters.
macro_rules! params {
    ($($param:expr),* $(,)?) => { vec![$(Box::new($param) as Param),*] };
}

impl Plan {
    /// The statements of `commit`, which takes so much of quotas. `unique` names a commit that makes no new
    /// state.
    pub(super) fn of(commit: &Commit, taken: Vec<Taken>, unique: ChangeId) -> Self {
        let mut writes: Vec<_> = commit.writes.iter().collect();
        // in one order for all commits, so that they do not wait for each other in a circle
        writes.sort_unstable_by_key(|write| write.key());
        let mut parts: Vec<_> = writes.iter().map(|write| Part::of(write, unique)).collect();
        let events = commit.traced.as_ref().map(|traced| traced.events.clone());
        if let Some(first) = parts.first_mut() {
            first.events = events.clone();
        }
        let is_one = parts.len() == 1
            && parts[0].is_whole()
            && taken.is_empty()
            && !commit.pointers.iter().any(needs_lock);
        let logged = logged(&writes, commit, unique);
        if is_one {
            let steps = parts.drain(..).flat_map(|part| part.alone(commit)).collect();
            return Self { steps, is_alone: true, logged };
        }
        let mut steps: Vec<_> = commit.pointers.iter().map(point).collect();
        if commit.writes.is_empty() {
            let Logged { change, namespace, id } = logged.clone();
            steps.push(Step::new(sql::LOG, params![change, namespace, id, events]));
        }
        let shared: BTreeSet<_> = parts.iter().flat_map(|part| part.released()).collect();
        if !shared.is_empty() {
            let shared: Vec<_> = shared.into_iter().map(|lineage| Uuid(lineage.0)).collect();
            steps.push(Step::new(sql::LOCK_READERS, params![shared]));
        }
        let mut after = Vec::new();
        for part in parts {
            let (first, rest) = part.among_others();
            steps.push(first);
            after.extend(rest);
        }
        steps.extend(after);
        steps.extend(commit.outcomes.iter().map(|(key, outcome)| keep(key, outcome)));
        // last: others wait for it
        steps.extend(taken.into_iter().map(take));
        Self { steps, is_alone: false, logged }
    }
}

/// The row that shows whether the commit took effect.
fn logged(writes: &[&Write], commit: &Commit, unique: ChangeId) -> Logged {
    let of = |change: ChangeId, namespace: &str, id: &str| Logged {
        change: Uuid(change.0),
        namespace: namespace.to_owned(),
        id: id.to_owned(),
    };
    if let Some(write) = writes.first() {
        let key = write.key();
        return of(change_of(write, unique), key.namespace.as_str(), key.id.as_str());
    }
    let traced = commit.traced.as_ref().map(|traced| &traced.namespace);
    let outcome = traced.or(commit.outcomes.first().map(|(key, _)| &key.namespace));
    let namespace = outcome.or(commit.pointers.first().map(|pointer| &pointer.recipient.namespace));
    of(unique, namespace.map_or("", |namespace| namespace.as_str()), "")
}

fn change_of(write: &Write, unique: ChangeId) -> ChangeId {
    write.after().map_or(unique, |after| after.head.change)
}

/// Whether a pointer is moved, or must stay without being.
fn needs_lock(pointer: &PointerWrite) -> bool {
    pointer.before != pointer.after || pointer.before.is_none()
}

fn point(pointer: &PointerWrite) -> Step {
    let recipient = &pointer.recipient;
    let [namespace, id] = [recipient.namespace.as_str(), recipient.id.as_str()].map(str::to_owned);
    let named = |id: &crate::domain::ConversationId| id.as_str().to_owned();
    let step = match (&pointer.before, &pointer.after) {
        (None, None) => Step::new(sql::STAYS_INACTIVE, params![namespace, id]),
        (None, Some(after)) => Step::new(sql::ACTIVATE, params![namespace, id, named(after)]),
        (Some(before), None) => Step::new(sql::DEACTIVATE, params![namespace, id, named(before)]),
        (Some(before), Some(after)) if before == after => {
            Step::new(sql::STAYS, params![namespace, id, named(before)])
        }
        (Some(before), Some(after)) => {
            Step::new(sql::MOVE, params![namespace, id, named(after), named(before)])
        }
    };
    step.or(Conflict::Pointer(recipient.clone()))
}

fn keep(key: &OutcomeKey, outcome: &Outcome) -> Step {
    let (namespace, request) = (key.namespace.as_str().to_owned(), key.request.as_str().to_owned());
    let record = value::<Outcomes>(&OutcomeName::of(key), outcome);
    let params = params![namespace, request, key.rpc, Time(outcome.time), record];
    Step { outcome: Some(Conflict::Outcome(key.clone())), ..Step::new(sql::KEEP, params) }
}

fn take(taken: Taken) -> Step {
    let (added, quotas) = (taken.added, taken.quotas);
    let limit = |limit: Option<u64>| limit.map(|limit| i64::try_from(limit).unwrap_or(i64::MAX));
    let params = params![
        taken.namespace.as_str().to_owned(),
        added.conversations,
        added.bytes,
        limit(quotas.conversations),
        limit(quotas.bytes),
    ];
    Step { taken: Some(taken), ..Step::new(quotas::TAKE, params) }
}

/// A record's value as the durable stores write it.
fn value<K: Kind>(key: &K::Key, value: &K::Value) -> Vec<u8> {
    records::pair::<K>(key, value).1
}

/// A write as statements.
struct Part<'a> {
    write: &'a Write,
    change: ChangeId,
    net: Net,
    /// What the conversation no longer reads of lineages that others may read.
    releases: Vec<(LineageId, Ranges)>,
    /// Statements that follow the one that changes the conversation.
    rest: Vec<Step>,
    /// The events of the whole commit, if this is its first write.
    events: Option<Vec<String>>,
}

/// What several changes, one after the other, write and remove.
#[derive(Default)]
struct Net {
    removed: Ranges,
    utterances: BTreeMap<Sequence, Arc<Utterance>>,
    segments: BTreeMap<u32, Option<Arc<Segment>>>,
    compactions: BTreeMap<u32, Option<Arc<Compaction>>>,
    state: BTreeMap<Box<str>, Option<Arc<StateValue>>>,
}

impl Net {
    fn of(changes: &[Arc<Change>]) -> Self {
        let mut net = Self::default();
        changes.iter().for_each(|change| net.add(change));
        net
    }

    fn add(&mut self, change: &Change) {
        let written = change.appended.iter().chain(&change.rewritten);
        self.utterances.extend(written.map(|utterance| (utterance.sequence, utterance.clone())));
        self.utterances.retain(|sequence, _| !change.removes(*sequence));
        [&change.dropped, &change.erased].into_iter().for_each(|gone| self.removed.union(gone));
        self.segments.extend(written_and_removed(
            change.segments_written.iter().map(|segment| (segment.number, segment.clone())),
            &change.segments_removed,
        ));
        self.compactions.extend(written_and_removed(
            change.compactions_written.iter().map(|compaction| (compaction.number, compaction.clone())),
            &change.compactions_removed,
        ));
        self.state.extend(written_and_removed(
            change.state_set.iter().map(|value| (value.name.clone(), value.clone())),
            &change.state_deleted,
        ));
    }
}

fn written_and_removed<K: Clone, V>(
    written: impl Iterator<Item = (K, V)>,
    removed: &[K],
) -> impl Iterator<Item = (K, Option<V>)> {
    let removed = removed.iter().map(|key| (key.clone(), None));
    written.map(|(key, value)| (key, Some(value))).chain(removed)
}

/// The keys of what is removed; and what is written, by key.
fn parted<K: Clone, V>(net: &BTreeMap<K, Option<V>>) -> (Vec<K>, Vec<(&K, &V)>) {
    let removed = net.iter().filter(|(_, value)| value.is_none()).map(|(key, _)| key.clone()).collect();
    let written = net.iter().filter_map(|(key, value)| Some((key, value.as_ref()?))).collect();
    (removed, written)
}

impl<'a> Part<'a> {
    fn of(write: &'a Write, unique: ChangeId) -> Self {
        let change = change_of(write, unique);
        let mut part =
            Self { write, change, net: Net::default(), releases: Vec::new(), rest: Vec::new(), events: None };
        match write {
            Write::Change { before, changes, after } => {
                part.net = Net::of(changes);
                part.change(before.as_deref().map(|before| &before.head), changes, &after.head);
            }
            Write::Delete { before } => part.delete(&before.head),
        }
        part
    }

    fn change(&mut self, before: Option<&Head>, changes: &[Arc<Change>], head: &Head) {
        let lineage = Uuid(head.identity.lineage.0);
        if !head.trunks.is_empty() {
            self.release(changes, head);
        }
        self.share(before, head);
        let (removed, written) = parted(&self.net.compactions);
        if !(removed.is_empty() && written.is_empty()) {
            let of = |number: u32| (head.identity.lineage, number);
            let values = written.iter().map(|(_, it)| value::<Compactions>(&of(it.number), it));
            let values: Vec<_> = values.collect();
            let numbers: Vec<_> = written.iter().map(|(number, _)| i64::from(**number)).collect();
            let removed: Vec<_> = removed.into_iter().map(i64::from).collect();
            self.rest.push(Step::new(sql::COMPACTIONS, params![lineage, removed, numbers, values]));
        }
        let (removed, written) = parted(&self.net.state);
        if !(removed.is_empty() && written.is_empty()) {
            let of = |name: &str| (head.identity.lineage, StateName(name.into()));
            let values = written.iter().map(|(name, it)| value::<StateValues>(&of(name), it));
            let values: Vec<_> = values.collect();
            let names: Vec<_> = written.iter().map(|(name, _)| name.to_string()).collect();
            let removed: Vec<_> = removed.into_iter().map(String::from).collect();
            self.rest.push(Step::new(sql::STATE, params![lineage, removed, names, values]));
        }
        if let Some(before) = before {
            self.remove_blocks(before, head, changes);
        }
    }

    /// Removes what was erased from every lineage that the conversation reads, and what it dropped from those
    /// of them that nobody else reads.
    fn release(&mut self, changes: &[Arc<Change>], head: &Head) {
        let (mut erased, mut dropped) = (Ranges::new(), Ranges::new());
        changes.iter().for_each(|change| erased.union(&change.erased));
        changes.iter().for_each(|change| dropped.union(&change.dropped));
        for Trunk { lineage, through } in head.trunks.iter().copied() {
            let read = Ranges::before(through.next());
            let (erased, dropped) = (erased.intersection(&read), dropped.intersection(&read));
            if !erased.is_empty() {
                self.rest.push(Step::new(sql::REMOVE, params![Uuid(lineage.0), Sequences(erased)]));
            }
            if !dropped.is_empty() {
                self.releases.push((lineage, dropped));
            }
        }
    }

    /// Notes new or changed trunks.
    fn share(&mut self, before: Option<&Head>, head: &Head) {
        let was = before.map_or(&[][..], |before| &before.trunks);
        let (reader, key) = (Uuid(head.identity.lineage.0), &head.identity.key);
        for trunk in head.trunks.iter().filter(|trunk| !was.contains(trunk)) {
            let [namespace, id] = names(key);
            let through = number(trunk.through);
            let params = params![Uuid(trunk.lineage.0), reader, namespace, id, through];
            self.rest.push(Step::new(sql::SHARE, params));
        }
    }

    /// Removes the data derived from text that no longer exists, and from blocks without stored utterances.
    fn remove_blocks(&mut self, before: &Head, head: &Head, changes: &[Arc<Change>]) {
        let gone = underived(before, head, changes);
        if !gone.is_empty() {
            let blocks: Vec<_> = Block::holding(&gone).map(|block| block.0 as i64).collect();
            let params = params![Uuid(head.identity.lineage.0), blocks];
            self.rest.push(Step::new(sql::REMOVE_BLOCKS, params));
        }
    }

    fn delete(&mut self, head: &Head) {
        let lineage = Uuid(head.identity.lineage.0);
        self.rest.push(Step::new(sql::REMOVE_ALL_BLOCKS, params![lineage]));
        let trunks = head.trunks.iter();
        self.releases.extend(trunks.map(|trunk| (trunk.lineage, Ranges::before(trunk.through.next()))));
    }

    /// Whether one statement writes everything.
    fn is_whole(&self) -> bool {
        matches!(self.write, Write::Change { .. }) && self.rest.is_empty() && self.releases.is_empty()
    }

    fn released(&self) -> impl Iterator<Item = LineageId> {
        self.releases.iter().map(|(lineage, _)| *lineage)
    }

    /// The statement for a commit of nothing else but outcomes and pointers that stay.
    fn alone(self, commit: &Commit) -> Option<Step> {
        let Write::Change { before, after, .. } = self.write else { return None };
        let mut step = self.statement(before.as_deref(), after, &commit.outcomes, &commit.pointers, false);
        let pointer = commit.pointers.first();
        step.pointer = pointer.map(|pointer| Conflict::Pointer(pointer.recipient.clone()));
        step.outcome = commit.outcomes.first().map(|(key, _)| Conflict::Outcome(key.clone()));
        Some(step)
    }

    /// The statement that changes the conversation, which fails if it is in another state; and those that
    /// follow.
    fn among_others(mut self) -> (Step, Vec<Step>) {
        let mut rest = std::mem::take(&mut self.rest);
        let reader = match self.write {
            Write::Change { after, .. } => after.head.identity.lineage,
            Write::Delete { before } => before.head.identity.lineage,
        };
        for (lineage, gone) in std::mem::take(&mut self.releases) {
            let params = params![Uuid(lineage.0), Sequences(gone), Uuid(reader.0)];
            rest.push(Step::new(sql::RELEASE, params));
        }
        let first = match self.write {
            Write::Change { before, after, .. } => self.statement(before.as_deref(), after, &[], &[], true),
            Write::Delete { before } => self.deletion(&before.head),
        };
        (first, rest)
    }

    fn statement(
        &self,
        before: Option<&Conversation>,
        after: &Conversation,
        outcomes: &[(OutcomeKey, Arc<Outcome>)],
        stays: &[PointerWrite],
        is_strict: bool,
    ) -> Step {
        let mut params = head_params(before, after);
        self.record_params(&after.head, &mut params);
        outcome_params(outcomes, &mut params);
        pointer_params(stays, &mut params);
        params.extend(params![is_strict, self.events.clone()]);
        let identity = &after.head.identity;
        let sql = match before {
            Some(before) => {
                params.push(Box::new(Uuid(before.head.change.0)));
                sql::CHANGE
            }
            None => {
                params.extend(params![
                    identity.recipient.as_str().to_owned(),
                    identity.is_listed(),
                    Time(identity.start_time),
                    value::<ConversationName>(&identity.key, identity),
                ]);
                sql::CREATE
            }
        };
        Step::new(sql, params).or(Conflict::State(identity.key.clone()))
    }

    fn record_params(&self, head: &Head, params: &mut Vec<Param>) {
        let (lineage, branch) = (head.identity.lineage, head.branch);
        let said = &self.net.utterances;
        let sequences: Vec<_> = said.keys().map(|sequence| number(*sequence)).collect();
        let ids: Vec<_> = said.values().map(|it| it.given_id().map(str::to_owned)).collect();
        let utterances: Vec<_> =
            said.iter().map(|(sequence, it)| value::<Utterances>(&(branch, *sequence), it)).collect();
        let (folded, told) = parted(&self.net.segments);
        let folded: Vec<_> = folded.into_iter().map(i64::from).collect();
        let numbers: Vec<_> = told.iter().map(|(number, _)| i64::from(**number)).collect();
        let segments: Vec<_> =
            told.iter().map(|(number, it)| value::<Segments>(&(lineage, **number), it)).collect();
        let removed = Sequences(self.net.removed.clone());
        params.extend(params![removed, sequences, ids, utterances, folded, numbers, segments]);
    }

    fn deletion(&self, before: &Head) -> Step {
        let identity = &before.identity;
        let [namespace, id] = names(&identity.key);
        let trunks: Vec<_> = before.trunks.iter().map(|trunk| Uuid(trunk.lineage.0)).collect();
        let (lineage, branch) = (Uuid(identity.lineage.0), Uuid(before.branch.0));
        let (state, change) = (Uuid(before.change.0), Uuid(self.change.0));
        let params = params![namespace, id, state, lineage, branch, trunks, change, self.events.clone()];
        Step::new(sql::DELETE, params).or(Conflict::State(identity.key.clone()))
    }
}

/// The parameters for a conversation's row; what did not change is null.
fn head_params(before: Option<&Conversation>, after: &Conversation) -> Vec<Param> {
    let head = &after.head;
    let (identity, lineage) = (&head.identity, head.identity.lineage);
    let [namespace, id] = names(&identity.key);
    let was = before.map(|before| &before.head);
    let mut live = Ranges::before(head.next);
    live.subtract(&head.left);
    let end_time = head.ended.as_ref().map(|ending| Time(ending.time));
    let expire_time = head.expire_time().filter(|_| identity.is_listed()).map(Time);
    let waits_since = after.awaits_since().filter(|_| identity.is_listed()).map(Time);
    let is_elsewhere = was.is_none_or(|was| was.branch != head.branch || was.trunks != head.trunks);
    let (lineages, through): (Vec<_>, Vec<_>) = lineages(head).unzip();
    let policy = was.is_none_or(|was| was.policy != head.policy);
    let policy = policy.then(|| value::<Policies>(&lineage, &head.policy));
    let (described, is) = (was.map(Description::of).unwrap_or_default(), Description::of(head));
    let is_described = described != is;
    let description = (is_described && !is.is_empty()).then(|| value::<Descriptions>(&lineage, &is));
    let ending = head.ended.as_ref().filter(|ending| was.and_then(|was| was.ended.as_ref()) != Some(ending));
    params![
        namespace,
        id,
        Uuid(head.change.0),
        Uuid(lineage.0),
        Uuid(head.branch.0),
        head.revision.0 as i64,
        Time(head.update_time),
        Time(span_of(head.update_time)),
        end_time,
        expire_time,
        waits_since,
        head.erased_at.0 as i64,
        head.counted_bytes() as i64,
        Sequences(live),
        Sequences((*head.archived).clone()),
        is_elsewhere.then_some(lineages),
        is_elsewhere.then_some(through),
        value::<Heads>(&lineage, &HeadRecord::of(head, &after.summary)),
        policy,
        is_described,
        description,
        ending.map(|ending| value::<Endings>(&lineage, ending)),
    ]
}

fn outcome_params(outcomes: &[(OutcomeKey, Arc<Outcome>)], params: &mut Vec<Param>) {
    let texts = |text: fn(&OutcomeKey) -> &str| -> Vec<String> {
        outcomes.iter().map(|(key, _)| text(key).to_owned()).collect()
    };
    let times: Vec<_> = outcomes.iter().map(|(_, outcome)| Time(outcome.time)).collect();
    let records = outcomes.iter().map(|(key, outcome)| value::<Outcomes>(&OutcomeName::of(key), outcome));
    params.extend(params![
        texts(|key| key.namespace.as_str()),
        texts(|key| key.request.as_str()),
        texts(|key| key.rpc),
        times,
        records.collect::<Vec<_>>(),
    ]);
}

fn pointer_params(stays: &[PointerWrite], params: &mut Vec<Param>) {
    let texts = |text: fn(&PointerWrite) -> &str| -> Vec<String> {
        stays.iter().map(|pointer| text(pointer).to_owned()).collect()
    };
    params.extend(params![
        texts(|pointer| pointer.recipient.namespace.as_str()),
        texts(|pointer| pointer.recipient.id.as_str()),
        texts(|pointer| pointer.before.as_ref().map_or("", |id| id.as_str())),
    ]);
}

/// The lineages that a conversation reads, in the order of lookup, each with the last sequence.
fn lineages(head: &Head) -> impl Iterator<Item = (Uuid, i64)> {
    let trunks = head.trunks.iter().rev().map(|trunk| (Uuid(trunk.lineage.0), number(trunk.through)));
    std::iter::once((Uuid(head.branch.0), i64::MAX)).chain(trunks)
}

fn names(key: &ConversationKey) -> [String; 2] {
    [key.namespace.as_str(), key.id.as_str()].map(str::to_owned)
}

/// A sequence as a `bigint`; all that are stored fit.
pub(super) fn number(sequence: Sequence) -> i64 {
    i64::try_from(sequence.0).unwrap_or(i64::MAX)
}
