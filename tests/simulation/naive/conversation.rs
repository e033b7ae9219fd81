//! One conversation: everything ever said in it, and where each utterance is now.

use std::collections::{BTreeMap, BTreeSet};

use utterd::domain::{Draft, Role, state::StateContent};

use super::{Facts, Reason, compacting::Compacted, policy::Policy};

/// Where an utterance is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Home {
    Window,
    Archive,
    /// Dropped from the archive.
    Dropped,
    /// Hard-forgotten.
    Erased,
}

/// The birth of a conversation, and a sequence.
pub type Origin = (usize, u64);

/// An utterance. Its sequence is its place in [`Conversation::said`], from 1.
#[derive(Clone, Debug)]
pub struct Said {
    /// Where it was said, which forks share.
    pub place: Origin,
    /// What it says again, and whether its words replace what was said there.
    pub copies: BTreeSet<(Origin, bool)>,
    /// As it was sent, with its current metadata.
    pub what: Draft,
    /// Given by the caller, or learnt from the change.
    pub id: String,
    /// In microseconds.
    pub time: i64,
    pub turn: u32,
    pub tokens: u32,
    pub pinned: bool,
    pub forgotten: bool,
    /// A system utterance before anything else was said.
    pub instruction: bool,
    /// Pairing ignores it as if it had never been said.
    pub passed: bool,
    pub home: Home,
    /// The utterance whose call it answered late.
    pub late: Option<u64>,
    /// The tool of that call, as it was then.
    pub late_tool: String,
    /// Its first content, if it was edited.
    pub original: Option<Box<str>>,
}

/// A conversation.
#[derive(Clone, Debug)]
pub struct Conversation {
    pub id: String,
    pub recipient: String,
    pub birth: usize,
    pub start: i64,
    pub update: i64,
    pub revision: u64,
    pub title: String,
    pub policy: Policy,
    pub said: Vec<Said>,
    /// The current turn.
    pub turn: u32,
    /// Whether only instructions were said.
    pub only_instructions: bool,
    /// When something was last said; before that, the start.
    pub said_at: i64,
    /// The utterance that awaits an answer.
    pub awaits: Option<u64>,
    /// What left the window while summarisation was on, except what was erased.
    pub covered: BTreeSet<u64>,
    /// What its summary can tell without a model, as it is stored: the choice of its sentences is up to the server.
    pub summary: String,
    /// When it ended and why.
    pub ended: Option<(i64, String)>,
    /// How much had been said when turns, or a narrower policy, last compacted it.
    pub compacted_at: Option<usize>,
    /// All compactions, the oldest first.
    pub compactions: Vec<Compacted>,
    /// Whether an undo might have left it above a limit.
    pub unsettled: bool,
    /// How much had been said each time that an open exchange was forgotten.
    pub abandoned: BTreeSet<usize>,
    /// The conversation it was forked from, and the last shared sequence.
    pub forked_from: Option<(String, u64)>,
    /// Values by name, each with its version.
    pub state: BTreeMap<String, (u64, StateContent)>,
}

/// How calls and results are paired, computed from everything that was said.
pub struct Pairing {
    /// The first sequence of each utterance's unit.
    pub units: Vec<u64>,
    /// Results that answer no call.
    pub aside: Vec<bool>,
    /// The ids of the calls that wait for a result, and the utterances that make them.
    pub open: Vec<(String, u64)>,
    /// The same for abandoned calls.
    pub abandoned: Vec<(String, u64)>,
}

impl Said {
    pub fn role(&self) -> Role {
        self.what.role
    }

    /// Everywhere where it was said.
    pub fn origins(&self) -> impl Iterator<Item = Origin> {
        self.copies.iter().map(|(of, _)| *of).chain([self.place])
    }

    /// What a copy of it says again: what it repeats itself, or else it.
    pub fn to_copy(&self) -> BTreeSet<(Origin, bool)> {
        let mut all = self.copies.clone();
        if all.iter().all(|(_, reworded)| *reworded) {
            all.insert((self.place, false));
        }
        all
    }

    /// The id of the call that it answers.
    pub fn answers(&self) -> &str {
        self.what.tool_call_id().unwrap_or_default()
    }

    pub fn awaits_answer(&self) -> bool {
        !self.forgotten && self.what.more.as_ref().is_some_and(|more| more.awaits_answer)
    }

