//! One conversation: everything ever said in it, and where each utterance is now.

use std::collections::{BTreeMap, BTreeSet};

use utterd::proto::{NewUtterance, Role, StateValue};

use super::{Facts, Policy, Reason, compacting::Compacted};

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

/// An utterance. Its sequence is its place in [`Conversation::said`], from 1.
#[derive(Clone, Debug)]
pub struct Said {
    /// Where it was first said: the birth of the conversation, and the sequence. Forks share it.
    pub origin: (usize, i64),
    /// As it was sent, with its current metadata.
    pub what: NewUtterance,
    /// Given by the caller, or learnt from the response.
    pub id: String,
    /// The message that it came as.
    pub came: Option<String>,
    /// In microseconds.
    pub time: i64,
    pub turn: i32,
    pub tokens: i32,
    pub pinned: bool,
    pub forgotten: bool,
    /// A system utterance before anything else was said.
    pub instruction: bool,
    /// Pairing ignores it as if it had never been said.
    pub passed: bool,
    pub home: Home,
    /// The utterance whose call it answered late.
    pub late: Option<i64>,
    /// The tool of that call, as it was then.
    pub late_tool: String,
    /// The markers in its text.
    pub markers: BTreeSet<u32>,
}

/// A conversation.
#[derive(Clone, Debug)]
pub struct Conversation {
    /// Empty until it is learnt from the response.
    pub id: String,
    pub recipient: String,
    pub encoding: &'static str,
    pub birth: usize,
    pub start: i64,
    pub update: i64,
    pub revision: i64,
    pub title: String,
    pub policy: Policy,
    pub said: Vec<Said>,
    /// The current turn.
    pub turn: i32,
    /// Whether only instructions were said.
    pub only_instructions: bool,
    /// When something was last said; before that, the start.
    pub said_at: i64,
    /// The utterance that awaits an answer.
    pub awaits: Option<i64>,
    /// What left the window while summarisation was on, except what was erased.
    pub covered: BTreeSet<i64>,
    /// The last summary that was read: the choice of its sentences is up to the server.
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
    /// The birth and the id of the conversation it was forked from, and the last shared sequence.
    pub forked_from: Option<(usize, String, i64)>,
    /// Values by name.
    pub state: BTreeMap<String, StateValue>,
}

/// How calls and results are paired, computed from everything that was said.
pub struct Pairing {
    /// The first sequence of each utterance's unit.
    pub units: Vec<i64>,
    /// Results that answer no call.
    pub aside: Vec<bool>,
    /// The ids of the calls that wait for a result, and the utterances that make them.
    pub open: Vec<(String, i64)>,
    /// The same for abandoned calls.
    pub abandoned: Vec<(String, i64)>,
}

impl Said {
    pub fn role(&self) -> Role {
        self.what.role()
    }

    pub fn is_stored(&self) -> bool {
        matches!(self.home, Home::Window | Home::Archive)
    }
}

