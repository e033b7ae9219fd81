//! A conversation that changes by the rules, and the state that a store must have after each step.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use super::values::{self, RECIPIENT, identity, key};
use crate::{Changes, Commit, RecipientKey, Store, Write};
use utterd_domain::{
    Change, Conversation, ConversationKey, Draft, Identity, Loaded, Need, Policy, Ranges, Refusal, Revision,
    Sequence, ShareId, Timestamp, TokenCounter, Transition, Undecided, Utterance,
    capacity::Capacity,
    change::Context,
    edit::NewContent,
    end::{End, end},
    forget::{
        Forget, forget,
        restore::{Restore, restore},
    },
    forgetting,
    memorize::{Memorize, Replace, memorize, replace},
    policy::PolicyUpdate,
    share::{Secret, ShareDigest, Sharing, revoke, share},
    update::{Create, Update, UpdateUtterance, create, update, update_utterance},
};

/// Counts words as tokens: the suite tests storage, not tokenization.
pub struct Words;

impl TokenCounter for Words {
    fn count(&self, text: &str) -> u32 {
        u32::try_from(text.split_whitespace().count()).unwrap_or(u32::MAX)
    }
}

/// One conversation: its expected state and archive in the store.
#[derive(Clone)]
pub struct Script {
    pub store: Arc<dyn Store>,
    pub state: Arc<Conversation>,
    pub now: Timestamp,
    pub archive: BTreeMap<Sequence, Arc<Utterance>>,
    /// Whether results without a call are accepted.
    pub lenient: bool,
}

/// A decided change that is not committed yet.
#[derive(Clone)]
pub struct Step {
    before: Option<Arc<Conversation>>,
    pub change: Arc<Change>,
    pub after: Arc<Conversation>,
}

impl Step {
    pub fn of(before: &Arc<Conversation>, transition: Transition) -> Self {
        let exists = before.head.revision != Revision::NONE;
        let before = exists.then(|| before.clone());
        let Transition { change, mut after } = transition;
        after.head.change = values::change();
        assert_eq!(after.check(), [""; 0]);
        Self { before, change: Arc::new(change), after: Arc::new(after) }
    }

    pub fn write(&self) -> Write {
        let Self { before, change, after } = self.clone();
        Write::Change { before, changes: Changes::from_iter([change]), after }
    }

    pub fn commit(&self) -> Commit {
        Commit { writes: vec![self.write()], ..Commit::default() }
    }
}

impl Script {
    /// A conversation of [`RECIPIENT`] with the rolling policy, before its first revision.
    pub fn new(store: &Arc<dyn Store>, id: &str) -> Self {
        Self::with(store, id, Policy::ROLLING)
    }

    /// A conversation of [`RECIPIENT`] before its first revision.
    pub fn with(store: &Arc<dyn Store>, id: &str, policy: Policy) -> Self {
        Self::of(store, identity(key(id), RECIPIENT), policy)
    }

    /// A conversation before its first revision.
    pub fn of(store: &Arc<dyn Store>, identity: Identity, policy: Policy) -> Self {
        let now = identity.start_time;
        let state = Arc::new(Conversation::new(identity, policy));
        Self { store: store.clone(), state, now, archive: BTreeMap::new(), lenient: false }
    }

    pub fn key(&self) -> &ConversationKey {
        self.state.key()
    }

    pub fn recipient(&self) -> RecipientKey {
        RecipientKey::of(&self.state.head.identity)
    }

    /// Creates the conversation without utterances.
    pub async fn create(&mut self) {
        let step = self.creating();
        self.apply(&step).await;
    }

    pub fn creating(&self) -> Step {
        let head = &self.state.head;
        let command = Create {
            identity: (*head.identity).clone(),
            policy: head.policy.clone(),
            title: Some("Travel".into()),
            labels: BTreeMap::from([("team".to_owned(), "blue".to_owned())]),
        };
        Step::of(&self.state, create(&command, self.now))
    }

    pub async fn say(&mut self, drafts: Vec<Draft>) -> Step {
        let step = self.saying(drafts).await;
        self.apply(&step).await;
        step
    }

    /// Replaces all utterances after a sequence.
    pub async fn replace(&mut self, after: Sequence, drafts: Vec<Draft>) {
        let command = Replace { after, memorize: self.command(drafts) };
        let replaced = self.decide(|before, context| replace(before, &command, context)).await;
        let step = Step::of(&self.state, replaced.transition);
        self.apply(&step).await;
    }

    fn command(&self, drafts: Vec<Draft>) -> Memorize {
        let tokens = drafts.iter().map(|draft| draft.tokens(&Words)).collect();
        let (encoding, lenient) = (self.state.head.identity.encoding, self.lenient);
        Memorize { drafts, tokens, encoding, lenient, ..Memorize::default() }
    }

