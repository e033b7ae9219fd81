//! Memorizing, and what must leave the window and the archive because of it.

use std::collections::HashSet;

use prost::Message;
use utterd::proto::{MemorizeRequest, NewUtterance, Role};

use super::{Conversation, Facts, Home, Reason, Said};
use crate::text::{markers, tokens};

/// Checks that need no conversation, in the order of the batch.
pub fn check(request: &MemorizeRequest) -> Result<(), Reason> {
    if request.utterances.is_empty() && request.replace_after.is_none() {
        return Err("EMPTY_BATCH");
    }
    request.utterances.iter().try_for_each(|said| {
        let says_nothing = says_nothing(said);
        match said.role() {
            _ if said.turn_number.is_some_and(|turn| turn < 1) => Err("INVALID_FIELD"),
            Role::Unspecified => Err("UNKNOWN_ROLE"),
            Role::Tool if said.tool_call_id.is_empty() && !request.lenient => Err("NO_OPEN_CALL"),
            Role::System | Role::User | Role::Assistant if says_nothing && !request.lenient => {
                Err("EMPTY_UTTERANCE")
            }
            _ => Ok(()),
        }
    })
}

/// Whether there is no text, no call, and nothing kept of a provider's format.
fn says_nothing(said: &NewUtterance) -> bool {
    said.content.is_empty() && said.tool_calls.is_empty() && said.extras_json.is_empty()
}

/// The cost in an OpenAI-style request: the content; 4 for the message; the name and 1; each call's name,
/// arguments and 3; and the tokens that the caller declares for the extras.
pub fn cost(encoding: &str, said: &NewUtterance) -> i32 {
    let name = if said.name.is_empty() { 0 } else { tokens(encoding, &said.name) + 1 };
    let calls = said.tool_calls.iter();
    let calls = calls.map(|call| tokens(encoding, &call.name) + tokens(encoding, &call.arguments_json) + 3);
    tokens(encoding, &said.content) + 4 + name + calls.sum::<i32>() + said.extras_token_count
}

impl Conversation {
    /// `messages` are the messages that the utterances came as, if any.
    pub fn memorize(
        &mut self,
        request: &MemorizeRequest,
        messages: &[String],
        now: i64,
    ) -> Result<Facts, Reason> {
        self.check_open()?;
        let mut facts = Facts { changed: true, ..Facts::default() };
        if let Some(after) = request.replace_after {
            self.erase_behind(after, &mut facts);
        }
        self.check_ids(request)?;
        let known = if request.upsert { self.known(&request.utterances) } else { Vec::new() };
        let before = self.said.clone();
        for (index, said) in request.utterances.iter().enumerate() {
            let came = messages.get(index).cloned();
            if let Some(of) = known.get(index).copied().flatten() {
                self.say_instead((index, said), came, of, request.lenient, &mut facts)?;
                continue;
            }
            let turn = self.turn_of(said)?;
            self.say(said, came, turn, now);
            let sequence = self.said.len() as i64;
            self.check_form(index, sequence, request.lenient, &mut facts)?;
            self.pin_whole(sequence);
            self.check_size(sequence)?;
            facts.memorized.push(sequence);
            facts.late += usize::from(self.get(sequence).late.is_some());
            self.awaits = said.awaits_answer.then_some(sequence);
        }
        let is_as_before =
            |was: &Said, is: &Said| (was.pinned, &was.what, &was.came) == (is.pinned, &is.what, &is.came);
        let both = (1..).zip(before.iter().zip(&self.said));
        facts.updated =
            both.filter(|(_, (was, is))| !is_as_before(was, is)).map(|(sequence, _)| sequence).collect();
        if !request.utterances.is_empty() {
            self.said_at = now;
        }
        if let Some(change) = &request.state {
            self.change_state(change)?;
            facts.kept = change.set.len();
        }
        self.settle(&mut facts);
        Ok(facts)
    }

