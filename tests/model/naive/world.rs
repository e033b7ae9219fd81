//! All conversations, and the outcomes of calls that named their attempt.

use std::collections::BTreeMap;

use utterd::proto::{
    ConversationStatus, CreateConversationRequest, ForkConversationRequest, ForkPoint, Role,
    UpdateConversationRequest,
};

use super::{Call, Conversation, Facts, Policy, Reason, memorize};

/// How long outcomes are kept, in microseconds.
const RETENTION: i64 = 24 * 3_600 * 1_000_000;

/// The expected result of an accepted call.
#[derive(Clone, Debug)]
pub enum Expected {
    /// It is decided now.
    Now(Box<Facts>),
    /// It is the outcome of an earlier call.
    Earlier(Box<Earlier>),
}

/// The outcome of a call that named its attempt.
#[derive(Clone, Debug)]
pub struct Earlier {
    pub call: Call,
    pub time: i64,
    pub facts: Facts,
    /// Learnt from the first response.
    pub conversation: String,
}

/// Everything the server knows.
#[derive(Clone, Debug)]
pub struct World {
    pub conversations: Vec<Conversation>,
    /// Recipients' active conversations.
    active: BTreeMap<String, String>,
    /// Recipients' own states, as conversations without utterances.
    pub(super) own: BTreeMap<String, Conversation>,
    outcomes: Vec<Earlier>,
    pub(super) default_policy: Policy,
    births: usize,
}

impl World {
    pub fn new(default_policy: Policy) -> Self {
        let (conversations, outcomes) = (Vec::new(), Vec::new());
        let (active, own) = Default::default();
        Self { conversations, active, own, outcomes, default_policy, births: 0 }
    }

    pub fn is_active(&self, conversation: &Conversation) -> bool {
        self.active.get(&conversation.recipient) == Some(&conversation.id)
    }

    /// The addressed conversation.
    pub fn find(&self, id: &str, recipient: &str) -> Option<&Conversation> {
        let id = match id {
            "" => self.active.get(or_default(recipient))?,
            id => id,
        };
        self.conversations.iter().find(|conversation| conversation.id == id)
    }

    pub fn by_birth(&self, birth: usize) -> Option<&Conversation> {
        self.conversations.iter().find(|conversation| conversation.birth == birth)
    }

    /// Does what the call says, or refuses it and changes nothing.
    pub fn call(&mut self, call: &Call, now: i64) -> Result<Expected, Reason> {
        self.check(call)?;
        if let Some(earlier) = self.earlier(call, now) {
            return match earlier.call == *call {
                true => Ok(Expected::Earlier(Box::new(earlier.clone()))),
                false => Err("REQUEST_ID_REUSED"),
            };
        }
        if let Call::Fork(request) = call {
            return self.fork(call, request, now);
        }
        if call.keeps_own() {
            return self.keep_own(call, now);
        }
        if let Some(left) = self.left(call, now) {
            return self.roll_over(call, left, now);
        }
        let before = match self.addressed(call, now) {
            Some(conversation) => conversation,
            None => return Err("CONVERSATION_NOT_FOUND"),
        };
        let recipient = call.address().1;
        if !recipient.is_empty() && recipient != before.recipient {
            return Err("RECIPIENT_MISMATCH");
        }
        let mut after = before.clone();
        let mut facts = self.decide(&mut after, call, now)?;
        facts.own = self.own_with(&after.recipient, call)?;
        facts.birth = before.birth;
        facts.started = before.revision == 0;
        after.revision += i64::from(facts.changed);
        facts.revision = after.revision;
        if facts.changed {
            after.update = now;
        }
        if !facts.gone.is_empty() {
            facts.reached = self.reach(call, &after, &facts.gone, now);
        }
        self.store(call, after, &facts, now);
        Ok(Expected::Now(Box::new(facts)))
    }

