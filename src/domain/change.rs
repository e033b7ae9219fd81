//! What a command does to a conversation, as facts.
//!
//! A [`Transition`] is built step by step from a state; it ends as a [`Change`] and the state
//! after it. The store persists the change, the trace publishes it, the response is built
//! from it.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

use crate::domain::{
    Conversation, ConversationKey, Policy, Ranges, Revision, Sequence, Timestamp, TokenCounter, Utterance,
    compaction::{Cause, Compaction},
    limits::MAX_SEGMENTS,
    segment::{Segment, Summary, SummaryContext},
    state::{StateEntry, StateValue},
};

/// What happened to one conversation, in one commit. The head that it leads to stands in the
/// state after it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Change {
    /// The revision it applies to; [`Revision::NONE`] when the conversation is new.
    pub before: Revision,
    /// The parent, in a fork's first change; one commit changes both. Of what the parent has archived,
    /// that which the fork's head calls archived is the fork's too; it is not listed here.
    pub inherits: Option<ConversationKey>,
    /// Utterances added, ascending.
    pub appended: Vec<Arc<Utterance>>,
    /// Utterances stored anew, in the window or the archive.
    pub rewritten: Vec<Arc<Utterance>>,
    /// Utterances that left the window for the archive, ascending.
    pub evicted: Vec<Arc<Utterance>>,
    /// Utterances that are in the window again, from the archive, ascending.
    pub returned: Vec<Arc<Utterance>>,
    /// Sequences that left the archive, or never entered it, and are gone.
    pub dropped: Ranges,
    /// Sequences soft-forgotten.
    pub forgotten: Ranges,
    /// Sequences restored.
    pub restored: Ranges,
    /// Sequences hard-forgotten.
    pub erased: Ranges,
    /// Sequences hard-forgotten of which there were remnants alone: they were not stored any more.
    pub remnants: Ranges,
    /// Sequences whose pin, metadata or content changed.
    pub updated: Ranges,
    /// Numbers of segments that are gone.
    pub segments_removed: Vec<u32>,
    /// Segments written.
    pub segments_written: Vec<Arc<Segment>>,
    /// Compactions made, or of which something changed.
    pub compactions_written: Vec<Arc<Compaction>>,
    /// Numbers of compactions that are no longer kept.
    pub compactions_removed: Vec<u32>,
    /// The number of the compaction that it made, or took back.
    pub compaction: Option<u32>,
    /// Values of the state that are set.
    pub state_set: Vec<Arc<StateValue>>,
    /// Names of the state that are deleted.
    pub state_deleted: Vec<Box<str>>,
}

impl Change {
    /// Whether the utterance is stored no more: dropped, or hard-forgotten.
    pub fn removes(&self, sequence: Sequence) -> bool {
        self.dropped.contains(sequence) || self.erased.contains(sequence)
    }
}

/// What a command brings beside itself.
pub struct Context<'a> {
    /// The time.
    pub now: Timestamp,
    /// Counts in the conversation's encoding.
    pub counter: &'a dyn TokenCounter,
    /// What was loaded since the command asked for it.
    pub loaded: &'a Loaded,
    /// Whether there is a model that tells summaries.
    pub llm: bool,
}

impl<'a> Context<'a> {
    /// What a summary is changed with, by what a conversation's policy says.
    pub fn summary_context(&self, policy: &Policy) -> SummaryContext<'a> {
        SummaryContext {
            limit: policy.summary_token_limit,
            counter: self.counter,
            window: None,
            compacts: false,
            awaits: policy.llm_summaries.unwrap_or(self.llm).then_some(self.now),
        }
    }
}

/// What a command must see before it can decide.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Need {
    /// The archived utterances with these sequences.
    Archive(Ranges),
    /// The [bytes](Utterance::stored_bytes) of the archived utterances with these sequences, which may be many.
    ArchivedBytes(Ranges),
    /// Which of these ids name archived utterances.
    ArchivedIds(Vec<Box<str>>),
    /// The values of the conversation's state.
    State,
}

/// What the engine has loaded for a command.
#[derive(Clone, Debug, Default)]
pub struct Loaded {
    /// The sequences that were asked for, and what is stored of them.
    seen: Ranges,
    archive: BTreeMap<Sequence, Arc<Utterance>>,
    ids: Option<HashMap<Box<str>, Sequence>>,
    bytes: Vec<(Ranges, u64)>,
    state: Option<Vec<Arc<StateValue>>>,
}

