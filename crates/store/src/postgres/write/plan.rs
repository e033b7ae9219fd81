//! Plans a commit as statements.

use std::{collections::BTreeSet, sync::Arc};

use super::{
    quotas::{self, Taken},
    row::{OutcomeRow, Row, names, parameters},
    sql,
};
use crate::postgres::types::{Param, Sequences, Uuid, number, params};
use crate::{Commit, Conflict, Outcome, OutcomeKey, PointerWrite, Write, delta::Delta, records::Record};
use utterd_domain::{ChangeId, Head, LineageId};

/// How a commit is made.
pub struct Plan {
    pub how: How,
    /// Identifies the row that shows whether the commit took effect.
    pub logged: Logged,
    /// Whether text is removed that must become unreadable.
    pub erases: bool,
}

pub enum How {
    /// With one statement, which needs no transaction around it.
    Alone(Arc<Lone>),
    /// With statements in one transaction, in this order.
    Together(Vec<Step>),
}

/// A commit that writes one row of `conversations`, with one statement.
pub struct Lone {
    pub row: Row,
    /// Whether the commit may well conflict.
    pub is_contended: bool,
    /// The conflict if the conversation is not in the expected state, or exists although it must not.
    pub state: Conflict,
    /// The conflict if a pointer is not as expected.
    pub pointer: Option<Conflict>,
    /// The conflict if an outcome is already stored.
    pub outcome: Option<Conflict>,
}

/// The key of the row in `changes` by which a commit is looked up.
#[derive(Clone)]
pub struct Logged {
    pub change: Uuid,
    pub namespace: String,
    pub id: String,
}

/// A statement.
pub struct Step {
    pub sql: &'static str,
    pub params: Vec<Param>,
    /// The conflict if the statement finds that something is not as expected, or stores an outcome that is already
    /// stored.
    pub conflict: Option<Conflict>,
    /// The growth that is refused if the statement finds that it exceeds a quota.
    pub taken: Option<Taken>,
}

impl Step {
    fn new(sql: &'static str, params: Vec<Param>) -> Self {
        Self { sql, params, conflict: None, taken: None }
    }

    fn or(self, conflict: Conflict) -> Self {
        Self { conflict: Some(conflict), ..self }
    }
}

impl Plan {
    /// Plans `commit`, which takes `taken` of the quotas. `unique` identifies the commit if it makes no new
    /// state.
    pub fn of(commit: &Commit, taken: Vec<Taken>, unique: ChangeId) -> Self {
        let mut writes: Vec<_> = commit.writes.iter().collect();
        // in the same order for all commits, so that they cannot deadlock
        writes.sort_unstable_by_key(|write| write.key());
        let mut parts: Vec<_> = writes.iter().map(|write| Part::of(write, unique)).collect();
        let events = commit.traced.as_ref().map(|traced| traced.events.clone());
        if let Some(first) = parts.first_mut() {
            first.events = events.clone();
        }
        let (logged, erases) = (logged(&writes, commit, unique), parts.iter().any(|part| part.delta.erases));
        if parts.len() == 1
            && taken.is_empty()
            && !commit.pointers.iter().any(needs_lock)
            && let Some(lone) = parts.first().and_then(|part| part.alone(commit))
        {
            return Self { how: How::Alone(Arc::new(lone)), logged, erases };
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
            steps.extend(first);
            after.extend(rest);
        }
        steps.extend(after);
        steps.extend(commit.outcomes.iter().map(|(key, outcome)| keep(key, outcome)));
        // last, as other commits of the namespace wait from here on
        steps.extend(taken.into_iter().map(take));
        Self { how: How::Together(steps), logged, erases }
    }
}

/// Returns the key of the row that shows whether the commit took effect.
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

/// Whether the pointer moves, or must stay unset.
fn needs_lock(pointer: &PointerWrite) -> bool {
    pointer.moves() || pointer.before.is_none()
}

fn point(pointer: &PointerWrite) -> Step {
    let recipient = &pointer.recipient;
    let [namespace, id] = [recipient.namespace.as_str(), recipient.id.as_str()].map(str::to_owned);
    let named = |id: &utterd_domain::ConversationId| id.as_str().to_owned();
    let step = match (&pointer.before, &pointer.after) {
        (None, None) => Step::new(sql::STAYS_INACTIVE, params![namespace, id]),
        (None, Some(after)) => Step::new(sql::ACTIVATE, params![namespace, id, named(after)]),
        (Some(before), None) => Step::new(sql::DEACTIVATE, params![namespace, id, named(before)]),
        (Some(before), Some(_)) if !pointer.moves() => {
            Step::new(sql::STAYS, params![namespace, id, named(before)])
        }
        (Some(before), Some(after)) => {
            Step::new(sql::MOVE, params![namespace, id, named(after), named(before)])
        }
    };
    step.or(Conflict::Pointer(recipient.clone()))
}

