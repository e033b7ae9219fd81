//! The random calls of a run's clients.

use utterd::{
    domain::{
        ConversationId, Draft, Encoding, Head, More, RecipientId, RequestId, Revision, Role, Sequence,
        ToolCall, Utterance,
        compaction::{Cause, Compact, Extent, Undo},
        end::End,
        forget::{Forget, ForgetSelected, How, Selector, restore::Restore},
        forgetting::parse,
        policy::PolicyUpdate,
        state::{StateChange, StateContent, UpdateState},
        update::{Update, UpdateUtterance},
    },
    engine::{
        self, Address, Attempt, CreateCall, Edit, Filter, ForgetCall, ForkCall, ListConversations, ListOrder,
        ListUtterances, MemorizeCall, Order, RememberCall, Scope, ToForget,
    },
};

use crate::{
    calls::Call,
    dice::Dice,
    habits::{Habits, Kind, RECIPIENTS, policy},
    ledger::{Ledger, Version},
};

/// Maximum number of utterances per call.
pub const MOST_DRAFTS: u64 = 12;

/// Makes the calls of one client.
pub struct Planner<'a> {
    pub dice: &'a mut Dice,
    pub habits: &'a Habits,
    pub ledger: &'a Ledger,
    /// The number of the call, from which its marks and its request id are derived.
    pub number: u64,
}