    pub async fn saying(&self, drafts: Vec<Draft>) -> Step {
        let command = self.command(drafts);
        let memorized = self.decide(|before, context| memorize(before, &command, context)).await;
        Step::of(&self.state, memorized.transition)
    }

    /// Forgets what `instruction` selects; returns whether it selects anything.
    pub async fn forget(&mut self, instruction: &str, hard: bool) -> bool {
        match self.forgetting(instruction, hard).await {
            Some(step) => {
                self.apply(&step).await;
                true
            }
            None => false,
        }
    }

    /// The step that forgets what `instruction` selects, if it selects anything.
    pub async fn forgetting(&self, instruction: &str, hard: bool) -> Option<Step> {
        let instruction = forgetting::parse(instruction).expect("an instruction");
        let command = Forget { instruction, hard, expected: None };
        let forgotten = self.decide(|before, context| forget(before, &command, context)).await;
        forgotten.transition.map(|transition| Step::of(&self.state, transition))
    }

    /// Restores the units of these utterances; returns whether any of them was forgotten.
    pub async fn restore(&mut self, sequences: &[u64]) -> bool {
        let ids = sequences.iter().map(|sequence| self.id_of(*sequence)).collect();
        let command = Restore { ids, expected: None };
        let transition = self.decide(|before, context| restore(before, &command, context)).await;
        self.apply_if(transition).await
    }

    /// Pins or unpins an utterance's unit and replaces its metadata.
    pub async fn mark(&mut self, sequence: u64, pinned: bool, note: &str) -> bool {
        let metadata = BTreeMap::from([("note".to_owned(), note.to_owned())]);
        let id = self.id_of(sequence);
        let (pinned, metadata) = (Some(pinned), Some(metadata));
        let command = UpdateUtterance { id, pinned, metadata, content: None, expected: None };
        let updated = self.decide(|before, context| update_utterance(before, &command, context)).await;
        self.apply_if(updated.transition).await
    }

    pub async fn update(&mut self, command: Update) {
        let transition = self.decide(|before, context| update(before, &command, context)).await;
        self.apply(&Step::of(&self.state, transition)).await;
    }

    /// Changes the policy.
    pub async fn limit(&mut self, policy: PolicyUpdate) {
        self.update(Update { policy: Some(policy), ..Update::default() }).await;
    }

    /// Ends the conversation.
    pub async fn end(&mut self, reason: &str) {
        let step = self.ending(reason);
        self.apply(&step).await;
    }

    pub fn ending(&self, reason: &str) -> Step {
        let command = End { reason: reason.into(), expected: None };
        Step::of(
            &self.state,
            end(&self.state, &command, &self.context(&Loaded::default())).expect("it has not ended"),
        )
    }

    /// Shares the conversation; the share's id and secret are derived from `number`.
    pub async fn share(&mut self, number: u8, lifetime: Duration, include_archive: bool) {
        let (id, digest) = (ShareId::assigned(number.into()), ShareDigest::of(&Secret([number; 16])));
        let command = Sharing { id, digest, lifetime, include_archive };
        let (transition, _) = share(&self.state, &command, &self.context(&Loaded::default()))
            .expect("there is room for a share");
        self.apply(&Step::of(&self.state, transition)).await;
    }

    /// Revokes the share with this number.
    pub async fn revoke(&mut self, number: u8) {
        let transition =
            revoke(&self.state, &ShareId::assigned(number.into()), &self.context(&Loaded::default()));
        self.apply(&Step::of(&self.state, transition.expect("there is such a share"))).await;
    }

    /// Deletes the conversation; the script starts again, in another lineage.
    pub async fn delete(&mut self) {
        let commit = Commit { writes: vec![self.deleting()], ..Commit::default() };
        self.store.commit(commit).await.expect("the conversation is at this revision");
        self.renew();
    }

    pub fn deleting(&self) -> Write {
        Write::Delete { before: self.state.clone() }
    }

    /// Expects the conversation to be absent from the store, and starts again.
    pub fn renew(&mut self) {
        let identity = &self.state.head.identity;
        let identity = values::identity(identity.key.clone(), identity.recipient.as_str());
        self.state = Arc::new(Conversation::new(identity, self.state.head.policy.clone()));
        self.archive.clear();
    }

    /// Commits `step` and checks the result in the store.
    pub async fn apply(&mut self, step: &Step) {
        self.apply_in(step.commit(), step).await;
    }

    /// Applies a step in a commit that does more, and checks the store.
    pub async fn apply_in(&mut self, commit: Commit, step: &Step) {
        self.store.commit(commit).await.expect("the conversation is at this revision");
        self.advance(step);
        self.check().await;
    }

    pub async fn apply_if(&mut self, transition: Option<Transition>) -> bool {
        let Some(transition) = transition else { return false };
        self.apply(&Step::of(&self.state, transition)).await;
        true
    }

