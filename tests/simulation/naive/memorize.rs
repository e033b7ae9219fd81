//! Memorizing, and what must leave the window and the archive because of it.

use std::collections::{BTreeSet, HashSet};

use utterd::domain::{Draft, Role};

use super::{Conversation, Facts, Home, Reason, Said, command::Memorize};

/// The cost in an OpenAI-style request, with a word for a token: the content; 4 for the message; the name and 1;
/// each call's name, arguments and 3; and the tokens that the caller declares for the extras.
pub fn cost(said: &Draft) -> u32 {
    let name = said.name().map_or(0, |name| words(name) + 1);
    let calls = said.tool_calls().iter().map(|call| words(&call.name) + words(&call.arguments_json) + 3);
    let extras = said.more.as_ref().map_or(0, |more| more.extras_tokens);
    words(&said.content) + 4 + name + calls.sum::<u32>() + extras
}

fn words(text: &str) -> u32 {
    text.split_whitespace().count() as u32
}

impl Conversation {
    pub fn memorize(&mut self, request: &Memorize, now: i64) -> Result<Facts, Reason> {
        self.check_open()?;
        let mut facts = Facts { changed: true, ..Facts::default() };
        if let Some(after) = request.after {
            self.erase_behind(after, &mut facts);
        }
        self.check_ids(request)?;
        let known = if request.upsert { self.known(&request.drafts) } else { Vec::new() };
        let before = self.said.clone();
        for (index, said) in request.drafts.iter().enumerate() {
            if let Some(of) = known.get(index).copied().flatten() {
                self.say_instead(said, of, request.lenient)?;
                continue;
            }
            let turn = self.turn_of(said)?;
            self.say(said, turn, now);
            let sequence = self.said.len() as u64;
            self.check_form(sequence, request.lenient)?;
            self.pin_whole(sequence);
            self.check_size(sequence)?;
            facts.memorized.push(sequence);
            self.awaits = self.get(sequence).awaits_answer().then_some(sequence);
        }
        let both = (1..).zip(before.iter().zip(&self.said));
        facts.updated = both.filter(|(_, (was, is))| was.differs(is)).map(|(sequence, _)| sequence).collect();
        if !request.drafts.is_empty() {
            self.said_at = now;
        }
        if let Some(change) = &request.state {
            self.change_state(change)?;
        }
        self.settle(&mut facts);
        Ok(facts)
    }

    /// Adds an utterance without checks, to see what could be said after it.
    pub fn note(&mut self, what: &Draft) {
        let turn = what.turn.unwrap_or(self.turn + u32::from(what.role == Role::User));
        self.say(what, turn, 0);
    }

    pub fn say(&mut self, what: &Draft, turn: u32, now: i64) {
        self.turn = turn;
        self.only_instructions &= what.role == Role::System;
        self.said.push(Said {
            place: (self.birth, self.said.len() as u64 + 1),
            copies: BTreeSet::new(),
            what: what.clone(),
            id: what.id.as_deref().unwrap_or_default().to_owned(),
            time: what.create_time.map_or(now, |time| time.0),
            turn,
            tokens: cost(what),
            pinned: what.pinned,
            forgotten: false,
            instruction: self.only_instructions,
            passed: false,
            home: Home::Window,
            late: None,
            late_tool: String::new(),
            original: None,
        });
        self.answer_late();
    }

    /// An id is unique among stored utterances, and does not have the form of server-made ids.
    fn check_ids(&self, request: &Memorize) -> Result<(), Reason> {
        let mut batch = HashSet::new();
        for id in request.drafts.iter().filter_map(|said| said.id.as_deref()) {
            let by_server = |said: &Said| said.what.id.is_none() && said.id == id;
            let is_known = self.by_id(id).is_ok();
            if self.said.iter().any(by_server) && !(request.upsert && is_known) {
                return Err("INVALID_ID");
            }
            if is_known && !request.upsert || !batch.insert(id) {
                return Err("UTTERANCE_EXISTS");
            }
        }
        Ok(())
    }

    fn turn_of(&self, said: &Draft) -> Result<u32, Reason> {
        match said.turn {
            Some(turn) if turn < self.turn => Err("TURN_GOES_BACK"),
            Some(turn) => Ok(turn),
            None => Ok(self.turn + u32::from(said.role == Role::User)),
        }
    }

    /// A result answers a call, unless the call is lenient.
    pub fn check_form(&self, sequence: u64, lenient: bool) -> Result<(), Reason> {
        match self.pairing().aside[sequence as usize - 1] && !lenient {
            true => Err("NO_OPEN_CALL"),
            false => Ok(()),
        }
    }

    /// A pin of one utterance is one of its unit.
    pub fn pin_whole(&mut self, sequence: u64) {
        let unit = self.whole_units(&[sequence], |_| true);
        if unit.iter().any(|member| self.get(*member).pinned) {
            unit.iter().for_each(|member| self.get_mut(*member).pinned = true);
        }
    }

    pub fn check_size(&self, sequence: u64) -> Result<(), Reason> {
        let Some(max) = self.policy.tokens.map(|marks| marks.max).filter(|_| self.policy.reject) else {
            return Ok(());
        };
        let pairing = self.pairing();
        let unit = self.whole_units(&[sequence], |_| true);
        let live = unit.iter().filter(|member| self.is_live(**member, &pairing));
        match live.map(|member| self.get(*member).tokens).sum::<u32>() > max {
            true => Err("OVERSIZE"),
            false => Ok(()),
        }
    }

    /// Evicts while the window is over a limit, then trims the archive.
    pub fn settle(&mut self, facts: &mut Facts) {
        self.unsettled = false;
        let before = facts.evicted.len();
        let turns = self.policy.turns.is_some_and(|marks| self.measures().turns > marks.max);
        if self.is_above(|marks| marks.max) {
            while self.is_above(|marks| marks.keep()) {
                let Some(unit) = self.oldest_that_may_leave() else { break };
                for member in unit {
                    self.get_mut(member).home = Home::Archive;
                    self.covered.extend(self.policy.summarizes.then_some(member));
                    facts.evicted.push(member);
                }
            }
        }
        let evicted = facts.evicted[before..].to_vec();
        if turns && !evicted.is_empty() {
            self.note_compaction(&evicted, facts);
        }
        facts.dropped.extend(self.trim());
    }

    /// The oldest unit of the window that is not the newest, not pinned and not an instruction.
    pub fn oldest_that_may_leave(&self) -> Option<Vec<u64>> {
        let (units, window) = (self.pairing().units, self.window());
        let unit = |sequence: u64| units[sequence as usize - 1];
        let newest = unit(*window.last()?);
        let stays = |member: &u64| self.get(*member).pinned || self.is_instruction(*member);
        let mut members = window.chunk_by(|one, next| unit(*one) == unit(*next));
        let leaves = members.find(|run| unit(run[0]) != newest && !run.iter().any(stays));
        leaves.map(<[u64]>::to_vec)
    }

    /// Beyond its limit, the archive loses its oldest units, whole ones, down to 95 % of the limit.
    pub fn trim(&mut self) -> Vec<u64> {
        let archive = self.archive();
        if archive.len() <= self.policy.archive {
            return Vec::new();
        }
        let surplus = archive.len() - (self.policy.archive - self.policy.archive / 20);
        let dropped = self.whole_units(&archive[..surplus], |said| said.home == Home::Archive);
        dropped.iter().for_each(|sequence| self.get_mut(*sequence).home = Home::Dropped);
        dropped
    }
}