impl Loaded {
    /// Nothing.
    pub const fn new() -> Self {
        Self { seen: Ranges::new(), archive: BTreeMap::new(), ids: None, bytes: Vec::new(), state: None }
    }

    /// Adds the stored utterances among `wanted` to what was loaded before.
    pub fn add_archive(&mut self, wanted: &Ranges, utterances: Vec<Arc<Utterance>>) {
        self.seen.union(wanted);
        self.archive.extend(utterances.into_iter().map(|utterance| (utterance.sequence, utterance)));
    }

    /// Adds the sequences of the ids that name archived utterances.
    pub fn add_ids(&mut self, ids: HashMap<Box<str>, Sequence>) {
        self.ids = Some(ids);
    }

    /// Adds the bytes of the archived utterances among `wanted`.
    pub fn add_archived_bytes(&mut self, wanted: Ranges, bytes: u64) {
        self.bytes.push((wanted, bytes));
    }

    /// Adds the values of the conversation's state.
    pub fn add_state(&mut self, values: Vec<Arc<StateValue>>) {
        self.state = Some(values);
    }

    /// The values that a head tells of, all of them; or the need of them.
    pub fn state(&self, entries: &[StateEntry]) -> Result<Vec<Arc<StateValue>>, Need> {
        match &self.state {
            _ if entries.is_empty() => Ok(Vec::new()),
            Some(values) => Ok(values.clone()),
            None => Err(Need::State),
        }
    }

    /// The archived utterances among `wanted`, ascending; or the need of them.
    pub fn archive(&self, wanted: &Ranges) -> Result<Vec<Arc<Utterance>>, Need> {
        if !self.seen.holds(wanted) {
            return Err(Need::Archive(wanted.clone()));
        }
        let loaded = wanted.iter().flat_map(|range| self.archive.range(range));
        Ok(loaded.map(|(_, utterance)| utterance.clone()).collect())
    }

    /// The bytes of the archived utterances among `wanted`; or the need of them.
    pub fn archived_bytes(&self, wanted: &Ranges) -> Result<u64, Need> {
        if let Ok(seen) = self.archive(wanted) {
            return Ok(seen.iter().map(|utterance| utterance.stored_bytes()).sum());
        }
        let counted = self.bytes.iter().find(|(counted, _)| counted == wanted);
        counted.map(|(_, bytes)| *bytes).ok_or_else(|| Need::ArchivedBytes(wanted.clone()))
    }

    /// The archived utterances' sequences by the ids that clients gave; or the need of them.
    pub fn ids(&self, wanted: impl FnOnce() -> Vec<Box<str>>) -> Result<&HashMap<Box<str>, Sequence>, Need> {
        self.ids.as_ref().ok_or_else(|| Need::ArchivedIds(wanted()))
    }
}

/// What a command comes to.
#[derive(Clone, Debug)]
pub enum Verdict<T> {
    /// It is decided.
    Decided(T),
    /// It has to see more first.
    Need(Need),
}

impl<T> Verdict<T> {
    /// The verdict with what was decided made into something else.
    pub fn map<U>(self, make: impl FnOnce(T) -> U) -> Verdict<U> {
        match self {
            Self::Decided(decided) => Verdict::Decided(make(decided)),
            Self::Need(need) => Verdict::Need(need),
        }
    }
}

/// A change in the making: the facts so far, and the state that they lead to.
#[derive(Clone, Debug)]
pub struct Transition {
    /// The facts.
    pub change: Change,
    /// The state after them.
    pub after: Conversation,
}

impl Transition {
    /// Starts from `before`.
    pub fn from(before: &Conversation, now: Timestamp) -> Self {
        let mut after = before.clone();
        let revision = after.head.revision;
        after.head.revision = revision.next();
        after.head.update_time = now;
        after.head.drop_expired_shares(now);
        Self { change: Change { before: revision, ..Change::default() }, after }
    }

    /// Adds `utterance` as the newest.
    pub fn append(&mut self, utterance: Arc<Utterance>) {
        self.after.head.weigh(utterance.stored_bytes(), 0);
        self.after.window.push(utterance.clone());
        self.change.appended.push(utterance);
    }

