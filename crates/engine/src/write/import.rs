//! Imports conversations of another program: checks them as a whole, and stores them in parts.

use std::{
    collections::{BTreeMap, HashSet},
    mem,
    sync::Arc,
};

use xxhash_rust::xxh3::{Xxh3, xxh3_64};

use crate::{
    Address, Caller, Engine, ForkCall, Operation, Result,
    applied::RuleResult,
    lane::queued::{Added, IfAbsent, WriteCall},
    offload,
};
use utterd_domain::{
    Conversation, ConversationId, ConversationKey, Draft, Encoding, Namespace, Oversize, Policy, RecipientId,
    Refusal, Revision, Timestamp, Undecided,
    change::{Context, Loaded},
    error::CONVERSATION,
    import::{Branch, Ends, Import, import},
    limits::IMPORT_BATCH,
    memorize::{Irregularity, Memorize},
    segment::ImportedSummary,
    state::{StateChange, StateContent},
};

/// Checking more utterances than this is long.
const LONG_TO_CHECK: usize = 200;

/// The label of an imported conversation that names its source.
pub const IMPORTED_FROM: &str = "imported_from";

/// Conversations to import.
#[derive(Clone, Debug)]
pub struct ImportCall {
    /// The recipient they will belong to.
    pub recipient: RecipientId,
    /// The conversations, in order.
    pub conversations: Vec<Incoming>,
    /// The policy of new conversations.
    pub policy: Policy,
    /// The encoding in which tokens of new conversations are counted.
    pub encoding: Encoding,
    /// Add to existing conversations that are not from an earlier attempt.
    pub into_existing: bool,
    /// Keep irregular utterances.
    pub lenient: bool,
    /// Check everything and store nothing.
    pub validate_only: bool,
    /// Skip conversations that were imported completely before, so that utterances forgotten since do not
    /// come back.
    pub once: bool,
}

/// A conversation to import. Its drafts have passed [`Draft::check`].
#[derive(Clone, Debug)]
pub struct Incoming {
    /// Its id.
    pub id: ConversationId,
    /// Its format.
    pub origin: &'static str,
    /// Identifies the source in every attempt to import it, even if its contents change; by default, the id
    /// of the first utterance does.
    pub source: Option<String>,
    /// Its title.
    pub title: Option<Arc<str>>,
    /// Its start time, if the source has one.
    pub start: Option<Timestamp>,
    /// How it ended, if it did.
    pub ends: Option<Ends>,
    /// Its labels.
    pub labels: BTreeMap<String, String>,
    /// Values for the state of a new conversation.
    pub state: Vec<(Box<str>, StateContent)>,
    /// Summaries of what was said before the drafts.
    pub summaries: Vec<ImportedSummary>,
    /// The utterances, each with an id: see [`name`].
    pub drafts: Vec<Draft>,
    /// Where it left another conversation of the import, whose utterances up to there it has too.
    pub branch: Option<Branch>,
}

/// The result for one conversation.
#[derive(Clone, Debug)]
pub struct ImportReply {
    /// The conversation's current state; `None` if it was only checked and does not exist.
    pub after: Option<Arc<Conversation>>,
    /// Whether it was created.
    pub started: bool,
    /// Utterances stored, or that would be stored.
    pub stored: usize,
    /// Utterances that were already stored.
    pub skipped: usize,
    /// Summaries stored, or that would be stored.
    pub summaries: usize,
    /// Accepted irregularities, with their indexes in the conversation's drafts.
    pub irregularities: Vec<Irregularity>,
}

/// Gives an id to each draft that has none or a repeated one. The id is derived from the draft and all drafts
/// before it. So it is the same in each attempt, even in one with more drafts after it.
pub fn name(drafts: &mut [Draft]) {
    let mut hasher = Xxh3::new();
    let mut taken: HashSet<Box<str>> = HashSet::new();
    for (index, draft) in drafts.iter_mut().enumerate() {
        hash(&mut hasher, draft);
        let free = draft.id.take().filter(|id| !taken.contains(id));
        let id = free.unwrap_or_else(|| format!("import-{:016x}-{}", hasher.digest(), index + 1).into());
        taken.insert(id.clone());
        draft.id = Some(id);
    }
}

fn hash(hasher: &mut Xxh3, draft: &Draft) {
    let mut add = |text: &str| {
        hasher.update(&(text.len() as u64).to_le_bytes());
        hasher.update(text.as_bytes());
    };
    add(draft.role.as_str());
    add(&draft.content);
    let Some(more) = draft.more.as_deref() else { return };
    for text in [&more.name, &more.tool_call_id, &more.extras_json] {
        add(text.as_deref().unwrap_or_default());
    }
    for call in &more.tool_calls {
        [&call.id, &call.name, &call.arguments_json].into_iter().for_each(|text| add(text));
    }
}

