//! What a command does to a conversation, as facts.
//!
//! A [`Transition`] is built step by step from a state, and ends as a [`Change`] and the state after it. The
//! store persists the change, the trace publishes it, and the response is built from it.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

use crate::{
    Conversation, ConversationKey, Policy, Ranges, Refusal, Revision, Sequence, Timestamp, TokenCounter,
    Utterance,
    compaction::{Cause, Compaction},
    limits::MAX_SEGMENTS,
    segment::{Segment, Summary, SummaryContext},
    state::{StateEntry, StateValue},
};

/// What happened to one conversation in one commit. The resulting head is in the state after it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Change {
    /// The revision that the change applies to; [`Revision::NONE`] for a new conversation.
    pub before: Revision,
    /// The parent, in a fork's first change; one commit changes both. Those of the parent's archived
    /// utterances that the fork's head lists as archived belong to the fork too; they are not listed here.
    pub inherits: Option<ConversationKey>,
    /// Utterances added, ascending.
    pub appended: Vec<Arc<Utterance>>,
    /// Utterances stored again, each once, in the window or the archive.
    pub rewritten: Vec<Arc<Utterance>>,
    /// Utterances that left the window for the archive, ascending.
    pub evicted: Vec<Arc<Utterance>>,
    /// Utterances that returned to the window from the archive, ascending.
    pub returned: Vec<Arc<Utterance>>,
    /// Sequences that left the archive or never entered it, and are no longer stored.
    pub dropped: Ranges,
    /// Sequences soft-forgotten.
    pub forgotten: Ranges,
    /// Sequences restored.
    pub restored: Ranges,
    /// Sequences hard-forgotten.
    pub erased: Ranges,
    /// Hard-forgotten sequences that were no longer stored: only remnants of them were left.
    pub remnants: Ranges,
    /// Sequences whose pin, metadata or content changed.
    pub updated: Ranges,
    /// Numbers of removed segments.
    pub segments_removed: Vec<u32>,
    /// Segments written.
    pub segments_written: Vec<Arc<Segment>>,
    /// Compactions created or changed.
    pub compactions_written: Vec<Arc<Compaction>>,
    /// Numbers of compactions that are no longer kept.
    pub compactions_removed: Vec<u32>,
    /// The number of the compaction that the change made or undid.
    pub compaction: Option<u32>,
    /// State values that were set.
    pub state_set: Vec<Arc<StateValue>>,
    /// Names of the state values that were deleted.
    pub state_deleted: Vec<Box<str>>,
}

impl Change {
    /// Whether the utterance is no longer stored: dropped, or hard-forgotten.
    pub fn removes(&self, sequence: Sequence) -> bool {
        self.dropped.contains(sequence) || self.erased.contains(sequence)
    }
}

/// What a command needs besides its arguments.
pub struct Context<'a> {
    /// The current time.
    pub now: Timestamp,
    /// Counts tokens in the conversation's encoding.
    pub counter: &'a dyn TokenCounter,
    /// The data that was loaded because the command asked for it.
    pub loaded: &'a Loaded,
    /// Whether there is a model that writes summaries.
    pub llm: bool,
}

impl<'a> Context<'a> {
    /// The context for changing a summary under a conversation's policy.
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

/// What a command must see before it can be decided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Need {
    /// The archived utterances with these sequences.
    Archive(Ranges),
    /// The total [bytes](Utterance::stored_bytes) of the archived utterances with these sequences, which may
    /// be many.
    ArchivedBytes(Ranges),
    /// Which of these ids name archived utterances.
    ArchivedIds(Vec<Box<str>>),
    /// The values of the conversation's state.
    State,
}

/// What the engine has loaded for a command.
#[derive(Clone, Debug, Default)]
pub struct Loaded {
    /// The sequences that were asked for; `archive` has those that are stored.
    seen: Ranges,
    archive: BTreeMap<Sequence, Arc<Utterance>>,
    ids: Option<HashMap<Box<str>, Sequence>>,
    bytes: Vec<(Ranges, u64)>,
    state: Option<Vec<Arc<StateValue>>>,
}

impl Loaded {
    /// Nothing loaded yet.
    pub const fn new() -> Self {
        Self { seen: Ranges::new(), archive: BTreeMap::new(), ids: None, bytes: Vec::new(), state: None }
    }

    /// The tokens of the archived utterances.
    pub fn tokens(&self) -> u64 {
        self.archive.values().map(|utterance| u64::from(utterance.tokens)).sum()
    }