    /// Stores each of `changed` anew in the place of the one with its sequence, which has the same texts.
    pub fn rewrite(&mut self, changed: Vec<Arc<Utterance>>) {
        self.after.window.replace(&changed);
        for utterance in &changed {
            self.note_pin(utterance);
        }
        self.change.rewritten.extend(changed);
    }

    /// The same with what may have other texts than `before` it.
    pub fn rewrite_texts(&mut self, before: &[Arc<Utterance>], changed: Vec<Arc<Utterance>>) {
        self.after.head.weigh(bytes(&changed), bytes(before));
        self.rewrite(changed);
    }

    /// Keeps book of what is pinned in the archive.
    fn note_pin(&mut self, utterance: &Utterance) {
        let (head, sequence) = (&mut self.after.head, utterance.sequence);
        match head.archived.contains(sequence) && utterance.pinned {
            noted if noted == head.pinned_away.contains(sequence) => {}
            true => Arc::make_mut(&mut head.pinned_away).add(sequence),
            false => Arc::make_mut(&mut head.pinned_away).remove(sequence, sequence),
        }
    }

    /// Takes `gone` out of everything: window, archive, summary, and what compactions would bring back.
    pub fn erase(&mut self, gone: &Ranges, context: &Context<'_>) -> Result<(), Need> {
        let bytes = self.bytes_of(gone, context)?;
        self.after.head.weigh(0, bytes);
        self.after.window.remove(gone);
        subtract(&mut self.after.head.left, gone);
        subtract(&mut self.after.head.archived, gone);
        subtract(&mut self.after.head.pinned_away, gone);
        self.erase_told(gone, context);
        self.after.head.erased_at = self.after.head.revision;
        self.change.erased.union(gone);
        Ok(())
    }

    /// The bytes of `gone`, which are stored, as they are by now.
    fn bytes_of(&self, gone: &Ranges, context: &Context<'_>) -> Result<u64, Need> {
        let (mut rest, mut bytes) = (gone.clone(), 0);
        let mut live = gone.clone();
        live.subtract(&self.after.head.left);
        let live = live.sequences().filter_map(|sequence| self.after.window.get(sequence));
        for known in live.chain(self.change.rewritten.iter().rev()).chain(&self.change.evicted) {
            if rest.contains(known.sequence) {
                rest.remove(known.sequence, known.sequence);
                bytes += known.stored_bytes();
            }
        }
        Ok(bytes + context.loaded.archived_bytes(&rest)?)
    }

    /// Takes `gone`, which are no longer stored, out of the summary.
    pub fn erase_remnants(&mut self, gone: &Ranges, context: &Context<'_>) {
        if !gone.is_empty() {
            self.erase_told(gone, context);
            self.after.head.erased_at = self.after.head.revision;
            self.change.remnants.union(gone);
        }
    }

    fn erase_told(&mut self, gone: &Ranges, context: &Context<'_>) {
        let with = context.summary_context(&self.after.head.policy);
        self.change_summary(|summary, with| summary.erase(gone, with), &with);
        self.erase_compacted(gone);
        self.after.head.unabandon(gone);
        self.after.head.unanswer(gone);
    }

    /// Evicts what the policy does not let stay, summarises and archives it. When its turns brought that
    /// about, it is a compaction.
    pub fn evict(&mut self, context: &Context<'_>) -> Result<(), Need> {
        let compacts = self.after.window.is_over_turns(&self.after.head.policy);
        self.evict_noting(compacts, context)
    }

    /// The same, because the policy changed: a compaction.
    pub(in crate::domain) fn evict_by_policy(&mut self, context: &Context<'_>) -> Result<(), Need> {
        self.evict_noting(true, context)
    }

    fn evict_noting(&mut self, compacts: bool, context: &Context<'_>) -> Result<(), Need> {
        let before = compacts.then(|| self.after.clone());
        let evicted = self.after.window.evict(&self.after.head.policy);
        if !evicted.is_empty() {
            let sequences: Ranges = evicted.iter().map(|utterance| utterance.sequence).collect();
            self.archive(evicted.clone(), &sequences);
            self.summarise(&evicted, &[], compacts, context);
            if let Some(before) = before {
                self.record_compaction(&before, &evicted, Cause::Policy, None, true);
            }
        }
        self.shorten_archive(context)
    }