impl Incoming {
    /// Returns the label by which a repeated import is recognized.
    fn mark(&self) -> String {
        let first = || self.drafts.first()?.id.as_deref();
        let source = self.source.as_deref().or_else(first).unwrap_or_default();
        format!("{}/{:016x}", self.origin, xxh3_64(source.as_bytes()))
    }
}

/// A conversation to import, and its existing state.
struct Planned {
    incoming: Incoming,
    existing: Option<Arc<Conversation>>,
    /// Whether the existing conversation is from this import; true if there is none.
    own: bool,
    /// The number of drafts up to the last stored one.
    reached: usize,
    tokens: Vec<u32>,
    namespace: Namespace,
    /// Whether the conversation becomes its recipient's active one, unless there is one.
    activates: bool,
}

impl Engine {
    /// Imports conversations; nothing is stored unless all of them are accepted.
    ///
    /// A repeated attempt skips what an earlier one stored, and continues from there. The last conversation
    /// that has not ended becomes its recipient's active one, unless there is one. The import stops if a
    /// conversation was deleted, or its id was taken by another, after the check.
    pub async fn import_conversations(
        self: &Arc<Self>,
        caller: &Caller,
        mut call: ImportCall,
    ) -> Result<Vec<ImportReply>> {
        let mut plans: Vec<Planned> = Vec::with_capacity(call.conversations.len());
        for mut incoming in mem::take(&mut call.conversations) {
            // a fork has the label of the conversation that it left
            if let Some(left) = incoming.branch.and_then(|branch| plans.get(branch.of)) {
                incoming.source.clone_from(&left.incoming.source);
            }
            plans.push(self.plan(caller, &call, incoming).await?);
        }
        let goes_on = |plan: &&mut Planned| plan.incoming.ends.is_none() && plan.incoming.branch.is_none();
        if let Some(last) = plans.iter_mut().rev().find(goes_on) {
            last.activates = true;
        }
        let drafts = plans.iter().map(|plan| plan.incoming.drafts.len()).sum::<usize>();
        let engine = self.clone();
        let check = move || {
            let checked: Result<Vec<_>, _> = plans.iter().map(|plan| engine.check(&call, plan)).collect();
            (call, plans, checked)
        };
        let (call, plans, checked) = offload(drafts > LONG_TO_CHECK, check).await;
        let checked = checked?;
        if call.validate_only {
            return Ok(checked);
        }
        let branches = branches(&plans);
        let mut replies = Vec::with_capacity(plans.len());
        for (plan, branches) in plans.iter().zip(&branches) {
            replies.push(self.import_one(caller, &call, plan, branches).await?);
        }
        Ok(replies)
    }

    async fn plan(
        self: &Arc<Self>,
        caller: &Caller,
        call: &ImportCall,
        mut incoming: Incoming,
    ) -> Result<Planned> {
        let existing = self.published(&caller.key(incoming.id.clone())).await?;
        let own = match &existing {
            Some(state) => {
                address(&incoming, call).check_recipient(state)?;
                let own = is_of(state, &incoming.mark());
                if !own && !call.into_existing {
                    return Err(not_of_this_import(&incoming.id).into());
                }
                own
            }
            None => true,
        };
        let reached = match &existing {
            Some(state) if call.once && own && was_whole(state, &incoming) => incoming.drafts.len(),
            Some(state) => self.reached(state, &incoming.drafts).await?,
            None => 0,
        };
        let encoding = existing.as_ref().map_or(call.encoding, |state| state.head.identity.encoding);
        let drafts = mem::take(&mut incoming.drafts);
        let (drafts, tokens) = self.tokens_of(drafts, encoding).await;
        incoming.drafts = drafts;
        let namespace = caller.namespace.clone();
        Ok(Planned { incoming, existing, own, reached, tokens, namespace, activates: false })
    }

    /// Returns the number of drafts up to the last stored one.
    async fn reached(&self, state: &Conversation, drafts: &[Draft]) -> Result<usize> {
        let mut end = drafts.len();
        while end > 0 {
            let start = end.saturating_sub(IMPORT_BATCH);
            let ids: Vec<Box<str>> = drafts[start..end].iter().filter_map(|draft| draft.id.clone()).collect();
            let archived = self.store.archived_ids(state.key(), &ids).await?;
            let is_stored = |id: &str| state.sequence_of(id).is_some() || archived.contains_key(id);
            let stored = |draft: &Draft| draft.id.as_deref().is_some_and(is_stored);
            if let Some(last) = drafts[start..end].iter().rposition(stored) {
                return Ok(start + last + 1);
            }
            end = start;
        }
        Ok(0)
    }