    /// What other conversations that share the erased utterances lose, in the order of their ids.
    fn reach(&mut self, call: &Call, of: &Conversation, gone: &[i64], now: i64) -> Vec<(usize, Facts)> {
        let exact = match call {
            Call::Forget(request, _) => request.exact,
            _ => true,
        };
        let origins: Vec<_> = gone.iter().map(|one| of.get(*one).origin).collect();
        let mut reached = Vec::new();
        for other in self.conversations.iter_mut().filter(|other| other.birth != of.birth) {
            let shared = other.sequences(|said| origins.contains(&said.origin));
            let Some(mut facts) = other.lose(&shared, exact) else { continue };
            (other.revision, other.update) = (other.revision + 1, now);
            facts.revision = other.revision;
            reached.push((other.id.clone(), (other.birth, facts)));
        }
        reached.sort_by(|one, other| one.0.cmp(&other.0));
        reached.into_iter().map(|(_, lost)| lost).collect()
    }

    /// Starts a conversation with what was said in another.
    fn fork(&mut self, call: &Call, request: &ForkConversationRequest, now: i64) -> Result<Expected, Reason> {
        let (id, recipient) = call.address();
        let found = self.find(id, recipient).cloned();
        let new = &request.new_conversation_id;
        if found.as_ref().is_some_and(|found| found.id == *new) {
            return Err("CONVERSATION_EXISTS");
        }
        let parent = found.ok_or("CONVERSATION_NOT_FOUND")?;
        if !recipient.is_empty() && recipient != parent.recipient {
            return Err("RECIPIENT_MISMATCH");
        }
        if self.find(new, "").is_some() {
            return Err("CONVERSATION_EXISTS");
        }
        parent.expect(request.expected_revision)?;
        let mut fork = parent.forked(self.births + 1, new, request.at_sequence, now)?;
        self.births += 1;
        if !request.title.is_empty() {
            fork.title.clone_from(&request.title);
        }
        let facts = Facts {
            birth: fork.birth,
            revision: 1,
            changed: true,
            started: true,
            parent: Some(parent.birth),
            ..Facts::default()
        };
        if !self.active.contains_key(&fork.recipient) {
            self.active.insert(fork.recipient.clone(), fork.id.clone());
        }
        self.store(call, fork, &facts, now);
        Ok(Expected::Now(Box::new(facts)))
    }

    /// The forks of a conversation, by id.
    pub fn forks_of(&self, parent: &Conversation) -> Vec<ForkPoint> {
        let point = |one: &Conversation| {
            let (birth, _, sequence) = one.forked_from.clone()?;
            let conversation_id = one.id.clone();
            (birth == parent.birth).then_some(ForkPoint { conversation_id, sequence: Some(sequence) })
        };
        let mut forks: Vec<_> = self.conversations.iter().filter_map(point).collect();
        forks.sort_by(|one, other| one.conversation_id.cmp(&other.conversation_id));
        forks
    }

    /// The conversation that ends because the next message to its recipient finds it idle. A result goes to
    /// the call that waits for it.
    fn left(&self, call: &Call, now: i64) -> Option<Conversation> {
        let Call::Memorize(request, _) = call else { return None };
        let by_recipient = request.conversation_id.is_empty() && request.replace_after.is_none();
        let found = self.find("", &request.recipient_id).filter(|_| by_recipient)?;
        let answers = request.utterances.first().is_some_and(|first| first.role() == Role::Tool);
        let waits = answers && (!found.pairing().open.is_empty() || found.awaits_late_results());
        let idle = found.status(now) == ConversationStatus::Idle && !found.said.is_empty();
        (idle && !waits).then(|| found.clone())
    }

    /// Ends the idle conversation and starts the next, with its policy and its encoding.
    fn roll_over(&mut self, call: &Call, mut left: Conversation, now: i64) -> Result<Expected, Reason> {
        let policy = left.policy.clone();
        let mut after = Conversation::new(self.births + 1, "", &left.recipient, policy, now);
        after.encoding = left.encoding;
        let mut facts = self.decide(&mut after, call, now)?;
        facts.own = self.own_with(&after.recipient, call)?;
        self.births += 1;
        (facts.birth, facts.started, facts.ended) = (after.birth, true, Some(left.birth));
        (after.revision, facts.revision, after.update) = (1, 1, now);
        left.end(now, "idle timeout");
        (left.revision, left.update) = (left.revision + 1, now);
        self.active.remove(&left.recipient);
        self.conversations.retain(|other| other.birth != left.birth);
        self.conversations.push(left);
        self.store(call, after, &facts, now);
        Ok(Expected::Now(Box::new(facts)))
    }

