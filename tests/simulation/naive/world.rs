//! All conversations, and which are active.

use std::{collections::BTreeMap, sync::Arc};

use utterd::domain::{self, Role, forget::How};

use super::{
    Conversation, Facts, Reason,
    command::{Command, Doing, Edit, Fork},
    policy::Policy,
};

/// Everything the server knows. A clone is cheap.
#[derive(Clone, Debug)]
pub struct World {
    pub conversations: BTreeMap<String, Arc<Conversation>>,
    /// Recipients' active conversations.
    pub active: BTreeMap<String, String>,
    /// Recipients' own states, as conversations without utterances.
    pub(super) own: BTreeMap<String, Conversation>,
    pub(super) default_policy: Policy,
    /// The policy with which the conversation of the next command is stored, if that starts one for a recipient who had
    /// others when the call looked: that of the newest of them.
    pub heard: Option<Policy>,
    /// After how many microseconds without a word a conversation is idle.
    idle: i64,
    births: usize,
}

impl World {
    pub fn new(default_policy: Policy, idle: i64) -> Self {
        let (conversations, active, own) = Default::default();
        Self { conversations, active, own, default_policy, heard: None, idle, births: 0 }
    }

    pub fn get(&self, id: &str) -> Option<&Arc<Conversation>> {
        self.conversations.get(id)
    }

    /// The addressed conversation.
    pub fn find(&self, command: &Command) -> Option<&Arc<Conversation>> {
        match &command.conversation {
            Some(id) => self.get(id),
            None => self.get(self.active.get(recipient_of(command))?),
        }
    }

    /// Does what the command says, or refuses it and changes nothing. A conversation that it starts gets the id
    /// `fresh`, unless one is given.
    pub fn take(&mut self, command: &Command, now: i64, fresh: &str) -> Result<Facts, Reason> {
        let mut world = self.clone();
        let facts = world.obey(command, now, fresh)?;
        *self = world;
        Ok(facts)
    }

    fn obey(&mut self, command: &Command, now: i64, fresh: &str) -> Result<Facts, Reason> {
        match &command.doing {
            Doing::Own(update) => return self.keep_own(recipient_of(command), update),
            Doing::Fork(fork) => return self.fork(command, fork, now, fresh),
            Doing::EditAsFork(edit) => return self.edit_as_fork(command, edit, now, fresh),
            _ => {}
        }
        if let Some(left) = self.left(command, now) {
            return self.roll_over(command, left, now, fresh);
        }
        let before = self.addressed(command, now, fresh).ok_or("CONVERSATION_NOT_FOUND")?;
        let is_taken = matches!(&command.doing, Doing::Create { .. }) && before.revision > 0;
        if command.recipient.as_ref().is_some_and(|recipient| *recipient != before.recipient) && !is_taken {
            return Err("RECIPIENT_MISMATCH");
        }
        let mut after = before.clone();
        let mut facts = decide(&mut after, command, now)?;
        self.own_with(&after.recipient, &command.doing)?;
        (facts.id, facts.started) = (after.id.clone(), before.revision == 0);
        after.revision += u64::from(facts.changed);
        facts.revision = after.revision;
        if facts.changed {
            after.update = now;
            if !facts.gone.is_empty() {
                facts.reached = self.reach(command, &after, &facts.gone, now);
            }
            self.store(command, after, &facts);
        }
        Ok(facts)
    }

    /// What other conversations that have the erased utterances too lose, in the order of their ids.
    fn reach(&mut self, command: &Command, of: &Conversation, gone: &[u64], now: i64) -> Vec<Facts> {
        let exact = !matches!(&command.doing, Doing::Forget(_, How::Hard));
        let origins = gone.iter().flat_map(|one| of.get(*one).origins()).collect();
        let mut reached = Vec::new();
        for other in self.conversations.values_mut().filter(|other| other.birth != of.birth) {
            let mut lost = (**other).clone();
            let Some(mut facts) = lost.lose(&origins, exact) else { continue };
            (lost.revision, lost.update) = (lost.revision + 1, now);
            facts.revision = lost.revision;
            *other = Arc::new(lost);
            reached.push(facts);
        }
        reached
    }

    /// Starts a conversation with what was said in another.
    fn fork(&mut self, command: &Command, asked: &Fork, now: i64, fresh: &str) -> Result<Facts, Reason> {
        let (parent, id) = self.to_fork(command, asked.id.as_deref(), fresh)?;
        let mut fork = parent.forked(self.births + 1, &id, asked.at, now)?;
        fork.title = asked.title.clone().unwrap_or(fork.title);
        let facts = Facts { changed: true, started: true, ..Facts::default() };
        Ok(self.add_fork(&parent, fork, asked.activate, facts))
    }

