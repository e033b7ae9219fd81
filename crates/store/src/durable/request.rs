//! A commit as a request to the writing thread: its checks and its writes.
//!
//! A request is built on the caller's thread, so that the single writing thread has little left to do.

mod blocks;

use std::{ops::Range, sync::Arc};

use super::{
    key_value::{Key, Value},
    records::{
        self, Active, BlockName, Compactions, ConversationName, Description, Descriptions, Endings, GivenIds,
        HeadRecord, Heads, Kind, LineageReader, OutcomeAges, OutcomeName, Outcomes, Policies, Readers,
        Segments, StateName, StateValues, Utterances,
    },
};
use crate::{Commit, Conflict, Outcome, OutcomeKey, PointerWrite, Write, entries, quotas::Growth};
use utterd_domain::{
    Block, Change, ChangeId, Conversation, ConversationId, Head, LineageId, Ranges, Revision, Timestamp,
    Trunk, Utterance,
};

/// An atomic step of the writing thread.
#[derive(Debug, Default)]
pub(super) struct Request {
    /// Conditions that must all hold, each with the conflict to return if it does not.
    pub(super) checks: Vec<(Check, Conflict)>,
    /// The writes, in this order.
    pub(super) steps: Vec<Step>,
    /// Shared utterances that a conversation no longer reads; resolved against the state after all steps.
    pub(super) releases: Vec<Release>,
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
    /// Like `RemoveUtterances`, for many sequences of which few may be stored.
    RemoveAmong(LineageId, Ranges),
    /// Stores data derived from a block of a conversation's utterances, as of the revision of the last
    /// erasure.
    KeepBlock(LineageId, BlockName, Revision, (Key, Value)),
    /// Removes the data derived from some utterances.
    RemoveBlocks(BlockRemoval),
    /// Notes that the files contain bytes of removed data.
    Unscrubbed,
    /// Notes that the files no longer contain data that was removed up to this group.
    Scrubbed(u64),
    /// Removes the outcome under the first key if it is older than the time, and its age under the second.
    RemoveOutcome(Key, Key, Timestamp),
}

/// Utterances that a conversation no longer has, in a lineage that others may read.
#[derive(Debug, PartialEq)]
pub(super) struct Release {
    /// The lineage that stores the utterances.
    pub(super) trunk: LineageId,
    /// The lineage of the conversation's identity.
    pub(super) reader: LineageId,
    /// The sequences to remove, except those that another reader of the trunk still has.
    pub(super) gone: Ranges,
}

/// Removes data derived from utterances of a conversation, in whole blocks; all of it if the list of blocks
/// has another revision than `before`.
#[derive(Debug, PartialEq)]
pub(super) struct BlockRemoval {
    /// The lineage of the conversation's identity.
    pub(super) lineage: LineageId,
    /// The revision of the last erasure, before the change.
    pub(super) before: Revision,
    /// The revision of the last erasure, after the change; `None` if the conversation is deleted.
    pub(super) after: Option<Revision>,
    /// The sequences of the utterances.
    pub(super) gone: Ranges,
}

impl Request {
    /// Returns the request for `commit`.
    pub(super) fn of(commit: &Commit) -> Self {
        let mut request = Self::default();
        commit.writes.iter().for_each(|write| request.write(write));
        commit.pointers.iter().for_each(|pointer| request.point(pointer));
        commit.outcomes.iter().for_each(|(key, outcome)| request.keep(key, outcome));
        request
    }