impl Planner<'_> {
    /// A call of a kind; `None` if there is nothing to make it of.
    pub fn call(&mut self, kind: Kind) -> Option<Call> {
        let address = self.address();
        Some(match kind {
            Kind::Memorize => {
                let address = self.with_recipient(address);
                match self.dice.percent(6) {
                    true => {
                        let after = self.sequence_in(&address);
                        Call::Replace(self.memorize(address), Sequence(after.get() - 1))
                    }
                    false => Call::Memorize(self.memorize(address)),
                }
            }
            Kind::Line => Call::Memorize(self.memorize(address)),
            Kind::Forget => Call::Forget(self.forget(address)),
            Kind::Restore => {
                let ids = vec![self.id_in(&address, |utterance| utterance.forgotten)?];
                let command = Restore { ids, expected: self.expected(&address) };
                Call::Restore(engine::Call { attempt: self.attempt("Restore"), address, command })
            }
            Kind::Edit => {
                let (call, edit) = self.edit(address)?;
                Call::Edit(call, edit)
            }
            Kind::Update => Call::Update(self.update(address)),
            Kind::State => Call::State(self.state(address)),
            Kind::End => {
                let command = End { reason: self.text("reason").into(), expected: self.expected(&address) };
                Call::End(engine::Call { attempt: self.attempt("EndConversation"), address, command })
            }
            Kind::Create => Call::Create(self.create()),
            Kind::Delete => Call::Delete(self.existing()?),
            Kind::Fork => Call::Fork(self.fork(address)),
            Kind::Compact => Call::Compact(self.compact(address)),
            Kind::Undo => {
                let command = Undo { expected: None };
                Call::Undo(engine::Call { attempt: self.attempt("UndoCompaction"), address, command })
            }
            Kind::Capacity | Kind::Watch => Call::Capacity(address),
            Kind::Get => Call::Get(address),
            Kind::List => Call::List(list(address, self.dice.percent(50))),
            Kind::Export => Call::Export(address),
            Kind::Remember => Call::Remember(self.remember(address)),
            Kind::Conversations => Call::Conversations(ListConversations {
                recipient: self.dice.percent(70).then(|| self.recipient()),
                status: None,
                id_prefix: "".into(),
                order: ListOrder { by_update: self.dice.percent(50), newest_first: self.dice.percent(50) },
                after: None,
                limit: 100,
            }),
        })
    }

    fn memorize(&mut self, address: Address) -> MemorizeCall {
        let state = self.known(&address).and_then(|version| version.state.clone());
        let waits = state.and_then(|state| waiting_call(&state.head));
        let count = match self.dice.percent(75) {
            true => 1 + self.dice.below(2),
            false => 1 + self.dice.below(MOST_DRAFTS),
        };
        let mut drafts: Vec<_> = (0..count).map(|index| self.draft(index)).collect();
        if let Some(call) = waits.filter(|_| self.dice.percent(50)) {
            drafts[0] = Draft { role: Role::Tool, more: answering(&call), ..drafts[0].clone() };
        }
        let (attempt, expected) = (self.attempt("Memorize"), self.expected(&address));
        let state = self.dice.percent(15).then(|| self.state_change(&address));
        let recipient_state = None;
        MemorizeCall {
            address,
            drafts,
            attempt,
            expected,
            lenient: false,
            upsert: false,
            state,
            recipient_state,
        }
    }

    fn draft(&mut self, index: u64) -> Draft {
        let content = self.text(&mark(self.number, index)).into();
        let role = if self.dice.percent(50) { Role::User } else { Role::Assistant };
        let calls = role == Role::Assistant && self.dice.percent(15);
        let more =
            calls.then(|| Box::new(More { tool_calls: vec![tool_call(self.number)], ..More::default() }));
        let id = self.dice.percent(15).then(|| format!("u-{}-{index}", self.number).into());
        Draft { id, role, content, turn: None, create_time: None, pinned: self.dice.percent(5), more }
    }

    /// A sequence up to the newest stored one.
    fn sequence_in(&mut self, address: &Address) -> Sequence {
        let next = self.known(address).and_then(|version| version.stored.keys().next_back().copied());
        Sequence(1 + self.dice.below(next.map_or(1, Sequence::get)))
    }

    fn forget(&mut self, address: Address) -> ForgetCall {
        let first = self.sequence_in(&address).get();
        if self.dice.percent(35) {
            let forget = self.named(first, &address);
            return ForgetCall { attempt: self.attempt("Forget"), address, forget, dry_run: false };
        }
        let text = match self.dice.below(8) {
            0 => "newest".to_owned(),
            1 => "last:2".to_owned(),
            2 => "oldest".to_owned(),
            3 => format!("sequence:{first}-{}", first + self.dice.below(4)),
            4 if self.dice.percent(20) => "all".to_owned(),
            _ => format!("sequence:{first}"),
        };
        let instruction = parse(&text).expect("an instruction");
        let (hard, expected) = (self.dice.percent(50), self.expected(&address));
        let forget = Forget { instruction, hard, expected }.into();
        ForgetCall { attempt: self.attempt("Forget"), address, forget, dry_run: false }
    }

    /// A selection: the newest, a sequence, or both.
    fn named(&mut self, sequence: u64, address: &Address) -> ToForget {
        let mut selector = Selector::default();
        if self.dice.percent(60) {
            selector.newest_messages = 1 + self.dice.below(2) as usize;
        }
        if self.dice.percent(50) {
            selector.sequences.add(Sequence(sequence));
        }
        let how = match self.dice.below(4) {
            0 => How::Soft,
            1 => How::Hard,
            _ => How::Exact,
        };
        ToForget::Named(ForgetSelected { selector, how, expected: self.expected(address) })
    }

    fn edit(&mut self, address: Address) -> Option<(engine::Call<UpdateUtterance>, Option<Edit>)> {
        let id = self.id_in(&address, |_| true)?;
        let (pinned, metadata, edit) = match self.dice.below(4) {
            0 => (Some(self.dice.percent(50)), None, None),
            1 => (None, Some([("by".to_owned(), self.number.to_string())].into()), None),
            _ => {
                let content = self.text(&mark(self.number, 0)).into();
                (None, None, Some(Edit { content, max_bytes: 1 << 20 }))
            }
        };
        let command =
            UpdateUtterance { id, pinned, metadata, content: None, expected: self.expected(&address) };
        Some((engine::Call { attempt: self.attempt("UpdateUtterance"), address, command }, edit))
    }

    fn state(&mut self, address: Address) -> engine::Call<UpdateState> {
        let command = UpdateState { expected: self.expected(&address), change: self.state_change(&address) };
        engine::Call { attempt: self.attempt("UpdateState"), address, command }
    }

    /// Sets or deletes one of a few names, sometimes on the condition that it is unchanged.
    fn state_change(&mut self, address: &Address) -> StateChange {
        let name: Box<str> = self.dice.pick(&["s1", "s2", "s3"]).unwrap_or("s1").into();
        let known = self.known(address).and_then(|version| version.state.clone());
        let entry = known.and_then(|state| state.head.state.iter().find(|entry| entry.name == name).cloned());
        let version = entry.map_or(Revision::NONE, |entry| entry.version);
        let mut change = StateChange::default();
        if self.dice.percent(30) {
            change.versions.push((name.clone(), version));
        }
        match self.dice.percent(75) {
            true => change.set.push((name, StateContent::Json(format!("\"{}\"", self.number).into()))),
            false => change.delete.push(name),
        }
        change
    }

    fn update(&mut self, address: Address) -> engine::Call<Update> {
        let policy = self.dice.percent(70).then(|| PolicyUpdate {
            max_utterances: self.dice.pick(&[None, Some(0), Some(6), Some(12)]).flatten(),
            max_turns: self.dice.pick(&[None, Some(0), Some(3)]).flatten(),
            archive_limit: self.dice.pick(&[None, Some(10), Some(100)]).flatten(),
            ..PolicyUpdate::default()
        });
        let title = Some(Some(self.text("title").into()));
        let command = Update { title, labels: None, policy, expected: self.expected(&address) };
        engine::Call { attempt: self.attempt("UpdateConversation"), address, command }
    }

    fn create(&mut self) -> CreateCall {
        let conversation = self.dice.percent(70).then(|| self.given_id());
        CreateCall {
            address: Address { conversation, recipient: Some(self.recipient()), ..Address::default() },
            title: Some(self.text("created").into()),
            policy: policy(self.dice),
            labels: Default::default(),
            encoding: Encoding::default(),
            attempt: self.attempt("CreateConversation"),
        }
    }

    fn fork(&mut self, address: Address) -> ForkCall {
        let newest = self.known(&address).and_then(|version| version.stored.keys().next_back().copied());
        let at =
            newest.filter(|_| self.dice.percent(40)).map(|last| Sequence(1 + self.dice.below(last.get())));
        ForkCall {
            id: self
                .dice
                .percent(30)
                .then(|| self.given_id())
                .filter(|id| address.conversation.as_ref() != Some(id)),
            recipient: None,
            at,
            title: Some(self.text("forked").into()),
            activate: self.dice.percent(75),
            expected: self.expected(&address),
            attempt: self.attempt("ForkConversation"),
            address,
        }
    }

    fn compact(&mut self, address: Address) -> engine::Call<Compact> {
        let keep_recent = 1 + self.dice.below(6) as u32;
        let command = Compact {
            extent: Extent::AllBut(keep_recent),
            summarises: true,
            focus: Vec::new(),
            cause: Cause::Asked,
            expected: None,
        };
        engine::Call { attempt: self.attempt("CompactConversation"), address, command }
    }

    fn remember(&mut self, address: Address) -> RememberCall {
        let utterances = self.known(&address).map(|version| version.stored.clone()).unwrap_or_default();
        let utterances: Vec<_> = utterances.values().cloned().collect();
        let wanted = self.dice.pick(&utterances).filter(|_| self.dice.percent(85));
        let prompt = wanted.map(|utterance| mark_of(&utterance).to_owned()).unwrap_or_default();
        remember(address, prompt)
    }

    /// A conversation by its id, or a recipient's active one.
    fn address(&mut self) -> Address {
        let id = match (self.dice.percent(self.habits.by_recipient), self.dice.percent(60)) {
            (true, _) => None,
            (false, true) => self.existing(),
            (false, false) => Some(self.given_id()),
        };
        match id {
            Some(id) => Address { conversation: Some(id), ..Address::default() },
            None => Address { recipient: Some(self.recipient()), ..Address::default() },
        }
    }

    /// The same, sometimes with a recipient for a named conversation, which owns it if it starts.
    fn with_recipient(&mut self, address: Address) -> Address {
        if address.conversation.is_none() || !self.dice.percent(30) {
            return address;
        }
        let known = self.known(&address).and_then(|version| version.state.clone());
        let owner = known.map(|state| state.head.identity.recipient.clone());
        Address { recipient: Some(owner.unwrap_or_else(|| self.recipient())), ..address }
    }

    fn recipient(&mut self) -> RecipientId {
        recipient(self.dice.pick(&RECIPIENTS[..self.habits.recipients]).unwrap_or("default"))
    }

    fn existing(&mut self) -> Option<ConversationId> {
        self.dice.pick(&self.ledger.existing())
    }

    fn given_id(&mut self) -> ConversationId {
        ConversationId::new(self.dice.pick(&["c1", "c2", "c3"]).unwrap_or("c1")).expect("an id")
    }

    /// The stored version of the addressed conversation.
    fn known(&self, address: &Address) -> Option<&Version> {
        let id = match &address.conversation {
            Some(id) => Some(id.clone()),
            None => self.ledger.active(&address.recipient_or_default()),
        };
        self.ledger.newest(&id?)
    }

    /// The id of a stored utterance of the conversation.
    fn id_in(&mut self, address: &Address, wanted: impl Fn(&Utterance) -> bool) -> Option<Box<str>> {
        let stored = self.known(address)?.stored.clone();
        let ids: Vec<_> =
            stored.values().filter(|utterance| wanted(utterance)).map(|u| u.id_text()).collect();
        self.dice.pick(&ids).map(Into::into)
    }

    fn expected(&mut self, address: &Address) -> Option<Revision> {
        let known = self.known(address).and_then(|version| version.place);
        known.filter(|_| self.dice.percent(8)).map(|(_, revision)| revision)
    }

    /// A request id for most calls.
    fn attempt(&mut self, rpc: &'static str) -> Option<Attempt> {
        let id = RequestId::new(&format!("op-{}", self.number)).expect("an id");
        self.dice.percent(65).then_some(Attempt { rpc, id, body: self.number.into() })
    }

    fn text(&self, mark: &str) -> String {
        const REST: &str =
            "is what we spoke of while the rain fell on the roof of the old house and nobody went out";
        format!("{mark} {} {REST}", self.number)
    }
}