    /// Learns server-made ids from the response.
    pub fn learn(&mut self, facts: &Facts, conversation_id: &str, ids: &[String]) {
        if let Some(earlier) = self.outcomes.last_mut().filter(|one| one.conversation.is_empty()) {
            earlier.conversation = conversation_id.to_owned();
        }
        for active in self.active.values_mut().filter(|id| id.is_empty()) {
            *active = conversation_id.to_owned();
        }
        let Some(conversation) = self.conversations.iter_mut().find(|one| one.birth == facts.birth) else {
            return;
        };
        conversation.id = conversation_id.to_owned();
        for (sequence, id) in facts.memorized.iter().zip(ids) {
            conversation.get_mut(*sequence).id.clone_from(id);
        }
    }

    /// Checks that need no conversation.
    fn check(&self, call: &Call) -> Result<(), Reason> {
        match call {
            Call::Memorize(request, _) => memorize::check(request),
            Call::Compact(request) if request.count == Some(0) => Err("INVALID_FIELD"),
            Call::Forget(_, None) => Err("INSTRUCTION_NOT_UNDERSTOOD"),
            Call::Restore(request) if request.utterance_ids.is_empty() => Err("EMPTY_BATCH"),
            Call::Delete(request) if request.conversation_id.is_empty() => Err("INVALID_ID"),
            Call::Update(request) => request.policy.as_ref().map_or(Ok(()), keeps_are_positive),
            Call::Create(request) => created_policy(&self.default_policy, request).map(|_| ()),
            _ => Ok(()),
        }
    }

    /// Records the text of a summary that was read.
    pub fn heard_summary(&mut self, birth: usize, text: &str) {
        let of = self.conversations.iter_mut().find(|one| one.birth == birth);
        of.into_iter().for_each(|one| one.summary = text.to_owned());
    }

    /// Whether an earlier call with the same request id is remembered.
    pub fn remembers(&self, call: &Call, now: i64) -> bool {
        self.earlier(call, now).is_some()
    }

    /// The outcome of a call with the same request id in the last 24 hours.
    fn earlier(&self, call: &Call, now: i64) -> Option<&Earlier> {
        let named = |one: &&Earlier| {
            one.call.same_rpc(call)
                && one.call.request_id() == call.request_id()
                && now - one.time <= RETENTION
        };
        self.outcomes.iter().rev().filter(|_| !call.request_id().is_empty()).find(named)
    }

    /// The conversation that the call goes to, possibly a new one.
    fn addressed(&mut self, call: &Call, now: i64) -> Option<Conversation> {
        let (id, recipient) = call.address();
        // Without an id, Create makes a new one.
        let found = match call {
            Call::Create(_) if id.is_empty() => None,
            _ => self.find(id, recipient),
        };
        if found.is_some() || !matches!(call, Call::Memorize(..) | Call::Create(_)) {
            return found.cloned();
        }
        self.births += 1;
        let policy = self.default_policy.clone();
        Some(Conversation::new(self.births, id, or_default(recipient), policy, now))
    }

