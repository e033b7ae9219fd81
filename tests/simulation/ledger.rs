//! What took effect in the store, in order: the truth that everything else is compared with.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use utterd::{
    domain::{
        Change, ChangeId, Conversation, ConversationId, LineageId, RecipientId, Revision, Sequence, Utterance,
    },
    store::{Commit, Outcome, OutcomeKey, Write},
};

use crate::story::Tick;

/// The stored utterances of a conversation, in its window and its archive.
pub type Stored = BTreeMap<Sequence, Arc<Utterance>>;

/// Who made a commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// An engine: one life of one process.
    Run(usize),
    /// A process that the run does not observe.
    Stranger,
}

/// A conversation after one change.
#[derive(Clone)]
pub struct Version {
    /// When it took effect.
    pub tick: Tick,
    pub by: By,
    /// Its life and its revision; `None` if there is no such conversation.
    pub place: Option<(LineageId, Revision)>,
    /// The whole state. A commit with several changes only contains the last one's.
    pub state: Option<Arc<Conversation>>,
    pub change: Option<Arc<Change>>,
    pub stored: Arc<Stored>,
}

impl Version {
    fn absent(tick: Tick, by: By) -> Self {
        Self { tick, by, place: None, state: None, change: None, stored: Arc::default() }
    }

    /// Whether the conversation exists.
    pub fn exists(&self) -> bool {
        self.place.is_some()
    }

    /// Whether it might have ended: for unknown states in the middle of a commit.
    pub fn may_be_closed(&self) -> bool {
        self.exists() && self.state.as_ref().is_none_or(|state| state.head.ended.is_some())
    }
}

/// The outcome of a request id.
pub struct Kept {
    pub tick: Tick,
    pub outcome: Arc<Outcome>,
    /// The version of its conversation that it belongs to.
    pub version: usize,
}

/// Everything that took effect.
#[derive(Default)]
pub struct Ledger {
    pub conversations: BTreeMap<ConversationId, Vec<Version>>,
    /// The changes that took effect. A fork changes its parent without a revision.
    changes: BTreeSet<(ConversationId, ChangeId)>,
    pub pointers: BTreeMap<RecipientId, Vec<(Tick, Option<ConversationId>)>>,
    pub outcomes: BTreeMap<OutcomeKey, Kept>,
    /// The commits whose callers know that they took effect, by tick.
    pub acknowledged: BTreeSet<Tick>,
    /// Violations of the rules by commits.
    pub wrongs: Vec<String>,
}

impl Ledger {
    /// The versions of a conversation, the first of which is before it ever existed.
    pub fn versions(&self, id: &ConversationId) -> Vec<Version> {
        let mut versions = vec![Version::absent(0, By::Stranger)];
        versions.extend(self.conversations.get(id).into_iter().flatten().cloned());
        versions
    }

    /// Whether a change of a conversation took effect.
    pub fn took(&self, id: &ConversationId, change: ChangeId) -> bool {
        self.changes.contains(&(id.clone(), change))
    }

    /// The state that is stored now.
    pub fn newest(&self, id: &ConversationId) -> Option<&Version> {
        self.conversations.get(id)?.last().filter(|version| version.exists())
    }

    /// The conversations that exist now.
    pub fn existing(&self) -> Vec<ConversationId> {
        let exists = |id: &&ConversationId| self.newest(id).is_some();
        self.conversations.keys().filter(exists).cloned().collect()
    }

    /// What was active for a recipient, and since when.
    pub fn pointers(&self, recipient: &RecipientId) -> Vec<(Tick, Option<ConversationId>)> {
        let mut pointers = vec![(0, None)];
        pointers.extend(self.pointers.get(recipient).into_iter().flatten().cloned());
        pointers
    }

    /// What is active for a recipient now.
    pub fn active(&self, recipient: &RecipientId) -> Option<ConversationId> {
        self.pointers.get(recipient)?.last()?.1.clone()
    }

    /// Records a commit that took effect.
    pub fn take(&mut self, commit: &Commit, tick: Tick, by: By) {
        // a fork first, while its parent is unchanged
        let (forks, others): (Vec<_>, Vec<_>) = commit.writes.iter().partition(|write| is_fork(write));
        for write in forks.into_iter().chain(others) {
            self.write(write, tick, by);
        }
        for pointer in &commit.pointers {
            let before = self.active(&pointer.recipient.id);
            if before != pointer.before {
                self.wrongs.push(format!("{tick}: {before:?} was overwritten as active"));
            }
            if before != pointer.after {
                let changes = self.pointers.entry(pointer.recipient.id.clone()).or_default();
                changes.push((tick, pointer.after.clone()));
            }
        }
        for (key, outcome) in &commit.outcomes {
            let kept = Kept { tick, outcome: outcome.clone(), version: self.version_of(outcome) };
            if self.outcomes.insert(key.clone(), kept).is_some() {
                self.wrongs.push(format!("{tick}: {} took effect twice", key.request));
            }
        }
        self.check_pointers(commit, tick);
    }

    /// The place of the version that an outcome belongs to, as [`Self::versions`] counts.
    fn version_of(&self, outcome: &Outcome) -> usize {
        let revision = |version: &Version| version.place.map(|(_, revision)| revision);
        let versions = self.conversations.get(&outcome.conversation);
        let place =
            versions.and_then(|all| all.iter().rposition(|one| revision(one) == Some(outcome.revision)));
        place.map_or(0, |place| place + 1)
    }