fn keep(key: &OutcomeKey, outcome: &Arc<Outcome>) -> Step {
    let OutcomeRow { namespace, request, rpc, time, record } = OutcomeRow::of(key, outcome);
    let params = params![namespace, request, rpc, time, record];
    Step::new(sql::KEEP, params).or(Conflict::Outcome(key.clone()))
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

/// A write as statements.
struct Part<'a> {
    write: &'a Write,
    change: ChangeId,
    delta: Delta,
    /// Statements that follow the one that changes the conversation.
    rest: Vec<Step>,
    /// The events of the whole commit, if this is its first write.
    events: Option<Vec<String>>,
}

impl<'a> Part<'a> {
    fn of(write: &'a Write, unique: ChangeId) -> Self {
        let (change, delta) = (change_of(write, unique), Delta::of(write));
        let mut rest: Vec<_> = delta.records.values().flatten().filter_map(share).collect();
        rest.extend(remove_blocks(write, &delta));
        Self { write, change, delta, rest, events: None }
    }

    fn released(&self) -> impl Iterator<Item = LineageId> {
        self.delta.released.iter().map(|(lineage, _)| *lineage)
    }

    /// Returns the commit as one row, with its outcomes and its unmoved pointers; `None` if the commit writes
    /// more than that.
    fn alone(&self, commit: &Commit) -> Option<Lone> {
        if !(self.rest.is_empty() && self.delta.released.is_empty()) {
            return None;
        }
        let row = self.row()?.with(&commit.outcomes, &commit.pointers);
        let pointer = commit.pointers.first();
        Some(Lone {
            row,
            is_contended: commit.is_contended,
            state: Conflict::State(self.write.key().clone()),
            pointer: pointer.map(|pointer| Conflict::Pointer(pointer.recipient.clone())),
            outcome: commit.outcomes.first().map(|(key, _)| Conflict::Outcome(key.clone())),
        })
    }

    /// Returns the conversation's new row; `None` if the conversation is deleted.
    fn row(&self) -> Option<Row> {
        let Write::Change { before, after, .. } = self.write else { return None };
        let events = self.events.as_ref().map(|events| events.join("\n"));
        Some(Row { events, ..Row::of(before.as_deref(), after, &self.delta) })
    }

    /// Returns the statement that changes the conversation, which fails if the conversation is in another
    /// state, and the statements that follow.
    fn among_others(mut self) -> (Option<Step>, Vec<Step>) {
        let mut rest = std::mem::take(&mut self.rest);
        let reader = lineage_of(self.write);
        for (lineage, removed) in std::mem::take(&mut self.delta.released) {
            let params = params![Uuid(lineage.0), Sequences(removed), Uuid(reader.0)];
            rest.push(Step::new(sql::RELEASE, params));
        }
        let first = match self.write {
            Write::Change { .. } => self.row().map(|row| row.step(true)),
            Write::Delete { before } => Some(self.deletion(&before.head)),
        };
        (first.map(|first| first.or(Conflict::State(self.write.key().clone()))), rest)
    }

    fn deletion(&self, before: &Head) -> Step {
        let identity = &before.identity;
        let [namespace, id] = names(&identity.key);
        let trunks: Vec<_> = before.trunks.iter().map(|trunk| Uuid(trunk.lineage.0)).collect();
        let (lineage, branch) = (Uuid(identity.lineage.0), Uuid(before.branch.0));
        let (state, change) = (Uuid(before.change.0), Uuid(self.change.0));
        let params = params![namespace, id, state, lineage, branch, trunks, change, self.events.clone()];
        Step::new(sql::DELETE, params)
    }
}

fn lineage_of(write: &Write) -> LineageId {
    let (Write::Change { after: state, .. } | Write::Delete { before: state }) = write;
    state.head.identity.lineage
}

/// Adds a conversation to the readers of a trunk.
fn share(shared: &Record) -> Option<Step> {
    let Record::Readers((trunk, reader), record) = shared else { return None };
    let [namespace, id] = names(&record.conversation);
    let params = params![Uuid(trunk.0), Uuid(reader.0), namespace, id, number(record.through)];
    Some(Step::new(sql::SHARE, params))
}

/// Removes derived data: all of it if the conversation is deleted.
fn remove_blocks(write: &Write, delta: &Delta) -> Option<Step> {
    let lineage = Uuid(lineage_of(write).0);
    match write {
        Write::Delete { .. } => Some(Step::new(sql::REMOVE_ALL_BLOCKS, params![lineage])),
        Write::Change { .. } if delta.underived.is_empty() => None,
        Write::Change { .. } => {
            let blocks: Vec<_> = delta.underived.iter().map(|block| block.0 as i64).collect();
            Some(Step::new(sql::REMOVE_BLOCKS, params![lineage, blocks]))
        }
    }
}

impl Row {
    /// Returns the statement that writes only this row. If `is_strict`, the statement fails unless it writes
    /// the row.
    pub fn step(&self, is_strict: bool) -> Step {
        let sql = if self.state.is_some() { sql::CHANGE } else { sql::CREATE };
        let mut params = parameters(&[self]);
        params.extend(params![is_strict]);
        Step::new(sql, params)
    }
}