    fn decide(&self, after: &mut Conversation, call: &Call, now: i64) -> Result<Facts, Reason> {
        match call {
            Call::Memorize(request, messages) => {
                after.expect(request.expected_revision)?;
                after.memorize(request, messages.as_deref().unwrap_or_default(), now)
            }
            Call::Forget(request, selection) => {
                after.expect(request.expected_revision)?;
                let selection = selection.as_ref().ok_or("INSTRUCTION_NOT_UNDERSTOOD")?;
                after.forget(selection, request)
            }
            Call::Restore(request) => {
                after.expect(request.expected_revision)?;
                after.restore(&request.utterance_ids)
            }
            Call::Mark(request) => {
                after.expect(request.expected_revision)?;
                let masked = |path: &str| in_mask(request.update_mask.as_ref(), path);
                let pinned = masked("pinned").then_some(request.pinned);
                after.mark(&request.utterance_id, pinned, masked("metadata").then_some(&request.metadata))
            }
            Call::Update(request) => {
                after.expect(request.expected_revision)?;
                update(after, request)
            }
            Call::Create(request) if after.revision == 0 => {
                after.title.clone_from(&request.title);
                after.policy = created_policy(&after.policy, request)?;
                after.encoding = if request.encoding.is_empty() { "o200k_base" } else { "cl100k_base" };
                Ok(Facts { changed: true, ..Facts::default() })
            }
            Call::Create(_) => Err("CONVERSATION_EXISTS"),
            Call::Keep(request) => {
                after.expect(request.expected_revision)?;
                after.keep(request)
            }
            Call::Fork(_) => unreachable!("a fork is no change of its parent"),
            Call::Compact(request) => {
                after.expect(request.expected_revision)?;
                after.compact(request)
            }
            Call::Undo(request) => {
                after.expect(request.expected_revision)?;
                after.undo()
            }
            Call::End(request) => {
                after.expect(request.expected_revision)?;
                after.check_open()?;
                after.end(now, &request.reason);
                Ok(Facts { changed: true, ..Facts::default() })
            }
            Call::Delete(request) => {
                after.expect(request.expected_revision)?;
                let stored = after.window().len() + after.archive().len();
                Ok(Facts { removed: Some(stored as i32), ..Facts::default() })
            }
        }
    }

    /// Records the outcome of a call that named its attempt.
    pub(super) fn note(&mut self, call: &Call, conversation: &str, facts: &Facts, now: i64) {
        if !call.request_id().is_empty() {
            let conversation = conversation.to_owned();
            let earlier = Earlier { call: call.clone(), time: now, facts: facts.clone(), conversation };
            self.outcomes.push(earlier);
        }
    }

    fn store(&mut self, call: &Call, after: Conversation, facts: &Facts, now: i64) {
        self.note(call, &after.id, facts, now);
        self.conversations.retain(|other| other.birth != after.birth);
        if facts.removed.is_some() || after.ended.is_some() {
            self.active.retain(|_, id| *id != after.id);
        }
        if facts.removed.is_some() {
            return;
        }
        let (id, recipient) = call.address();
        let of_recipient = matches!(call, Call::Create(_)) || id.is_empty() || !recipient.is_empty();
        if facts.started && of_recipient && !self.active.contains_key(&after.recipient) {
            self.active.insert(after.recipient.clone(), after.id.clone());
        }
        self.conversations.push(after);
    }
}

fn keeps_are_positive(policy: &utterd::proto::Policy) -> Result<(), Reason> {
    let keeps = [policy.keep_utterances, policy.keep_tokens, policy.keep_turns];
    match keeps.iter().flatten().any(|keep| *keep < 1) {
        true => Err("INVALID_FIELD"),
        false => Ok(()),
    }
}

fn created_policy(default: &Policy, request: &CreateConversationRequest) -> Result<Policy, Reason> {
    request.policy.as_ref().map_or(Ok(default.clone()), |policy| default.changed(policy))
}

/// Smaller limits evict immediately.
fn update(after: &mut Conversation, request: &UpdateConversationRequest) -> Result<Facts, Reason> {
    let masked = |path: &str| in_mask(request.update_mask.as_ref(), path);
    let mut facts = Facts { changed: true, ..Facts::default() };
    if masked("title") {
        after.title.clone_from(&request.title);
    }
    if let Some(policy) = request.policy.as_ref().filter(|_| masked("policy")) {
        after.policy = after.policy.changed(policy)?;
        after.settle(&mut facts);
        if facts.compaction.is_none() && !facts.evicted.is_empty() {
            after.note_compaction(&facts.evicted.clone(), &mut facts);
        }
    }
    Ok(facts)
}

fn in_mask(mask: Option<&prost_types::FieldMask>, path: &str) -> bool {
    mask.is_some_and(|mask| mask.paths.iter().any(|given| given == path))
}

pub(super) fn or_default(recipient: &str) -> &str {
    if recipient.is_empty() { "default" } else { recipient }
}