    fn write(&mut self, write: &Write, tick: Tick, by: By) {
        let id = write.key().id.clone();
        self.changes.extend(write.after().map(|after| (id.clone(), after.head.change)));
        let known = self.newest(&id).cloned();
        let is_true = match (&known, write.before()) {
            (None, None) => true,
            (Some(known), Some(before)) => known.state.as_ref() == Some(before),
            _ => false,
        };
        if !is_true {
            self.wrongs.push(format!("{tick}: {id} was changed from a state that it was not in"));
        }
        if let (Some(known), Some(after)) = (&known, write.after())
            && known.place.is_some_and(|(_, revision)| revision == after.head.revision)
        {
            // it was forked: nothing of it changes but the branch that it writes to
            self.freeze(after.clone());
            return;
        }
        let mut version = known.unwrap_or_else(|| Version::absent(tick, by));
        for (change, after) in changes(write) {
            version = self.step(&version, change, &write.after().cloned(), after, (tick, by));
            self.conversations.entry(id.clone()).or_default().push(version.clone());
        }
        if write.after().is_none() {
            self.conversations.entry(id).or_default().push(Version::absent(tick, by));
        }
    }

    fn freeze(&mut self, after: Arc<Conversation>) {
        let newest = self.conversations.get_mut(&after.key().id).and_then(|all| all.last_mut());
        newest.into_iter().for_each(|newest| newest.state = Some(after.clone()));
    }

    /// The version that a change makes of `before`; `whole` is the resulting state, if it is known.
    fn step(
        &mut self,
        before: &Version,
        change: &Arc<Change>,
        last: &Option<Arc<Conversation>>,
        whole: Option<&Arc<Conversation>>,
        (tick, by): (Tick, By),
    ) -> Version {
        let mut stored = (*before.stored).clone();
        if let Some(parent) = &change.inherits {
            stored = self.newest(&parent.id).map(|parent| (*parent.stored).clone()).unwrap_or_default();
            stored.retain(|sequence, _| last.as_ref().is_some_and(|fork| fork.stores(*sequence)));
        }
        for utterance in change.appended.iter().chain(&change.rewritten) {
            stored.insert(utterance.sequence, utterance.clone());
        }
        stored.retain(|sequence, _| !change.removes(*sequence));
        if let Some(whole) = whole {
            self.check_stored(whole, &stored, tick);
        }
        let lineage = last.as_ref().map(|last| last.head.identity.lineage);
        let place = lineage.map(|lineage| (lineage, change.before.next()));
        Version {
            tick,
            by,
            place,
            state: whole.cloned(),
            change: Some(change.clone()),
            stored: stored.into(),
        }
    }

    /// The facts of the changes must lead to the stored state.
    fn check_stored(&mut self, state: &Conversation, stored: &Stored, tick: Tick) {
        let mut expected = state.head.archived.sequences().collect::<Vec<_>>();
        expected.extend(state.window.iter().map(|utterance| utterance.sequence));
        expected.sort_unstable();
        let is_same = stored.keys().copied().eq(expected.iter().copied())
            && state.window.iter().all(|utterance| stored.get(&utterance.sequence) == Some(utterance));
        if !is_same {
            let (id, stored) = (&state.key().id, stored.keys().map(|sequence| sequence.get()));
            let stored: Vec<_> = stored.collect();
            self.wrongs.push(format!("{tick}: {id} tells of {expected:?}, but its changes of {stored:?}"));
        }
    }

    /// What is active for a recipient must exist and not have ended.
    fn check_pointers(&mut self, commit: &Commit, tick: Tick) {
        let touched = commit.writes.iter().map(|write| &write.key().id);
        let named = commit.pointers.iter().filter_map(|pointer| pointer.after.as_ref());
        for id in touched.chain(named) {
            let is_active =
                self.pointers.values().any(|list| list.last().is_some_and(|(_, to)| to.as_ref() == Some(id)));
            let is_open = self.newest(id).and_then(|version| version.state.as_ref());
            let is_open = is_open.is_some_and(|state| state.head.ended.is_none());
            if is_active && !is_open {
                self.wrongs.push(format!("{tick}: {id} is active, though it has ended or does not exist"));
            }
        }
    }
}

/// The changes of a write in order, each with the state after it if the write contains that.
fn changes(write: &Write) -> Vec<(&Arc<Change>, Option<&Arc<Conversation>>)> {
    match write {
        Write::Change { changes, after, .. } => {
            let last = changes.len() - 1;
            let whole = |place| (place == last).then_some(after);
            changes.iter().enumerate().map(|(place, change)| (change, whole(place))).collect()
        }
        Write::Delete { .. } => Vec::new(),
    }
}

fn is_fork(write: &Write) -> bool {
    changes(write).first().is_some_and(|(change, _)| change.inherits.is_some())
}

/// A state without what forks of it change: where its utterances are stored.
pub fn shown(state: &Conversation) -> Conversation {
    let mut shown = state.clone();
    let head = &mut shown.head;
    (head.change, head.trunks, head.fresh_branch) = Default::default();
    head.branch = head.identity.lineage;
    shown
}