    /// Records the expected result of `step`.
    pub fn advance(&mut self, step: &Step) {
        let change = &step.change;
        for utterance in &change.returned {
            self.archive.remove(&utterance.sequence);
        }
        for utterance in change.evicted.iter() {
            self.archive.insert(utterance.sequence, utterance.clone());
        }
        for utterance in &change.rewritten {
            self.archive.entry(utterance.sequence).and_modify(|stored| *stored = utterance.clone());
        }
        self.archive.retain(|sequence, _| !change.removes(*sequence));
        self.state = step.after.clone();
    }

    /// Checks that the store has the expected state, counts and archive.
    pub async fn check(&self) {
        let loaded = self.store.load(self.key()).await.expect("a state is loaded");
        if self.state.head.revision == Revision::NONE {
            assert_eq!(loaded, None, "nothing is stored");
        } else {
            let loaded = loaded.expect("the conversation is stored");
            assert_eq!(loaded, self.state);
            assert_eq!(Capacity::of(&loaded), Capacity::of(&self.state), "the counts are kept too");
            assert_eq!(loaded.summary.next_number(), self.state.summary.next_number());
        }
        let archived = self.archived(&Ranges::of(Sequence::FIRST, self.state.head.next)).await;
        let expected: Vec<_> = self.archive.values().cloned().collect();
        assert_eq!(archived, expected, "the archive");
        let sequences: Ranges = archived.iter().map(|utterance| utterance.sequence).collect();
        assert_eq!(sequences, *self.state.head.archived, "the archive is what the head says");
        let bytes: u64 = self.stored().map(|utterance| utterance.stored_bytes()).sum();
        assert_eq!(self.state.head.stored_bytes, bytes, "all that is stored is counted");
    }

    pub async fn archived(&self, wanted: &Ranges) -> Vec<Arc<Utterance>> {
        self.store.archived(self.key(), wanted).await.expect("an archive is read")
    }

    /// The sequences of the archived utterances with these ids.
    pub async fn archived_ids(&self, ids: &[&str]) -> BTreeMap<String, u64> {
        let ids: Vec<Box<str>> = ids.iter().map(|id| (*id).into()).collect();
        let found = self.store.archived_ids(self.key(), &ids).await.expect("ids are looked up");
        found.into_iter().map(|(id, sequence)| (id.into(), sequence.get())).collect()
    }

    /// Every stored utterance, in the window or the archive.
    pub fn stored(&self) -> impl Iterator<Item = &Arc<Utterance>> {
        self.archive.values().chain(self.state.window.iter())
    }

    pub fn id_of(&self, sequence: u64) -> Box<str> {
        let mut stored = self.stored();
        let utterance = stored.find(|utterance| utterance.sequence == Sequence(sequence));
        utterance.expect("the utterance is stored").id_text().into()
    }

    /// What the rules are given, apart from the state and the command.
    pub fn context<'a>(&self, loaded: &'a Loaded) -> Context<'a> {
        Context { now: self.now, counter: &Words, loaded, llm: false }
    }

    /// A command that edits the content of an utterance.
    pub fn editing(&self, sequence: u64, content: &str) -> UpdateUtterance {
        let content = NewContent {
            content: content.into(),
            tokens: Words.count(content),
            encoding: self.state.head.identity.encoding,
            max_bytes: 1 << 20,
        };
        let id = self.id_of(sequence);
        UpdateUtterance { id, pinned: None, metadata: None, content: Some(content), expected: None }
    }

    pub async fn decide<T>(&self, rule: impl Fn(&Conversation, &Context<'_>) -> Result<T, Undecided>) -> T {
        self.decided(rule).await.expect("the rules accept the step")
    }

    /// Applies a rule, and reads from the store what the rule needs.
    pub async fn decided<T>(
        &self,
        rule: impl Fn(&Conversation, &Context<'_>) -> Result<T, Undecided>,
    ) -> Result<T, Refusal> {
        let mut loaded = Loaded::default();
        loop {
            let need = match rule(&self.state, &self.context(&loaded)) {
                Ok(decision) => return Ok(decision),
                Err(Undecided::Refused(refusal)) => return Err(refusal),
                Err(Undecided::Needs(need)) => need,
            };
            match need {
                Need::Archive(wanted) => {
                    let utterances = self.archived(&wanted).await;
                    loaded.add_archive(&wanted, utterances);
                }
                Need::ArchivedBytes(wanted) => {
                    let utterances = self.archived(&wanted).await;
                    let bytes = utterances.iter().map(|utterance| utterance.stored_bytes()).sum();
                    loaded.add_archived_bytes(wanted, bytes);
                }
                Need::State => {
                    let values = self.store.state(self.key(), &[]).await;
                    loaded.add_state(values.expect("a state is read"));
                }
                Need::ArchivedIds(ids) => {
                    let found = self.store.archived_ids(self.key(), &ids).await;
                    loaded.add_ids(found.expect("ids are looked up"));
                }
            }
        }
    }
}