    /// Adds an utterance without checks, to see what could be said after it.
    pub fn note(&mut self, what: &NewUtterance) {
        let turn = what.turn_number.unwrap_or(self.last_turn() + i32::from(what.role() == Role::User));
        self.say(what, None, turn, 0);
    }

    fn say(&mut self, what: &NewUtterance, came: Option<String>, turn: i32, now: i64) {
        let given = what.create_time.map(|time| time.seconds * 1_000_000 + i64::from(time.nanos) / 1_000);
        self.turn = turn;
        self.only_instructions &= what.role() == Role::System;
        let origin = (self.birth, self.said.len() as i64 + 1);
        self.said.push(Said {
            origin,
            what: what.clone(),
            id: what.utterance_id.clone(),
            came,
            time: given.unwrap_or(now),
            turn,
            tokens: cost(self.encoding, what),
            pinned: what.pinned,
            forgotten: false,
            instruction: self.only_instructions,
            passed: false,
            home: Home::Window,
            late: None,
            late_tool: String::new(),
            markers: markers(&what.encode_to_vec()),
        });
        self.answer_late();
    }

    /// An id is unique among stored utterances, and does not have the form of server-made ids.
    fn check_ids(&self, request: &MemorizeRequest) -> Result<(), Reason> {
        let mut batch = HashSet::new();
        for id in request.utterances.iter().map(|said| &said.utterance_id).filter(|id| !id.is_empty()) {
            let by_server = |said: &Said| said.what.utterance_id.is_empty() && said.id == *id;
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

    fn turn_of(&self, said: &NewUtterance) -> Result<i32, Reason> {
        match said.turn_number {
            Some(turn) if turn < self.last_turn() => Err("TURN_GOES_BACK"),
            Some(turn) => Ok(turn),
            None => Ok(self.last_turn() + i32::from(said.role() == Role::User)),
        }
    }

    /// A result answers a call, and everyone else says something; what a lenient call accepts is reported.
    pub fn check_form(
        &mut self,
        index: usize,
        sequence: i64,
        lenient: bool,
        facts: &mut Facts,
    ) -> Result<(), Reason> {
        let aside = self.pairing().aside[sequence as usize - 1];
        if aside && !lenient {
            return Err("NO_OPEN_CALL");
        }
        let said = &self.get(sequence).what;
        let nothing = says_nothing(said) && said.role() != Role::Tool;
        facts.irregular.extend((aside || nothing).then_some((index as i32, sequence)));
        Ok(())
    }

    fn pin_whole(&mut self, sequence: i64) {
        let unit = self.whole_units(&[sequence], |_| true);
        if unit.iter().any(|member| self.get(*member).pinned) {
            unit.iter().for_each(|member| self.get_mut(*member).pinned = true);
        }
    }

    pub fn check_size(&self, sequence: i64) -> Result<(), Reason> {
        let Some(max) = self.policy.tokens.map(|marks| marks.max).filter(|_| self.policy.reject) else {
            return Ok(());
        };
        let pairing = self.pairing();
        let unit = self.whole_units(&[sequence], |_| true);
        let live = unit.iter().filter(|member| self.is_live(**member, &pairing));
        match live.map(|member| self.get(*member).tokens).sum::<i32>() > max {
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
    pub fn oldest_that_may_leave(&self) -> Option<Vec<i64>> {
        let (units, window) = (self.pairing().units, self.window());
        let unit = |sequence: i64| units[sequence as usize - 1];
        let newest = unit(*window.last()?);
        let stays = |member: &i64| self.get(*member).pinned || self.is_instruction(*member);
        let mut members = window.chunk_by(|one, next| unit(*one) == unit(*next));
        let leaves = members.find(|run| unit(run[0]) != newest && !run.iter().any(stays));
        leaves.map(<[i64]>::to_vec)
    }

    /// Beyond its limit, the archive loses its oldest units, whole ones, down to 95 % of the limit.
    pub fn trim(&mut self) -> Vec<i64> {
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