impl Conversation {
    pub fn new(birth: usize, id: &str, recipient: &str, policy: Policy, now: i64) -> Self {
        Self {
            id: id.to_owned(),
            recipient: recipient.to_owned(),
            encoding: "o200k_base",
            birth,
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

    pub fn get(&self, sequence: i64) -> &Said {
        &self.said[sequence as usize - 1]
    }

    pub fn get_mut(&mut self, sequence: i64) -> &mut Said {
        &mut self.said[sequence as usize - 1]
    }

    /// The sequences of all utterances that `wanted` accepts.
    pub fn sequences(&self, wanted: impl Fn(&Said) -> bool) -> Vec<i64> {
        (1..).zip(&self.said).filter(|(_, said)| wanted(said)).map(|(sequence, _)| sequence).collect()
    }

    pub fn window(&self) -> Vec<i64> {
        self.sequences(|said| said.home == Home::Window)
    }

    pub fn archive(&self) -> Vec<i64> {
        self.sequences(|said| said.home == Home::Archive)
    }

    pub fn last_turn(&self) -> i32 {
        self.turn
    }

    /// System utterances before anything else was said.
    pub fn is_instruction(&self, sequence: i64) -> bool {
        self.get(sequence).instruction
    }

    /// Whether it takes part: counts tokens and turns.
    pub fn is_live(&self, sequence: i64, pairing: &Pairing) -> bool {
        !self.get(sequence).forgotten && !pairing.aside[sequence as usize - 1]
    }

    /// A result answers the nearest earlier open call with its id. While calls are open, everything but a
    /// user utterance joins their unit; a user utterance, or forgetting the exchange, abandons them.
    pub fn pairing(&self) -> Pairing {
        let (mut units, mut aside, mut open) = (Vec::new(), Vec::new(), Vec::<(String, i64)>::new());
        let (mut abandoned, mut unit) = (Vec::new(), 0);
        for (index, said) in self.said.iter().enumerate() {
            if self.abandoned.contains(&index) || said.role() == Role::User && !said.passed {
                abandoned.append(&mut open);
            }
            let own = index as i64 + 1;
            if said.passed {
                units.push(own);
                aside.push(false);
                continue;
            }
            unit = if open.is_empty() { own } else { unit };
            units.push(unit);
            let answered = open.iter().rposition(|(call, _)| *call == said.what.tool_call_id);
            let answered = answered.filter(|_| said.role() == Role::Tool && said.late.is_none());
            aside.push(said.role() == Role::Tool && said.late.is_none() && answered.is_none());
            answered.map(|answered| open.remove(answered));
            open.extend(said.what.tool_calls.iter().map(|call| (call.id.clone(), own)));
        }
        if self.abandoned.contains(&self.said.len()) {
            abandoned.append(&mut open);
        }
        Pairing { units, aside, open, abandoned }
    }

    /// The utterance whose abandoned call with this id a result would answer: the nearest one that is
    /// unanswered, stored and not forgotten.
    pub fn awaits_late(&self, id: &str) -> Option<i64> {
        let waiting = self.unanswered().into_iter().rev();
        let mut callers = waiting.filter(|(call, _)| call == id).map(|(_, caller)| caller);
        callers.find(|caller| !self.get(*caller).forgotten)
    }

    /// Whether there is an abandoned call that is stored and unanswered.
    pub fn awaits_late_results(&self) -> bool {
        !self.unanswered().is_empty()
    }

    /// The abandoned calls that are stored and unanswered, in the order in which they were made.
    fn unanswered(&self) -> Vec<(String, i64)> {
        let mut calls = self.pairing().abandoned;
        for said in self.said.iter().filter(|said| said.home != Home::Erased) {
            let answers =
                |(id, caller): &(String, i64)| said.late == Some(*caller) && *id == said.what.tool_call_id;
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
        let newest = self.said.len() as i64;
        if self.pairing().aside[newest as usize - 1] {
            let id = self.get(newest).what.tool_call_id.clone();
            let caller = self.awaits_late(&id);
            let mut calls = caller.map(|caller| &self.get(caller).what.tool_calls).into_iter().flatten();
            let tool = calls.rfind(|call| call.id == id).map(|call| call.name.clone());
            let said = self.get_mut(newest);
            (said.late, said.late_tool) = (caller, tool.unwrap_or_default());
        }
    }

    /// The members of each unit with one in `sequences`, if `wanted` accepts them.
    pub fn whole_units(&self, sequences: &[i64], wanted: impl Fn(&Said) -> bool) -> Vec<i64> {
        let units = self.pairing().units;
        let touched: BTreeSet<i64> = sequences.iter().map(|sequence| units[*sequence as usize - 1]).collect();
        let members = self.sequences(wanted).into_iter();
        members.filter(|sequence| touched.contains(&units[*sequence as usize - 1])).collect()
    }

    /// The id of an utterance that was ever said, stored or not.
    pub fn any_id(&self, pick: u8) -> Option<String> {
        self.said.get(usize::from(pick) % self.said.len().max(1)).map(|said| said.id.clone())
    }

    /// A marker that was ever said, stored or not.
    pub fn any_marker(&self, pick: u8) -> Option<u32> {
        let all: BTreeSet<u32> = self.said.iter().flat_map(|said| said.markers.clone()).collect();
        all.iter().nth(usize::from(pick) % all.len().max(1)).copied()
    }

    pub fn expect(&self, expected: Option<i64>) -> Result<(), Reason> {
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
    pub fn by_id(&self, id: &str) -> Result<i64, Reason> {
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
    fn reopen(&mut self, restored: &[i64]) {
        let pairing = self.pairing();
        let unit = |sequence: i64| pairing.units[sequence as usize - 1];
        let opens = |forgotten_at: &usize| {
            let newest = *forgotten_at as i64;
            let first = unit(newest);
            let members = first..=self.said.len() as i64;
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

    /// A pin applies to the unit, metadata to the utterance.
    pub fn mark(
        &mut self,
        id: &str,
        pinned: Option<bool>,
        metadata: Option<&BTreeMap<String, String>>,
    ) -> Result<Facts, Reason> {
        let target = self.by_id(id)?;
        let before = self.clone();
        for member in self.whole_units(&[target], Said::is_stored) {
            let said = self.get_mut(member);
            said.pinned = pinned.unwrap_or(said.pinned);
            if let Some(metadata) = metadata.filter(|_| member == target) {
                said.what.metadata.clone_from(metadata);
            }
        }
        let differs = |sequence: &i64| {
            let (old, new) = (before.get(*sequence), self.get(*sequence));
            old.pinned != new.pinned || old.what.metadata != new.what.metadata
        };
        let updated: Vec<i64> = self.sequences(|_| true).into_iter().filter(differs).collect();
        let mut facts =
            Facts { changed: !updated.is_empty(), updated, target: Some(target), ..Facts::default() };
        if facts.changed {
            self.settle(&mut facts);
        }
        Ok(facts)
    }
}