    /// Returns what the import of a conversation would do, by the rules, but without most of the policy's
    /// limits.
    fn check(&self, call: &ImportCall, plan: &Planned) -> Result<ImportReply, Refusal> {
        let now = self.clock.now();
        let mut before = match &plan.existing {
            Some(state) => (**state).clone(),
            None => self.blank(call, plan, now),
        };
        let limits = before.head.policy;
        before.head.policy = Policy { tokens: limits.tokens, oversize: limits.oversize, ..Policy::SESSION };
        if limits.oversize == Oversize::Keep {
            before.head.policy.tokens = None;
        }
        before.head.policy.summarization_enabled = false;
        let mut loaded = Loaded::default();
        loaded.add_ids(std::collections::HashMap::new());
        let counter = self.counter(before.head.identity.encoding);
        let context = Context {
            now: self.clock.after(before.head.update_time),
            counter,
            loaded: &loaded,
            llm: self.has_summarizer(),
        };
        let count = plan.incoming.drafts.len();
        let mut reply = plan.nothing();
        reply.summaries = if reply.started { plan.incoming.summaries.len() } else { 0 };
        let mut from = plan.reached;
        loop {
            let to = count.min(from + IMPORT_BATCH);
            let command = plan.part(from, to, before.head.identity.encoding, call.lenient);
            // only an archive over its limit could need data from the store
            let imported = match import(&before, &command, &context) {
                Ok(imported) => imported,
                Err(Undecided::Refused(refusal)) => return Err(refusal),
                Err(Undecided::Needs(_)) => return Ok(plan.nothing()),
            };
            reply.stored += to - from - imported.skipped;
            reply.skipped += imported.skipped;
            reply.irregularities.extend(plan.placed(from, imported.irregularities));
            if let Some(transition) = imported.transition {
                before = transition.after;
            }
            from = to;
            if from == count {
                return Ok(reply);
            }
        }
    }

    async fn import_one(
        self: &Arc<Self>,
        caller: &Caller,
        call: &ImportCall,
        plan: &Planned,
        branches: &[(usize, &Incoming)],
    ) -> Result<ImportReply> {
        let mut reply = plan.nothing();
        let count = plan.incoming.drafts.len();
        let (mut from, mut branches) = (plan.reached, branches.iter().peekable());
        loop {
            let next = branches.peek().map_or(count, |(after, _)| after + 1);
            let to = next.max(from).min(from + IMPORT_BATCH);
            self.import_part(caller, call, plan, from, to, &mut reply).await?;
            from = to;
            // a fork at the newest utterance costs least
            while let Some((after, branch)) = branches.next_if(|(after, _)| *after < from) {
                self.import_branch(caller, call, (&plan.incoming, *after), branch).await?;
            }
            if from == count {
                return Ok(reply);
            }
        }
    }

    /// Starts a conversation as a fork of the one that it left, unless that no longer stores the point.
    async fn import_branch(
        self: &Arc<Self>,
        caller: &Caller,
        call: &ImportCall,
        (left, after): (&Incoming, usize),
        branch: &Incoming,
    ) -> Result<()> {
        let Some(id) = left.drafts.get(after).and_then(|draft| draft.id.clone()) else { return Ok(()) };
        let Some(state) = self.published(&caller.key(left.id.clone())).await? else { return Ok(()) };
        let sequence = match state.sequence_of(&id) {
            None => self.store.archived_ids(state.key(), std::slice::from_ref(&id)).await?.get(&id).copied(),
            sequence => sequence,
        };
        if sequence.is_none() {
            return Ok(());
        }
        let fork = ForkCall {
            address: address(left, call),
            id: Some(branch.id.clone()),
            recipient: None,
            at: sequence,
            title: branch.title.clone(),
            start: branch.start.map(|start| start.min(self.clock.now())),
            activate: None,
            expected: None,
            attempt: None,
        };
        self.fork_conversation(caller, fork).await.map(|_| ())
    }

    async fn import_part(
        self: &Arc<Self>,
        caller: &Caller,
        call: &ImportCall,
        plan: &Planned,
        from: usize,
        to: usize,
        reply: &mut ImportReply,
    ) -> Result<()> {
        let encoding = plan.existing.as_ref().map_or(call.encoding, |state| state.head.identity.encoding);
        let command = plan.part(from, to, encoding, call.lenient);
        let address = address(&plan.incoming, call);
        let write = WriteCall {
            if_absent: match plan.existing.is_none() && from == 0 {
                true if plan.activates => IfAbsent::CreateAndActivate,
                true => IfAbsent::Create,
                // the conversation was deleted meanwhile: the rest alone would not be a conversation
                false => IfAbsent::Refuse,
            },
            added: Added::of(&plan.tokens[from..to]),
            ..WriteCall::new(caller, address.clone(), None, Operation::ImportConversation)
        };
        let blank = self.blank(call, plan, self.clock.now());
        let mark = (plan.own && !call.into_existing).then(|| plan.incoming.mark());
        let applied = self
            .write(write, move |before, context| {
                let before = match before.head.revision {
                    Revision::NONE => &blank,
                    // this may not be the conversation that was checked
                    _ => {
                        address.check_recipient(before)?;
                        if mark.as_ref().is_some_and(|mark| !is_of(before, mark)) {
                            return Err(not_of_this_import(&before.key().id).into());
                        }
                        before
                    }
                };
                let imported = import(before, &command, context)?;
                Ok(RuleResult::of(imported.transition, (imported.irregularities, imported.skipped)))
            })
            .await?;
        if let Some((irregularities, skipped)) = applied.value {
            if applied.outcome.started {
                reply.summaries = plan.incoming.summaries.len();
            }
            reply.after = applied.state;
            reply.stored += to - from - skipped;
            reply.skipped += skipped;
            reply.irregularities.extend(plan.placed(from, irregularities));
        }
        Ok(())
    }

