//! A commit as a request to the writing thread: its checks and its writes.
//!
//! A request is built on the caller's thread, so that the single writing thread has little left to do.

use std::{ops::Range, sync::Arc};

use super::key_value::{Key, Value};
use crate::{
    Commit, Conflict, Derived, DerivedBlock, Outcome, OutcomeKey, PointerWrite, Write,
    delta::Delta,
    entries,
    quotas::Growth,
    records::{
        self, Active, BlockBytes, BlockName, Blocks, Compactions, ConversationName, GivenIds, Kind,
        OutcomeAges, OutcomeName, Outcomes, Record, Segments, StateValues, Utterances,
    },
};
use utterd_domain::{Block, ChangeId, ConversationId, Head, LineageId, Ranges, Revision, Timestamp};

/// An atomic step of the writing thread.
#[derive(Debug, Default)]
pub(super) struct Request {
    /// Conditions that must all hold, each with the conflict to return if it does not.
    pub(super) checks: Vec<(Check, Conflict)>,
    /// The writes, in this order.
    pub(super) steps: Vec<Step>,
    /// The lineages whose heads are written, with their new states; `None` if the head is removed.
    pub(super) heads: Vec<(LineageId, Option<ChangeId>)>,
    /// The growth of namespaces' stored data, if quotas count it.
    pub(super) growth: Growth,
    /// Whether a power loss may lose the writes.
    pub(super) may_be_lost: bool,
}

/// A condition that must hold.
#[derive(Debug)]
pub(super) enum Check {
    /// The key has no value.
    Absent(Key),
    /// The conversation that writes to the lineage is in this state.
    At(LineageId, ChangeId),
    /// The lineage's conversation has had nothing erased since the revision, and has a part of the block.
    Has(LineageId, Revision, Block),
    /// The recipient with this key has this active conversation.
    Active(Key, Option<ConversationId>),
}

/// A write.
#[derive(Debug, PartialEq)]
pub(super) enum Step {
    /// Sets the key's value.
    Put(Key, Value),
    /// Removes the key.
    Remove(Key),
    /// Removes all keys in the range.
    RemoveAll(Range<Key>),
    /// Removes the lineage's utterances with these sequences, and the ids that clients gave them.
    RemoveUtterances(LineageId, Ranges),
    /// Removes utterances that a conversation no longer has, in a lineage that others may read: those that no other
    /// reader still has after the steps before.
    Release {
        /// The lineage that stores the utterances.
        trunk: LineageId,
        /// The lineage of the conversation's identity.
        reader: LineageId,
        /// The sequences.
        gone: Ranges,
    },
    /// Notes that the files contain bytes of removed data.
    Unscrubbed,
    /// Notes that the files no longer contain data that was removed up to this group.
    Scrubbed(u64),
    /// Removes the outcome under the first key if it is older than the time, and its age under the second.
    RemoveOutcome(Key, Key, Timestamp),
}

impl Request {
    /// Returns the request for `commit`.
    pub(super) fn of(commit: &Commit) -> Self {
        let mut request = Self::default();
        let releases: Vec<Step> = commit.writes.iter().flat_map(|write| request.write(write)).collect();
        commit.pointers.iter().for_each(|pointer| request.point(pointer));
        commit.outcomes.iter().for_each(|(key, outcome)| request.keep(key, outcome));
        request.steps.extend(releases);
        request
    }

    /// Returns the approximate number of bytes that the request writes.
    pub(super) fn bytes(&self) -> usize {
        let bytes = |step: &Step| match step {
            Step::Put(key, value) => key.len() + value.len(),
            _ => 0,
        };
        self.steps.iter().map(bytes).sum()
    }

    /// Removes the outcome of an attempt made at `time`, if it is older than `oldest`.
    pub(super) fn remove_outcome(&mut self, name: &OutcomeName, time: Timestamp, oldest: Timestamp) {
        let outcome = records::key::<Outcomes>(name);
        let age = records::key::<OutcomeAges>(&(time, name.clone()));
        self.steps.push(Step::RemoveOutcome(outcome, age, oldest));
    }