    /// Adds the stored utterances among `wanted`.
    pub fn add_archive(&mut self, wanted: &Ranges, utterances: Vec<Arc<Utterance>>) {
        self.seen.union(wanted);
        self.archive.extend(utterances.into_iter().map(|utterance| (utterance.sequence, utterance)));
    }

    /// Adds the sequences of those ids that name archived utterances.
    pub fn add_ids(&mut self, ids: HashMap<Box<str>, Sequence>) {
        self.ids = Some(ids);
    }

    /// Adds the byte count of the archived utterances among `wanted`.
    pub fn add_archived_bytes(&mut self, wanted: Ranges, bytes: u64) {
        self.bytes.push((wanted, bytes));
    }

    /// Adds the values of the conversation's state.
    pub fn add_state(&mut self, values: Vec<Arc<StateValue>>) {
        self.state = Some(values);
    }

    /// Returns all the values that a head lists, or the need to load them.
    pub fn state(&self, entries: &[StateEntry]) -> Result<Vec<Arc<StateValue>>, Need> {
        match &self.state {
            _ if entries.is_empty() => Ok(Vec::new()),
            Some(values) => Ok(values.clone()),
            None => Err(Need::State),
        }
    }

    /// Returns the archived utterances among `wanted`, ascending, or the need to load them.
    pub fn archive(&self, wanted: &Ranges) -> Result<Vec<Arc<Utterance>>, Need> {
        if !self.seen.holds(wanted) {
            return Err(Need::Archive(wanted.clone()));
        }
        let loaded = wanted.iter().flat_map(|range| self.archive.range(range));
        Ok(loaded.map(|(_, utterance)| utterance.clone()).collect())
    }

    /// Returns the bytes of the archived utterances among `wanted`, or the need to load them.
    pub fn archived_bytes(&self, wanted: &Ranges) -> Result<u64, Need> {
        if let Ok(seen) = self.archive(wanted) {
            return Ok(seen.iter().map(|utterance| utterance.stored_bytes()).sum());
        }
        let counted = self.bytes.iter().find(|(counted, _)| counted == wanted);
        counted.map(|(_, bytes)| *bytes).ok_or_else(|| Need::ArchivedBytes(wanted.clone()))
    }

    /// Returns the sequences of archived utterances by client-given id, or the need to load them.
    pub fn ids(&self, wanted: impl FnOnce() -> Vec<Box<str>>) -> Result<&HashMap<Box<str>, Sequence>, Need> {
        self.ids.as_ref().ok_or_else(|| Need::ArchivedIds(wanted()))
    }
}

/// Why a command is not decided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Undecided {
    /// It has to see more first.
    Needs(Need),
    /// The rules refuse it.
    Refused(Refusal),
}

impl From<Need> for Undecided {
    fn from(need: Need) -> Self {
        Self::Needs(need)
    }
}

impl<E: Into<Refusal>> From<E> for Undecided {
    fn from(refusal: E) -> Self {
        Self::Refused(refusal.into())
    }
}