    /// Returns the conversation before its first revision. It starts at the time that the source names, but
    /// not later than now.
    fn blank(&self, call: &ImportCall, plan: &Planned, now: Timestamp) -> Conversation {
        let key = ConversationKey { namespace: plan.namespace.clone(), id: plan.incoming.id.clone() };
        let start = plan.incoming.start.map_or(now, |start| start.min(now));
        let identity = self.identity(key, &address(&plan.incoming, call), call.encoding, start);
        Conversation::new(identity, call.policy.clone())
    }
}

/// For each conversation, the new ones that left it, in the order of where they did.
fn branches(plans: &[Planned]) -> Vec<Vec<(usize, &Incoming)>> {
    let mut branches: Vec<Vec<(usize, &Incoming)>> = vec![Vec::new(); plans.len()];
    for plan in plans.iter().filter(|plan| plan.existing.is_none()) {
        if let Some(Branch { of, after }) = plan.incoming.branch
            && let Some(of) = branches.get_mut(of)
        {
            of.push((after, &plan.incoming));
        }
    }
    branches.iter_mut().for_each(|of| of.sort_by_key(|(after, _)| *after));
    branches
}

/// Whether the conversation once contained all utterances.
fn was_whole(state: &Conversation, incoming: &Incoming) -> bool {
    state.head.ended.is_some() || state.head.newest().get() >= incoming.drafts.len() as u64
}

/// Whether a conversation was imported from the source that `mark` identifies.
fn is_of(state: &Conversation, mark: &String) -> bool {
    state.head.labels.get(IMPORTED_FROM) == Some(mark)
}

fn not_of_this_import(id: &ConversationId) -> Refusal {
    let name = format!("{id} (which is not from this import; into_existing adds to it)");
    Refusal::Exists { kind: CONVERSATION, name }
}

fn address(incoming: &Incoming, call: &ImportCall) -> Address {
    let (conversation, recipient) = (Some(incoming.id.clone()), Some(call.recipient.clone()));
    Address { conversation, recipient, ..Address::default() }
}

impl Planned {
    /// Returns the command that imports the drafts from `from` to before `to`.
    fn part(&self, from: usize, to: usize, encoding: Encoding, lenient: bool) -> Import {
        let drafts = self.incoming.drafts[from..to].to_vec();
        let starts = from == 0 && self.existing.is_none() && !self.incoming.state.is_empty();
        let mut labels = BTreeMap::new();
        if self.own {
            labels.clone_from(&self.incoming.labels);
            labels.insert(IMPORTED_FROM.to_owned(), self.incoming.mark());
        }
        Import {
            said: drafts.iter().rev().find_map(|draft| draft.create_time),
            memorize: Memorize {
                drafts,
                tokens: self.tokens[from..to].to_vec(),
                encoding,
                expected: None,
                lenient,
                upsert: false,
                state: starts
                    .then(|| StateChange { set: self.incoming.state.clone(), ..StateChange::default() }),
            },
            title: self.incoming.title.clone(),
            summaries: if from == 0 { self.incoming.summaries.clone() } else { Vec::new() },
            labels,
            ends: self.incoming.ends.clone().filter(|_| to == self.incoming.drafts.len() || self.has_ended()),
            continues: self.own,
        }
    }

    fn has_ended(&self) -> bool {
        self.existing.as_ref().is_some_and(|state| state.head.ended.is_some())
    }

    /// Shifts the irregularities of the part that starts at `from` to their indexes among all drafts.
    fn placed(&self, from: usize, irregularities: Vec<Irregularity>) -> Vec<Irregularity> {
        let place = |it: Irregularity| Irregularity { index: it.index + from, ..it };
        irregularities.into_iter().map(place).collect()
    }

    fn nothing(&self) -> ImportReply {
        ImportReply {
            after: self.existing.clone(),
            started: self.existing.is_none(),
            stored: 0,
            skipped: self.reached,
            summaries: 0,
            irregularities: Vec::new(),
        }
    }
}