    fn edit_as_fork(
        &mut self,
        command: &Command,
        edit: &Edit,
        now: i64,
        fresh: &str,
    ) -> Result<Facts, Reason> {
        let (parent, id) = self.to_fork(command, None, fresh)?;
        let (fork, facts) = parent.edited_as_fork(self.births + 1, &id, edit, now)?;
        Ok(self.add_fork(&parent, fork, false, facts))
    }

    /// The conversation to fork, and the id of its fork.
    fn to_fork(
        &self,
        command: &Command,
        id: Option<&str>,
        fresh: &str,
    ) -> Result<(Arc<Conversation>, String), Reason> {
        let (found, id) = (self.find(command), id.unwrap_or(fresh));
        if found.is_some_and(|found| found.id == id) || command.conversation.as_deref() == Some(id) {
            return Err("CONVERSATION_EXISTS");
        }
        let parent = found.ok_or("CONVERSATION_NOT_FOUND")?;
        if command.recipient.as_ref().is_some_and(|recipient| *recipient != parent.recipient) {
            return Err("RECIPIENT_MISMATCH");
        }
        if self.get(id).is_some() {
            return Err("CONVERSATION_EXISTS");
        }
        parent.expect(command.expected)?;
        Ok((parent.clone(), id.to_owned()))
    }

    fn add_fork(&mut self, parent: &Conversation, fork: Conversation, activate: bool, facts: Facts) -> Facts {
        self.births += 1;
        if activate || !self.active.contains_key(&fork.recipient) {
            self.active.insert(fork.recipient.clone(), fork.id.clone());
        }
        let facts = Facts { id: fork.id.clone(), revision: 1, parent: Some(parent.id.clone()), ..facts };
        self.conversations.insert(fork.id.clone(), Arc::new(fork));
        facts
    }

    /// The conversation that ends because the next message to its recipient finds it idle. A result goes to
    /// the call that waits for it.
    fn left(&self, command: &Command, now: i64) -> Option<Conversation> {
        let Doing::Memorize(said) = &command.doing else { return None };
        let by_recipient = command.conversation.is_none() && said.after.is_none();
        let found = self.find(command).filter(|_| by_recipient)?;
        let answers = said.drafts.first().is_some_and(|first| first.role == Role::Tool);
        let waits = answers && (!found.pairing().open.is_empty() || found.awaits_late_results());
        let idle = found.is_idle(now, self.idle) && !found.said.is_empty();
        (idle && !waits).then(|| (**found).clone())
    }

    /// Ends the idle conversation and starts the next, with its policy.
    fn roll_over(
        &mut self,
        command: &Command,
        mut left: Conversation,
        now: i64,
        fresh: &str,
    ) -> Result<Facts, Reason> {
        let mut after = self.born(fresh, &left.recipient, left.policy.clone(), now);
        let mut facts = decide(&mut after, command, now)?;
        self.own_with(&after.recipient, &command.doing)?;
        (facts.id, facts.started, facts.ended) = (after.id.clone(), true, Some(left.id.clone()));
        (after.revision, facts.revision, after.update) = (1, 1, now);
        left.end(now, "idle timeout");
        (left.revision, left.update) = (left.revision + 1, now);
        self.active.remove(&left.recipient);
        self.conversations.insert(left.id.clone(), Arc::new(left));
        self.store(command, after, &facts);
        Ok(facts)
    }

    /// An error unless this is what is stored of a conversation.
    pub fn compare(&self, state: &domain::Conversation) -> Result<(), String> {
        match self.get(state.key().id.as_str()) {
            Some(own) => own.compare(state),
            None if state.key().id.is_of_state() => self.compare_own(state),
            None => Err("it must not exist".to_owned()),
        }
    }

    /// Learns when a conversation was created: its call was made before its turn came.
    pub fn learn_start(&mut self, id: &str, start: i64) {
        let of = self.conversations.get_mut(id).filter(|of| start <= of.start);
        of.map(Arc::make_mut).into_iter().for_each(|of| (of.start, of.said_at) = (start, start));
    }

    /// Learns when a conversation lost what another one erased, or `ends` for another one to start.
    pub fn learn_time(&mut self, id: &str, time: i64, ends: bool) {
        let of = self.conversations.get_mut(id).filter(|of| time != of.update);
        for of in of.map(Arc::make_mut).into_iter() {
            of.ended.iter_mut().filter(|_| ends).for_each(|(ended, _)| *ended = time);
            of.update = time;
        }
    }

    /// Learns that a conversation did not become its recipient's active one: there was another when that was
    /// looked up.
    pub fn learn_inactive(&mut self, id: &str) {
        self.active.retain(|_, active| active != id);
    }