    /// The word that only it has, at its beginning.
    pub fn mark(&self) -> &str {
        self.what.content.split(' ').next().unwrap_or_default()
    }

    pub fn is_stored(&self) -> bool {
        matches!(self.home, Home::Window | Home::Archive)
    }
}

impl Conversation {
    pub fn new(id: &str, recipient: &str, policy: Policy, now: i64) -> Self {
        Self {
            id: id.to_owned(),
            recipient: recipient.to_owned(),
            birth: 0,
            start: now,
            update: now,
            revision: 0,
            title: String::new(),
            policy,
            said: Vec::new(),
            turn: 0,
            only_instructions: true,
            said_at: now,
            awaits: None,
            covered: BTreeSet::new(),
            summary: String::new(),
            ended: None,
            compacted_at: None,
            compactions: Vec::new(),
            unsettled: false,
            abandoned: BTreeSet::new(),
            forked_from: None,
            state: BTreeMap::new(),
        }
    }

    pub fn get(&self, sequence: u64) -> &Said {
        &self.said[sequence as usize - 1]
    }

    pub fn get_mut(&mut self, sequence: u64) -> &mut Said {
        &mut self.said[sequence as usize - 1]
    }

    /// The sequences of all utterances that `wanted` accepts.
    pub fn sequences(&self, wanted: impl Fn(&Said) -> bool) -> Vec<u64> {
        (1..).zip(&self.said).filter(|(_, said)| wanted(said)).map(|(sequence, _)| sequence).collect()
    }

    pub fn window(&self) -> Vec<u64> {
        self.sequences(|said| said.home == Home::Window)
    }

    pub fn archive(&self) -> Vec<u64> {
        self.sequences(|said| said.home == Home::Archive)
    }

    /// System utterances before anything else was said.
    pub fn is_instruction(&self, sequence: u64) -> bool {
        self.get(sequence).instruction
    }

    /// Whether it takes part: counts tokens and turns.
    pub fn is_live(&self, sequence: u64, pairing: &Pairing) -> bool {
        !self.get(sequence).forgotten && !pairing.aside[sequence as usize - 1]
    }

    /// A result answers the nearest earlier open call with its id. While calls are open, everything but a
    /// user utterance joins their unit; a user utterance, or forgetting the exchange, abandons them.
    pub fn pairing(&self) -> Pairing {
        let (mut units, mut aside, mut open) = (Vec::new(), Vec::new(), Vec::<(String, u64)>::new());
        let (mut abandoned, mut unit) = (Vec::new(), 0);
        for (index, said) in self.said.iter().enumerate() {
            if self.abandoned.contains(&index) || said.role() == Role::User && !said.passed {
                abandoned.append(&mut open);
            }
            let own = index as u64 + 1;
            if said.passed {
                units.push(own);
                aside.push(false);
                continue;
            }
            unit = if open.is_empty() { own } else { unit };
            units.push(unit);
            let answered = open.iter().rposition(|(call, _)| call == said.answers());
            let answered = answered.filter(|_| said.role() == Role::Tool && said.late.is_none());
            aside.push(said.role() == Role::Tool && said.late.is_none() && answered.is_none());
            answered.map(|answered| open.remove(answered));
            open.extend(said.what.tool_calls().iter().map(|call| (call.id.to_string(), own)));
        }
        if self.abandoned.contains(&self.said.len()) {
            abandoned.append(&mut open);
        }
        Pairing { units, aside, open, abandoned }
    }

    /// The utterance whose abandoned call with this id a result would answer: the nearest one that is
    /// unanswered, stored and not forgotten.
    pub fn awaits_late(&self, id: &str) -> Option<u64> {
        let waiting = self.unanswered().into_iter().rev();
        let mut callers = waiting.filter(|(call, _)| call == id).map(|(_, caller)| caller);
        callers.find(|caller| !self.get(*caller).forgotten)
    }

    /// Whether there is an abandoned call that is stored and unanswered.
    pub fn awaits_late_results(&self) -> bool {
        !self.unanswered().is_empty()
    }

    /// The abandoned calls that are stored and unanswered, in the order in which they were made.
    fn unanswered(&self) -> Vec<(String, u64)> {
        let mut calls = self.pairing().abandoned;
        for said in self.said.iter().filter(|said| said.home != Home::Erased) {
            let answers = |(id, caller): &(String, u64)| said.late == Some(*caller) && id == said.answers();
            calls.iter().rposition(answers).map(|answered| calls.remove(answered));
        }
        calls.retain(|(_, caller)| self.get(*caller).is_stored());
        calls
    }