    /// Adds a write; returns its last steps, which come after those of all other writes.
    fn write(&mut self, write: &Write) -> impl Iterator<Item = Step> + use<> {
        let check = match write.before() {
            Some(before) => Check::At(before.head.identity.lineage, before.head.change),
            None => Check::Absent(records::key::<ConversationName>(write.key())),
        };
        self.checks.push((check, Conflict::State(write.key().clone())));
        let Delta { records, gone, released, underived, erases } = Delta::of(write);
        let lineage = match write {
            Write::Change { after, .. } => after.head.identity.lineage,
            Write::Delete { before } => self.remove_all(&before.head),
        };
        self.heads.push((lineage, write.after().map(|after| after.head.change)));
        self.steps.extend(gone.into_iter().map(|(lineage, gone)| Step::RemoveUtterances(lineage, gone)));
        for (key, record) in records {
            match record {
                Some(record) => self.put(&record),
                None => self.steps.push(Step::Remove(key)),
            }
        }
        for (block, kind) in underived.into_iter().flat_map(|block| Derived::ALL.map(|kind| (block, kind))) {
            self.remove::<Blocks>(&(lineage, BlockName { kind, block }));
        }
        let (removed, added) = entries::changed_by(write);
        self.steps.extend(removed.into_iter().map(Step::Remove));
        self.steps.extend(added.into_iter().map(|(key, value)| Step::Put(key, value)));
        self.steps.extend(erases.then_some(Step::Unscrubbed));
        released.into_iter().map(move |(trunk, gone)| Step::Release { trunk, reader: lineage, gone })
    }

    /// Removes everything that is only this conversation's; returns the lineage of its identity.
    fn remove_all(&mut self, head: &Head) -> LineageId {
        let lineage = head.identity.lineage;
        let all = [
            records::of_lineage::<Blocks>(lineage),
            records::of_lineage::<Segments>(lineage),
            records::of_lineage::<Compactions>(lineage),
            records::of_lineage::<StateValues>(lineage),
            records::of_lineage::<Utterances>(head.branch),
            records::of_lineage::<GivenIds>(head.branch),
        ];
        self.steps.extend(all.map(Step::RemoveAll));
        lineage
    }

    fn point(&mut self, pointer: &PointerWrite) {
        let check = Check::Active(records::key::<Active>(&pointer.recipient), pointer.before.clone());
        self.checks.push((check, Conflict::Pointer(pointer.recipient.clone())));
        match &pointer.after {
            _ if !pointer.moves() => {}
            Some(id) => self.put(&Record::Active(pointer.recipient.clone(), id.clone())),
            None => self.remove::<Active>(&pointer.recipient),
        }
    }

    fn keep(&mut self, key: &OutcomeKey, outcome: &Arc<Outcome>) {
        let name = OutcomeName::of(key);
        let check = Check::Absent(records::key::<Outcomes>(&name));
        self.checks.push((check, Conflict::Outcome(key.clone())));
        self.put(&Record::Outcomes(name, outcome.clone()));
    }

    /// Writes a record, and the one that is derived from it.
    fn put(&mut self, record: &Record) {
        let written = [record.written()].into_iter().chain(record.derived());
        self.steps.extend(written.map(|(key, value)| Step::Put(key, value)));
    }

    fn remove<K: Kind>(&mut self, key: &K::Key) {
        self.steps.push(Step::Remove(records::key::<K>(key)));
    }

    /// Returns the request to store data derived from a block of the conversation with this lineage.
    pub(super) fn keeping(lineage: LineageId, derived: DerivedBlock) -> Self {
        let DerivedBlock { conversation, kind, block, erased_at, bytes } = derived;
        let (key, value) = records::pair::<Blocks>(&(lineage, BlockName { kind, block }), &BlockBytes(bytes));
        Self {
            checks: vec![(Check::Has(lineage, erased_at, block), Conflict::State(conversation))],
            steps: vec![Step::Put(key, value)],
            may_be_lost: true,
            ..Self::default()
        }
    }
}

#[cfg(test)]
mod tests;