    /// Returns the approximate number of bytes that the request writes.
    pub(super) fn bytes(&self) -> usize {
        let bytes = |step: &Step| match step {
            Step::Put(key, value) | Step::KeepBlock(_, _, _, (key, value)) => key.len() + value.len(),
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

    fn write(&mut self, write: &Write) {
        let check = match write.before() {
            Some(before) => Check::At(before.head.identity.lineage, before.head.change),
            None => Check::Absent(records::key::<ConversationName>(write.key())),
        };
        self.checks.push((check, Conflict::State(write.key().clone())));
        match write {
            Write::Change { before, changes, after } => self.change(before.as_deref(), changes, after),
            Write::Delete { before } => self.delete(before),
        }
        let (removed, added) = entries::changed_by(write);
        self.steps.extend(removed.into_iter().map(Step::Remove));
        self.steps.extend(added.into_iter().map(|(key, value)| Step::Put(key, value)));
    }

    fn change(&mut self, before: Option<&Conversation>, changes: &[Arc<Change>], after: &Conversation) {
        let head = &after.head;
        let lineage = head.identity.lineage;
        for change in changes {
            self.utterances(head, change);
            self.summary(lineage, change);
            self.state(lineage, change);
        }
        if let Some(before) = before {
            self.remove_blocks(&before.head, head, changes);
        }
        self.share(before.map(|before| &before.head), head);
        self.describe(before.map(|before| &before.head), head);
        self.put::<Heads>(&lineage, &HeadRecord::of(head, &after.summary));
        self.heads.push((lineage, Some(head.change)));
        if before.is_some_and(|before| before.head.erased_at != head.erased_at) {
            self.steps.push(Step::Unscrubbed);
        }
    }

    /// Writes changed segments and compactions.
    fn summary(&mut self, lineage: LineageId, change: &Change) {
        for segment in &change.segments_written {
            self.put::<Segments>(&(lineage, segment.number), segment);
        }
        for number in &change.segments_removed {
            self.remove::<Segments>(&(lineage, *number));
        }
        for compaction in &change.compactions_written {
            self.put::<Compactions>(&(lineage, compaction.number), compaction);
        }
        for number in &change.compactions_removed {
            self.remove::<Compactions>(&(lineage, *number));
        }
    }

    /// Writes changed state values. Deleted values remain in the files until a scrub.
    fn state(&mut self, lineage: LineageId, change: &Change) {
        for value in &change.state_set {
            self.put::<StateValues>(&(lineage, StateName(value.name.clone())), value);
        }
        for name in &change.state_deleted {
            self.remove::<StateValues>(&(lineage, StateName(name.clone())));
        }
        if !change.state_deleted.is_empty() {
            self.steps.push(Step::Unscrubbed);
        }
    }

    fn utterances(&mut self, head: &Head, change: &Change) {
        let lineage = head.branch;
        let gone = |utterance: &Utterance| change.removes(utterance.sequence);
        for utterance in change.appended.iter().filter(|utterance| !gone(utterance)) {
            self.utterance(lineage, utterance);
        }
        for utterance in change.rewritten.iter().filter(|utterance| !gone(utterance)) {
            match head.trunks.iter().any(|trunk| utterance.sequence <= trunk.through) {
                true => self.utterance(lineage, utterance),
                false => self.put::<Utterances>(&(lineage, utterance.sequence), utterance),
            }
        }
        match head.trunks.is_empty() {
            true => self.remove_utterances(lineage, change),
            false => self.release(head, change),
        }
    }

    /// Writes an utterance that is new in the lineage.
    fn utterance(&mut self, lineage: LineageId, utterance: &Utterance) {
        self.put::<Utterances>(&(lineage, utterance.sequence), utterance);
        if let Some(id) = utterance.given_id() {
            self.put::<GivenIds>(&(lineage, id.into()), &utterance.sequence);
        }
    }

    fn remove_utterances(&mut self, lineage: LineageId, change: &Change) {
        let mut removed = change.dropped.clone();
        removed.union(&change.erased);
        change.appended.iter().for_each(|utterance| removed.remove(utterance.sequence, utterance.sequence));
        if !removed.is_empty() {
            self.steps.push(Step::RemoveUtterances(lineage, removed));
        }
    }

    /// Removes utterances of a conversation that may share them: erased ones everywhere, dropped ones unless
    /// another reader has them.
    fn release(&mut self, head: &Head, change: &Change) {
        let reader = head.identity.lineage;
        let mut removed = change.dropped.clone();
        removed.union(&change.erased);
        self.remove_among(head.branch, removed);
        for Trunk { lineage, through } in head.trunks.iter().copied() {
            let read = Ranges::before(through.next());
            self.remove_among(lineage, change.erased.intersection(&read));
            let dropped = change.dropped.intersection(&read);
            if !dropped.is_empty() {
                self.releases.push(Release { trunk: lineage, reader, gone: dropped });
            }
        }
    }

    fn remove_among(&mut self, lineage: LineageId, removed: Ranges) {
        if !removed.is_empty() {
            self.steps.push(Step::RemoveAmong(lineage, removed));
        }
    }

    /// Registers the conversation as a reader of new or changed trunks.
    fn share(&mut self, before: Option<&Head>, head: &Head) {
        let was = before.map_or(&[][..], |before| &before.trunks);
        let conversation = &head.identity.key;
        for trunk in head.trunks.iter().filter(|trunk| !was.contains(trunk)) {
            let reader = LineageReader { conversation: conversation.clone(), through: trunk.through };
            self.put::<Readers>(&(trunk.lineage, head.identity.lineage), &reader);
        }
    }

    /// Writes the rarely changing records that changed.
    fn describe(&mut self, before: Option<&Head>, head: &Head) {
        let identity = &head.identity;
        let lineage = identity.lineage;
        if before.is_none() {
            self.put::<ConversationName>(&identity.key, identity);
        }
        if before.is_none_or(|before| before.policy != head.policy) {
            self.put::<Policies>(&lineage, &head.policy);
        }
        let (was, is) = (before.map(Description::of).unwrap_or_default(), Description::of(head));
        match is.is_empty() {
            _ if was == is => {}
            true => self.remove::<Descriptions>(&lineage),
            false => self.put::<Descriptions>(&lineage, &is),
        }
        if let Some(ending) = &head.ended
            && before.and_then(|before| before.ended.as_ref()) != Some(ending)
        {
            self.put::<Endings>(&lineage, ending);
        }
    }

    fn delete(&mut self, before: &Conversation) {
        let head = &before.head;
        let identity = &head.identity;
        let lineage = identity.lineage;
        self.remove::<ConversationName>(&identity.key);
        self.remove::<Heads>(&lineage);
        self.remove::<Policies>(&lineage);
        self.remove::<Descriptions>(&lineage);
        if head.ended.is_some() {
            self.remove::<Endings>(&lineage);
        }
        self.remove_all_blocks(head);
        let all = [
            records::of_lineage::<Segments>(lineage),
            records::of_lineage::<Compactions>(lineage),
            records::of_lineage::<StateValues>(lineage),
            records::of_lineage::<Utterances>(head.branch),
            records::of_lineage::<GivenIds>(head.branch),
        ];
        self.steps.extend(all.map(Step::RemoveAll));
        for trunk in head.trunks.iter() {
            self.remove::<Readers>(&(trunk.lineage, lineage));
            let gone = Ranges::before(trunk.through.next());
            self.releases.push(Release { trunk: trunk.lineage, reader: lineage, gone });
        }
        self.heads.push((lineage, None));
        self.steps.push(Step::Unscrubbed);
    }

    fn point(&mut self, pointer: &PointerWrite) {
        let check = Check::Active(records::key::<Active>(&pointer.recipient), pointer.before.clone());
        self.checks.push((check, Conflict::Pointer(pointer.recipient.clone())));
        match &pointer.after {
            stays if *stays == pointer.before => {}
            Some(id) => self.put::<Active>(&pointer.recipient, id),
            None => self.remove::<Active>(&pointer.recipient),
        }
    }

    fn keep(&mut self, key: &OutcomeKey, outcome: &Outcome) {
        let name = OutcomeName::of(key);
        let check = Check::Absent(records::key::<Outcomes>(&name));
        self.checks.push((check, Conflict::Outcome(key.clone())));
        self.put::<Outcomes>(&name, outcome);
        self.put::<OutcomeAges>(&(outcome.time, name), &());
    }

    fn put<K: Kind>(&mut self, key: &K::Key, value: &K::Value) {
        let (key, value) = records::pair::<K>(key, value);
        self.steps.push(Step::Put(key, value));
    }

    fn remove<K: Kind>(&mut self, key: &K::Key) {
        self.steps.push(Step::Remove(records::key::<K>(key)));
    }
}

#[cfg(test)]
mod tests;