    /// The id of a call that a result would answer late.
    pub fn any_late(&self) -> Option<String> {
        let abandoned = self.pairing().abandoned.into_iter().rev();
        abandoned.map(|(id, _)| id).find(|id| self.awaits_late(id).is_some())
    }

    /// If the newest utterance can answer a call late, it does.
    pub fn answer_late(&mut self) {
        let newest = self.said.len() as u64;
        if self.pairing().aside[newest as usize - 1] {
            let id = self.get(newest).answers().to_owned();
            let caller = self.awaits_late(&id);
            let mut calls = caller.map(|caller| self.get(caller).what.tool_calls()).into_iter().flatten();
            let tool = calls.rfind(|call| *call.id == *id).map(|call| call.name.to_string());
            let said = self.get_mut(newest);
            (said.late, said.late_tool) = (caller, tool.unwrap_or_default());
        }
    }

    /// The members of each unit with one in `sequences`, if `wanted` accepts them.
    pub fn whole_units(&self, sequences: &[u64], wanted: impl Fn(&Said) -> bool) -> Vec<u64> {
        let units = self.pairing().units;
        let touched: BTreeSet<u64> = sequences.iter().map(|sequence| units[*sequence as usize - 1]).collect();
        let members = self.sequences(wanted).into_iter();
        members.filter(|sequence| touched.contains(&units[*sequence as usize - 1])).collect()
    }

    pub fn expect(&self, expected: Option<u64>) -> Result<(), Reason> {
        match expected.is_none_or(|expected| expected == self.revision) {
            true => Ok(()),
            false => Err("STALE_REVISION"),
        }
    }

    /// Refuses if it has ended.
    pub fn check_open(&self) -> Result<(), Reason> {
        match self.ended {
            Some(_) => Err("CONVERSATION_CLOSED"),
            None => Ok(()),
        }
    }

    /// Nothing more is said: calls no longer accept results, and no answer is awaited.
    pub fn end(&mut self, now: i64, reason: &str) {
        self.abandoned.insert(self.said.len());
        self.awaits = None;
        self.ended = Some((now, reason.to_owned()));
    }

    /// The stored utterance with this id.
    pub fn by_id(&self, id: &str) -> Result<u64, Reason> {
        let named = self.sequences(|said| said.is_stored() && said.id == id);
        named.first().copied().ok_or("UTTERANCE_NOT_FOUND")
    }

    /// Soft-forgotten utterances come back with their units.
    pub fn restore(&mut self, ids: &[String]) -> Result<Facts, Reason> {
        let named = ids.iter().map(|id| self.by_id(id)).collect::<Result<Vec<_>, _>>()?;
        let restored = self.whole_units(&named, |said| said.is_stored() && said.forgotten);
        for sequence in &restored {
            self.get_mut(*sequence).forgotten = false;
        }
        self.reopen(&restored);
        let mut facts = Facts { changed: !restored.is_empty(), restored, ..Facts::default() };
        if facts.changed {
            self.settle(&mut facts);
        }
        Ok(facts)
    }

    /// Calls that were abandoned by being forgotten are open again, the oldest exchange first, unless what
    /// follows cannot be part of their unit.
    fn reopen(&mut self, restored: &[u64]) {
        let pairing = self.pairing();
        let unit = |sequence: u64| pairing.units[sequence as usize - 1];
        let opens = |forgotten_at: &usize| {
            let newest = *forgotten_at as u64;
            let first = unit(newest);
            let members = first..=self.said.len() as u64;
            let late = self.said.iter().any(|said| {
                let counts = said.home != Home::Erased && said.late >= Some(first);
                counts && said.late.is_some_and(|caller| self.get(caller).is_stored())
            });
            let is_back = restored.contains(&first) && self.get(first).home == Home::Window && !late;
            is_back
                && members.clone().all(|member| {
                    let (said, joins) = (self.get(member), member > newest);
                    let is_there = said.home == Home::Window;
                    let live = is_there && self.is_live(member, &pairing);
                    is_there && !joins
                        || live && said.role() != Role::User && said.pinned == self.get(first).pinned
                })
        };
        let reopens = self.abandoned.iter().copied().find(opens).filter(|_| self.ended.is_none());
        self.abandoned.retain(|at| reopens.is_none_or(|reopens| *at < reopens));
    }
}
