//! The random calls of a run's clients, fitted to what is stored when they are made.

use std::sync::Arc;

use utterd::{
    domain::{
        ConversationId, RequestId, Revision, Role, Sequence,
        compaction::Extent,
        forget::{How, Selector},
        policy::PolicyUpdate,
        recall::Floor,
        state::{StateChange, StateContent, UpdateState},
    },
    engine::{
        Address, Attempt, Filter, ListConversations, ListOrder, ListUtterances, Order, RememberCall, Scope,
    },
};

use crate::{
    calls::{Call, address_of, recipient},
    dice::Dice,
    drafts::{Drafts, TOPICS, mark, text},
    habits::{Habits, Kind, RECIPIENTS, policy},
    ledger::Ledger,
    naive::{Command, Conversation, Criterion, Doing, Edit, Fork, Memorize, Said, Selection, Take},
};

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
        let mut to = self.address();
        let known = self.ledger.world.find(&to).cloned();
        let known = known.as_deref();
        let read = address_of(&to);
        let (rpc, doing) = match kind {
            Kind::Memorize | Kind::Line => {
                to = self.with_recipient(to, known);
                ("Memorize", self.memorize(kind, known, &to))
            }
            Kind::Forget => ("Forget", self.forget(known)),
            Kind::Restore => ("Restore", Doing::Restore(vec![self.id_in(known, |said| said.forgotten)?])),
            Kind::Edit => self.edit(known)?,
            Kind::Update => ("UpdateConversation", self.update()),
            Kind::State => ("UpdateState", Doing::State(self.state_change(known))),
            Kind::Own => return Some(self.own(to)),
            Kind::End => ("EndConversation", Doing::End(text(self.dice, "reason"))),
            Kind::Create => {
                to.conversation = self.dice.percent(70).then(|| self.given_id());
                to.recipient = Some(self.recipient());
                let (title, policy) = (text(self.dice, "created"), policy(self.dice));
                ("CreateConversation", Doing::Create { title, policy })
            }
            Kind::Fork => ("ForkConversation", self.fork(known, &to)),
            Kind::Compact => ("CompactConversation", self.compact()),
            Kind::Undo => ("UndoCompaction", Doing::Undo),
            Kind::Delete => {
                return Some(Call::Delete(ConversationId::new(&self.existing()?).expect("an id")));
            }
            Kind::Capacity | Kind::Watch => return Some(Call::Capacity(read)),
            Kind::Get => return Some(Call::Get(read)),
            Kind::List => return Some(Call::List(list(read, self.dice.percent(50)))),
            Kind::Export => return Some(Call::Export(read)),
            Kind::Remember => return Some(Call::Remember(self.remember(read, known))),
            Kind::Conversations => return Some(Call::Conversations(self.conversations())),
        };
        let is_creation = matches!(doing, Doing::Create { .. });
        let expected = known.filter(|_| !is_creation && self.dice.percent(8)).map(|known| known.revision);
        Some(Call::Do(Command { expected, doing, ..to }, self.attempt(rpc)))
    }

    fn memorize(&mut self, kind: Kind, known: Option<&Conversation>, to: &Command) -> Doing {
        let replaces = kind == Kind::Memorize && self.dice.percent(8);
        let after = replaces.then(|| self.sequence_in(known).saturating_sub(1));
        let upsert = self.dice.percent(15);
        let drafts = Drafts { dice: self.dice, number: self.number, known, upsert }.some();
        let state = self.dice.percent(15).then(|| self.state_change(known));
        let own = self.dice.percent(8).then(|| {
            let change = self.own_change(to.recipient.as_deref().unwrap_or("default"));
            Arc::new(UpdateState { change, expected: None })
        });
        Doing::Memorize(Memorize { drafts, lenient: self.dice.percent(30), upsert, after, state, own })
    }

    /// A sequence up to the newest.
    fn sequence_in(&mut self, known: Option<&Conversation>) -> u64 {
        1 + self.dice.below(known.map_or(1, |known| known.said.len() as u64))
    }

    fn forget(&mut self, known: Option<&Conversation>) -> Doing {
        let how = self.dice.pick(&[How::Soft, How::Hard]).unwrap_or(How::Soft);
        if self.dice.percent(40) {
            let how = self.dice.pick(&[How::Soft, How::Hard, How::Exact, How::Exact]).unwrap_or(how);
            let (criteria, words) = (vec![Criterion::Named(self.selector(known))], String::new());
            return Doing::Forget(Selection { criteria, take: None, words, english: false }, how);
        }
        let first = self.sequence_in(known);
        let last = first + self.dice.below(4);
        let (turn, count) = (known.map_or(1, |known| known.turn), 1 + self.dice.below(3) as usize);
        let turn = turn.saturating_sub(self.dice.below(4) as u32).max(1);
        let id = self.id_in(known, |_| true).unwrap_or_else(|| "nobody".to_owned());
        let word = self.word_in(known);
        let (role, name) = self
            .dice
            .pick(&[
                (Role::User, "user"),
                (Role::Assistant, "assistant"),
                (Role::Tool, "tool"),
                (Role::System, "system"),
            ])
            .unwrap_or((Role::User, "user"));
        let by = |words: String, criteria: Vec<Criterion>| (words, criteria, None);
        let counted = |words: String, take: Take| (words, Vec::new(), Some(take));
        let mut english = false;
        let (words, criteria, take) = match self.dice.below(19) {
            0 => counted("oldest".to_owned(), Take::Oldest(1)),
            1 => counted(format!("first:{count}"), Take::Oldest(count)),
            2 => counted(format!("last:{count}"), Take::Newest(count)),
            3 if self.dice.percent(20) => by("all".to_owned(), vec![Criterion::All]),
            4 => by(format!("first:{count}_turns"), vec![Criterion::FirstTurns(count)]),
            5 => by(format!("last:{count}_turns"), vec![Criterion::LastTurns(count)]),
            6 => by(format!("position:{count}"), vec![Criterion::Position(count as u32, count as u32)]),
            7 => by(format!("before:turn_{turn}"), vec![Criterion::Before(turn)]),
            8 => by(format!("after:turn_{turn}"), vec![Criterion::After(turn)]),
            9 => by(format!("turn:{turn}"), vec![Criterion::Turn(turn, turn)]),
            10 => by(
                format!("speaker:{name} before:turn_{turn}"),
                vec![Criterion::Speaker(role), Criterion::Before(turn)],
            ),
            11 => (
                format!("speaker:{name} last:{count}"),
                vec![Criterion::Speaker(role)],
                Some(Take::Newest(count)),
            ),
            12 => by(format!("id:{id}"), vec![Criterion::Id(id)]),
            13 => by(format!("about:{word}"), vec![Criterion::About(word)]),
            14 => {
                english = true;
                by(format!("forget everything after turn {turn}"), vec![Criterion::After(turn)])
            }
            15 => {
                english = true;
                counted("please delete the newest message, thanks".to_owned(), Take::Newest(1))
            }
            16 => by("name:Ann".to_owned(), vec![Criterion::Name("Ann".to_owned())]),
            _ => by(format!("sequence:{first}-{last}"), vec![Criterion::Sequence(first, last)]),
        };
        Doing::Forget(Selection { criteria, take, words, english }, how)
    }

    /// The newest, a sequence, an id, or several of these.
    fn selector(&mut self, known: Option<&Conversation>) -> Selector {
        let mut selector = Selector::default();
        if self.dice.percent(50) {
            selector.newest_messages = 1 + self.dice.below(2) as usize;
        }
        if self.dice.percent(50) {
            selector.sequences.add(Sequence(self.sequence_in(known)));
        }
        let id = self.dice.percent(20).then(|| self.id_in(known, |_| true)).flatten();
        selector.ids.extend(id.map(Into::into));
        selector
    }

    fn edit(&mut self, known: Option<&Conversation>) -> Option<(&'static str, Doing)> {
        let id = self.id_in(known, Said::is_stored)?;
        let mut edit = Edit { id, pinned: None, metadata: None, content: None };
        let content = text(self.dice, &mark(self.number, 0)).into();
        match self.dice.below(7) {
            0 | 1 => edit.pinned = Some(self.dice.percent(50)),
            2 => edit.metadata = Some([("by".to_owned(), mark(self.number, 0))].into()),
            3 | 4 => edit.content = Some(content),
            _ => {
                edit.content = Some(content);
                return Some(("EditAsFork", Doing::EditAsFork(edit)));
            }
        }
        Some(("UpdateUtterance", Doing::Edit(edit)))
    }

    /// Sets or deletes one of a few names, sometimes on the condition that it is unchanged.
    fn state_change(&mut self, known: Option<&Conversation>) -> StateChange {
        let name: Box<str> = self.dice.pick(&["s1", "s2", "s3"]).unwrap_or("s1").into();
        let mut change = StateChange::default();
        if self.dice.percent(30) {
            change.versions.push((name.clone(), Revision(known.map_or(0, |known| known.version(&name)))));
        }
        match self.dice.percent(75) {
            true => change.set.push((name, StateContent::Json(format!("\"{}\"", self.number).into()))),
            false => change.delete.push(name),
        }
        change
    }

    fn own_change(&mut self, recipient: &str) -> StateChange {
        let own = self.ledger.world.own(recipient);
        self.state_change(Some(&own))
    }

    fn own(&mut self, to: Command) -> Call {
        let recipient = to.recipient.clone().unwrap_or_else(|| self.recipient());
        let update = Arc::new(UpdateState { change: self.own_change(&recipient), expected: None });
        let to = Command { conversation: None, recipient: Some(recipient), ..to };
        Call::Do(Command { doing: Doing::Own(update), ..to }, self.attempt("UpdateState"))
    }

    fn update(&mut self) -> Doing {
        let one = |dice: &mut Dice, faces: &[Option<u32>]| dice.pick(faces).flatten();
        let policy = self.dice.percent(75).then(|| PolicyUpdate {
            max_utterances: one(self.dice, &[None, Some(0), Some(6), Some(12)]),
            max_turns: one(self.dice, &[None, Some(0), Some(3)]),
            max_tokens: one(self.dice, &[None, None, Some(0), Some(40), Some(150)]),
            keep_turns: one(self.dice, &[None, None, None, Some(2), Some(4)]),
            archive_limit: one(self.dice, &[None, Some(0), Some(10), Some(100)]),
            summary_token_limit: one(self.dice, &[None, None, Some(0), Some(60)]),
            summarization_enabled: self.dice.pick(&[None, None, Some(true), Some(false)]).flatten(),
            oversize: None,
            ..PolicyUpdate::default()
        });
        let title = (policy.is_none() || self.dice.percent(50)).then(|| match self.dice.percent(30) {
            true => String::new(),
            false => text(self.dice, "title"),
        });
        Doing::Update { title, policy }
    }

    fn fork(&mut self, known: Option<&Conversation>, to: &Command) -> Doing {
        let at = (known.is_some() && self.dice.percent(40)).then(|| self.sequence_in(known));
        let id =
            self.dice.percent(30).then(|| self.given_id()).filter(|id| to.conversation.as_ref() != Some(id));
        let title = self.dice.percent(50).then(|| text(self.dice, "forked"));
        Doing::Fork(Fork { id, at, title, activate: self.dice.percent(75) })
    }

    fn compact(&mut self) -> Doing {
        let extent = match self.dice.percent(70) {
            true => Extent::Oldest(1 + self.dice.below(4) as u32),
            false => Extent::AllBut(1 + self.dice.below(6) as u32),
        };
        Doing::Compact(extent, self.dice.percent(70))
    }

    fn remember(&mut self, address: Address, known: Option<&Conversation>) -> RememberCall {
        let prompt = if self.dice.percent(85) { self.word_in(known) } else { String::new() };
        let filter = Filter {
            roles: self.dice.pick(&[None, None, None, Some(Role::User)]).flatten().into_iter().collect(),
            pinned: self.dice.pick(&[None, None, None, None, Some(true), Some(false)]).flatten(),
            min_sequence: self.dice.percent(15).then(|| Sequence(self.sequence_in(known))),
            max_turn: self.dice.percent(10).then(|| 1 + self.dice.below(9) as u32),
            ..Filter::default()
        };
        let scope = if self.dice.percent(20) { Scope::Window } else { Scope::Conversation };
        let order = if self.dice.percent(70) { Order::Relevance } else { Order::Recency };
        RememberCall { filter, scope, order, ..remember(address, prompt) }
    }

    fn conversations(&mut self) -> ListConversations {
        ListConversations {
            recipient: self.dice.percent(70).then(|| recipient(&self.recipient())),
            status: None,
            id_prefix: "".into(),
            order: ListOrder { by_update: self.dice.percent(50), newest_first: self.dice.percent(50) },
            after: None,
            limit: 100,
        }
    }

    /// A conversation by its id, or a recipient's active one.
    fn address(&mut self) -> Command {
        let conversation = match (self.dice.percent(self.habits.by_recipient), self.dice.percent(60)) {
            (true, _) => None,
            (false, true) => self.existing(),
            (false, false) => Some(self.given_id()),
        };
        let recipient = conversation.is_none().then(|| self.recipient());
        Command { conversation, recipient, expected: None, doing: Doing::Undo }
    }

    /// The same, sometimes with a recipient for a named conversation, which owns it if it starts.
    fn with_recipient(&mut self, to: Command, known: Option<&Conversation>) -> Command {
        if to.conversation.is_none() || !self.dice.percent(30) {
            return to;
        }
        let owner = known.map(|known| known.recipient.clone());
        Command { recipient: Some(owner.unwrap_or_else(|| self.recipient())), ..to }
    }

    fn recipient(&mut self) -> String {
        self.dice.pick(&RECIPIENTS[..self.habits.recipients]).unwrap_or("default").to_owned()
    }

    fn existing(&mut self) -> Option<String> {
        let all: Vec<_> = self.ledger.world.conversations.keys().cloned().collect();
        self.dice.pick(&all)
    }

    fn given_id(&mut self) -> String {
        self.dice.pick(&["c1", "c2", "c3"]).unwrap_or("c1").to_owned()
    }

    /// The id of an utterance of the conversation; of any if there is none such.
    fn id_in(&mut self, known: Option<&Conversation>, wanted: impl Fn(&Said) -> bool) -> Option<String> {
        let ids = |wanted: &dyn Fn(&Said) -> bool| -> Vec<String> {
            known
                .map(|known| {
                    known.said.iter().filter(|said| wanted(said)).map(|said| said.id.clone()).collect()
                })
                .unwrap_or_default()
        };
        let wanted = ids(&|said| said.is_stored() && wanted(said));
        self.dice.pick(&wanted).or_else(|| self.dice.pick(&ids(&|_| true)))
    }

    /// The mark of something that was said, stored or not; or a topic of many.
    fn word_in(&mut self, known: Option<&Conversation>) -> String {
        let said: Vec<_> =
            known.into_iter().flat_map(|known| &known.said).map(|said| said.mark().to_owned()).collect();
        let mark = self.dice.pick(&said).filter(|mark| !mark.is_empty() && self.dice.percent(75));
        mark.unwrap_or_else(|| self.dice.pick(&TOPICS).unwrap_or(TOPICS[0]).to_owned())
    }

    /// A request id for most calls.
    fn attempt(&mut self, rpc: &'static str) -> Option<Attempt> {
        let id = RequestId::new(&format!("op-{}", self.number)).expect("an id");
        self.dice.percent(65).then_some(Attempt { rpc, id, body: self.number.into() })
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
        floor: Floor::of_search(Some(0.0)),
        patience: None,
        neighbors: 0,
        skip: 0,
        limit: 10_000,
    }
}