    /// Learns when a conversation ended and something was last said, if that was changed again since.
    pub fn learn_times(&mut self, after: &domain::Conversation) {
        let (id, head) = (after.key().id.as_str(), &after.head);
        let Some(of) = self.conversations.get_mut(id).map(Arc::make_mut) else { return };
        let (start, update) = (of.start, of.update);
        let is_then = |time: i64| (start..=update).contains(&time);
        if let (Some((at, _)), Some(ended)) = (&mut of.ended, &head.ended)
            && is_then(ended.time.0)
        {
            *at = ended.time.0;
        }
        if is_then(head.said_time.0) {
            of.said_at = head.said_time.0;
        }
    }

    /// Learns the ids that the server made.
    pub fn learn(&mut self, id: &str, ids: impl IntoIterator<Item = (u64, String)>) {
        let Some(conversation) = self.conversations.get_mut(id) else { return };
        let conversation = Arc::make_mut(conversation);
        for (sequence, id) in ids {
            conversation.get_mut(sequence).id = id;
        }
    }

    /// Notes what a summary can tell, as it is stored.
    pub fn hear_summary(&mut self, id: &str, text: String) {
        let of = self.conversations.get_mut(id).filter(|of| of.summary != text);
        of.into_iter().for_each(|of| Arc::make_mut(of).summary.clone_from(&text));
    }

    /// Removes a conversation.
    pub fn delete(&mut self, id: &str) -> Option<Arc<Conversation>> {
        self.active.retain(|_, active| active != id);
        self.conversations.remove(id)
    }

    /// The conversation that the command goes to, possibly a new one.
    fn addressed(&mut self, command: &Command, now: i64, fresh: &str) -> Option<Conversation> {
        let is_creation = matches!(&command.doing, Doing::Create { .. });
        // Without an id, Create makes a new one.
        let found = self.find(command).filter(|_| !is_creation || command.conversation.is_some());
        if found.is_some() || !is_creation && !matches!(&command.doing, Doing::Memorize(_)) {
            return found.map(|found| (**found).clone());
        }
        let id = command.conversation.as_deref().unwrap_or(fresh);
        let (recipient, by_recipient) = (recipient_of(command), command.conversation.is_none());
        let policy = self.heard.take().filter(|_| by_recipient && !is_creation);
        let policy = policy.unwrap_or_else(|| self.default_policy.clone());
        Some(self.born(id, recipient, policy, now))
    }

    /// Whether a recipient has a conversation.
    pub fn has_any(&self, recipient: &str) -> bool {
        self.conversations.values().any(|of| of.recipient == recipient)
    }

    fn born(&mut self, id: &str, recipient: &str, policy: Policy, now: i64) -> Conversation {
        self.births += 1;
        Conversation { birth: self.births, ..Conversation::new(id, recipient, policy, now) }
    }

    fn store(&mut self, command: &Command, after: Conversation, facts: &Facts) {
        if after.ended.is_some() {
            self.active.retain(|_, id| *id != after.id);
        }
        let of_recipient = matches!(&command.doing, Doing::Create { .. })
            || command.conversation.is_none()
            || command.recipient.is_some();
        if facts.started && of_recipient && !self.active.contains_key(&after.recipient) {
            self.active.insert(after.recipient.clone(), after.id.clone());
        }
        self.conversations.insert(after.id.clone(), Arc::new(after));
    }
}

fn decide(after: &mut Conversation, command: &Command, now: i64) -> Result<Facts, Reason> {
    if !matches!(&command.doing, Doing::Create { .. }) {
        after.expect(command.expected)?;
    }
    let changed = Facts { changed: true, ..Facts::default() };
    match &command.doing {
        Doing::Memorize(said) => after.memorize(said, now),
        Doing::Forget(selection, how) => after.forget(selection, *how),
        Doing::Restore(ids) => after.restore(ids),
        Doing::Edit(edit) => after.edit(edit),
        Doing::Update { title, policy } => {
            let mut facts = changed;
            after.title = title.clone().unwrap_or(std::mem::take(&mut after.title));
            if let Some(policy) = policy {
                after.policy = after.policy.changed(policy)?;
                after.settle(&mut facts);
                if facts.compaction.is_none() && !facts.evicted.is_empty() {
                    after.note_compaction(&facts.evicted.clone(), &mut facts);
                }
            }
            Ok(facts)
        }
        Doing::Create { title, policy } if after.revision == 0 => {
            (after.title, after.policy) = (title.clone(), policy.into());
            Ok(changed)
        }
        Doing::Create { .. } => Err("CONVERSATION_EXISTS"),
        Doing::Tell => Ok(changed),
        Doing::State(change) => after.change_state(change).map(|()| changed),
        Doing::Compact(extent, summarises) => after.compact(*extent, *summarises),
        Doing::Undo => after.undo(),
        Doing::End(reason) => {
            after.check_open()?;
            after.end(now, reason);
            Ok(changed)
        }
        Doing::Own(_) | Doing::Fork(_) | Doing::EditAsFork(_) => unreachable!("not of one conversation"),
    }
}

fn recipient_of(command: &Command) -> &str {
    command.recipient.as_deref().unwrap_or("default")
}