/// Everything stored of a conversation, with or without soft-forgotten utterances.
pub fn list(address: Address, forgotten: bool) -> ListUtterances {
    ListUtterances { archive: true, forgotten, ..ListUtterances::window(address, 10_000) }
}

/// A search of a conversation for `prompt`.
pub fn remember(address: Address, prompt: String) -> RememberCall {
    RememberCall {
        address,
        prompt,
        filter: Filter::default(),
        scope: Scope::Conversation,
        order: Order::Relevance,
        min_relevance: Some(0.0),
        patience: None,
        neighbors: 0,
        skip: 0,
        limit: 10_000,
    }
}

pub fn recipient(name: &str) -> RecipientId {
    RecipientId::new(name).expect("an id")
}

/// A word that only one utterance of a run contains, once, at its beginning.
fn mark(number: u64, index: u64) -> String {
    let mut rest = number * MOST_DRAFTS + index;
    let mut letters = String::new();
    for _ in 0..4 {
        letters.push(char::from(b'a' + (rest % 26) as u8));
        rest /= 26;
    }
    format!("zq{letters}zx")
}

/// The mark of an utterance.
pub fn mark_of(utterance: &Utterance) -> &str {
    utterance.content.split(' ').next().unwrap_or_default()
}

fn tool_call(number: u64) -> ToolCall {
    ToolCall { id: format!("t{number}").into(), name: "look".into(), arguments_json: "{}".into() }
}

/// A call that waits for its result, or one that a result would answer late.
fn waiting_call(head: &Head) -> Option<Box<str>> {
    let open = head.open.as_ref().map(|open| open.calls[0].clone());
    let late = || head.abandoned.iter().find(|call| call.answer.is_none()).map(|call| call.id.clone());
    open.or_else(late)
}

fn answering(call: &str) -> Option<Box<More>> {
    Some(Box::new(More { tool_call_id: Some(call.into()), ..More::default() }))
}