    /// Notes that `evicted` left the window for the archive.
    pub(in crate::domain) fn archive(&mut self, evicted: Vec<Arc<Utterance>>, sequences: &Ranges) {
        Arc::make_mut(&mut self.after.head.left).union(sequences);
        Arc::make_mut(&mut self.after.head.archived).union(sequences);
        self.change.evicted.extend(evicted);
    }

    /// Drops the oldest of the archive beyond its limit.
    pub(in crate::domain) fn shorten_archive(&mut self, context: &Context<'_>) -> Result<(), Need> {
        self.trim_archive(self.after.head.policy.archive_limit, context)
    }

    /// Ends the transition: what it says of segments is now complete.
    pub fn finish(mut self, before: &Summary) -> Self {
        self.forget_answer();
        self.tell_segments(before);
        self.after.head.stored += self.change.appended.len() as u64;
        self.after.head.stored -= self.change.erased.count() + self.change.dropped.count();
        self.after.head.window_tokens = Some(self.after.window.tokens());
        if !(self.change.appended.is_empty() && self.change.rewritten.is_empty()) {
            self.after.head.fresh_branch = false;
        }
        debug_assert!(self.after.summary.segments().len() <= MAX_SEGMENTS);
        self
    }

    /// Says what became of the segments that there were `before`.
    pub(in crate::domain) fn tell_segments(&mut self, before: &Summary) {
        let difference = self.after.summary.changed_from(before);
        self.change.segments_removed = difference.removed;
        self.change.segments_written = difference.written;
    }

    /// Takes what `gone` holds for out of what was imported into the summary.
    pub(in crate::domain) fn erase_imported(&mut self, gone: impl Fn(&str) -> bool) {
        let after = self.after.summary.erase_imported(gone);
        if after != self.after.summary {
            self.after.summary = after;
            self.after.head.erased_at = self.after.head.revision;
        }
    }

    /// Drops the oldest of the archive beyond `limit`, a unit whole, and a twentieth more, so
    /// that units need to be looked up only once in a while.
    fn trim_archive(&mut self, limit: u32, context: &Context<'_>) -> Result<(), Need> {
        let limit = u64::from(limit);
        let count = self.after.head.archived.count();
        if count <= limit {
            return Ok(());
        }
        let mut rest = (*self.after.head.archived).clone();
        let mut dropped = rest.take_first(count - (limit - limit / 20));
        self.complete_unit(&mut dropped, &rest, context)?;
        let bytes = self.bytes_of(&dropped, context)?;
        self.after.head.weigh(0, bytes);
        subtract(&mut self.after.head.archived, &dropped);
        subtract(&mut self.after.head.pinned_away, &dropped);
        self.after.head.unabandon(&dropped);
        self.change.dropped.union(&dropped);
        Ok(())
    }

    /// Extends `dropped` to the end of its last unit, looking at `rest`, which follows it.
    fn complete_unit(&self, dropped: &mut Ranges, rest: &Ranges, context: &Context<'_>) -> Result<(), Need> {
        const LOOK_AHEAD: u64 = 64;
        let Some(last) = dropped.last() else { return Ok(()) };
        let fresh: Ranges = self.change.evicted.iter().map(|utterance| utterance.sequence).collect();
        let mut older = rest.clone();
        older.subtract(&fresh);
        let mut count = LOOK_AHEAD;
        loop {
            let wanted = older.clone().take_first(count);
            let mut all = wanted.clone();
            all.union(&fresh);
            if dropped.count() <= LOOK_AHEAD {
                // their bytes are asked for next
                all.union(dropped);
            }
            let archived = self.archived(&all, context.loaded)?;
            let followers = archived.iter().filter(|u| u.sequence > last);
            // A unit that was pinned leaves later than those behind it.
            let same_unit: Ranges = followers.filter(|u| u.unit <= last).map(|u| u.sequence).collect();
            let seen_its_end = same_unit.intersection(&wanted) != wanted || wanted == older;
            if seen_its_end {
                dropped.union(&same_unit);
                return Ok(());
            }
            count *= 8;
        }
    }
}

fn bytes(utterances: &[Arc<Utterance>]) -> u64 {
    utterances.iter().map(|utterance| utterance.stored_bytes()).sum()
}

fn subtract(from: &mut Arc<Ranges>, gone: &Ranges) {
    if from.meets(gone) {
        Arc::make_mut(from).subtract(gone);
    }
}