/// A change in the making: the facts so far, and the state they lead to.
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

    /// Stores each of `changed` in place of the utterance with the same sequence, whose texts are the same.
    pub fn rewrite(&mut self, changed: Vec<Arc<Utterance>>) {
        self.after.window.replace(&changed);
        for utterance in &changed {
            self.note_pin(utterance);
        }
        let again: Ranges = changed.iter().map(|utterance| utterance.sequence).collect();
        self.change.rewritten.retain(|earlier| !again.contains(earlier.sequence));
        self.change.rewritten.extend(changed);
    }

    /// Like [`rewrite`](Self::rewrite), for utterances whose texts may differ from those in `before`.
    pub fn rewrite_texts(&mut self, before: &[Arc<Utterance>], changed: Vec<Arc<Utterance>>) {
        self.after.head.weigh(bytes(&changed), bytes(before));
        self.rewrite(changed);
    }

    /// Keeps track of the pins in the archive.
    fn note_pin(&mut self, utterance: &Utterance) {
        let (head, sequence) = (&mut self.after.head, utterance.sequence);
        match head.archived.contains(sequence) && utterance.pinned {
            noted if noted == head.pinned_away.contains(sequence) => {}
            true => Arc::make_mut(&mut head.pinned_away).add(sequence),
            false => Arc::make_mut(&mut head.pinned_away).remove(sequence, sequence),
        }
    }

    /// Removes `gone` from the window, the archive and the summary, and from the text that undoing a
    /// compaction would restore.
    pub fn erase(&mut self, gone: &Ranges, context: &Context<'_>) -> Result<(), Need> {
        let bytes = self.bytes_of(gone, context)?;
        self.after.head.weigh(0, bytes);
        self.after.window.remove(gone);
        subtract(&mut self.after.head.left, gone);
        subtract(&mut self.after.head.archived, gone);
        subtract(&mut self.after.head.pinned_away, gone);
        self.erase_from_summary(gone, context);
        self.after.head.erased_at = self.after.head.revision;
        self.change.erased.union(gone);
        Ok(())
    }

    /// The current size in bytes of `gone`, all of which are stored.
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

    /// Removes `gone`, which are no longer stored, from the summary.
    pub fn erase_remnants(&mut self, gone: &Ranges, context: &Context<'_>) {
        if !gone.is_empty() {
            self.erase_from_summary(gone, context);
            self.after.head.erased_at = self.after.head.revision;
            self.change.remnants.union(gone);
        }
    }

    fn erase_from_summary(&mut self, gone: &Ranges, context: &Context<'_>) {
        let with = context.summary_context(&self.after.head.policy);
        self.change_summary(|summary, with| summary.erase(gone, with), &with);
        self.erase_compacted(gone);
        self.after.head.unabandon(gone);
        self.after.head.unanswer(gone);
    }

    /// Evicts what the policy does not let stay, summarises it and archives it. If the turn limit caused the
    /// eviction, it is a compaction.
    pub fn evict(&mut self, context: &Context<'_>) -> Result<(), Need> {
        let compacts = self.after.window.is_over_turns(&self.after.head.policy);
        self.evict_noting(compacts, context)
    }

    /// Like [`evict`](Self::evict), because the policy changed: always a compaction.
    pub(crate) fn evict_by_policy(&mut self, context: &Context<'_>) -> Result<(), Need> {
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

    /// Records that `evicted` left the window for the archive.
    pub(crate) fn archive(&mut self, evicted: Vec<Arc<Utterance>>, sequences: &Ranges) {
        Arc::make_mut(&mut self.after.head.left).union(sequences);
        Arc::make_mut(&mut self.after.head.archived).union(sequences);
        self.change.evicted.extend(evicted);
    }

    /// Drops the oldest utterances of an archive that is over its limit.
    pub(crate) fn shorten_archive(&mut self, context: &Context<'_>) -> Result<(), Need> {
        self.trim_archive(self.after.head.policy.archive_limit, context)
    }

    /// Ends the transition: completes what the change says about segments, and the head's counts.
    pub fn finish(mut self, before: &Summary) -> Self {
        self.forget_answer();
        self.tell_segments(before);
        let head = &self.after.head;
        if [head.erased_at, head.silenced_at].contains(&head.revision) || self.change.inherits.is_some() {
            self.remake_title();
        }
        self.after.head.stored += self.change.appended.len() as u64;
        self.after.head.stored -= self.change.erased.count() + self.change.dropped.count();
        self.after.head.window_tokens = self.after.window.tokens();
        if !(self.change.appended.is_empty() && self.change.rewritten.is_empty()) {
            self.after.head.fresh_branch = false;
        }
        debug_assert!(self.after.summary.segments().len() <= MAX_SEGMENTS);
        self
    }

    /// Records how the segments changed since `before`.
    pub(crate) fn tell_segments(&mut self, before: &Summary) {
        let difference = self.after.summary.changed_from(before);
        self.change.segments_removed = difference.removed;
        self.change.segments_written = difference.written;
    }

    /// Removes from the summary the imported text for which `gone` holds.
    pub(crate) fn erase_imported(&mut self, gone: impl Fn(&str) -> bool, context: &Context<'_>) {
        let with = context.summary_context(&self.after.head.policy);
        let after = self.after.summary.erase_imported(gone, &with);
        if after != self.after.summary {
            self.after.summary = after;
            self.after.head.erased_at = self.after.head.revision;
        }
    }

    /// If the archive is over `limit`, drops its oldest utterances in whole units, and a twentieth of the
    /// limit more, so that units only rarely need to be looked up.
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

    /// Extends `dropped` to the end of its last unit; `rest` is the archive after it.
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
                // their bytes are needed next
                all.union(dropped);
            }
            let archived = self.archived(&all, context.loaded)?;
            let followers = archived.iter().filter(|u| u.sequence > last);
            // A unit that was pinned leaves later than the units after it.
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
