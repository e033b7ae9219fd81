//! Exact forgets: an exchange can lose a part.

use std::collections::BTreeSet;

use utterd::domain::Role;

use super::{Conversation, Facts, Home, Said};

impl Conversation {
    /// Removes exactly `gone`. The rest of an exchange is paired as if the removed part had never been said,
    /// and can leave the window; the conversation continues from what is then the newest.
    pub fn erase_exactly(&mut self, gone: &[u64], facts: &mut Facts) {
        let units = self.pairing().units;
        let touched: BTreeSet<u64> = gone.iter().map(|sequence| units[*sequence as usize - 1]).collect();
        let mut is_parted = false;
        for unit in touched {
            let members = self.sequences(|said| !said.passed).into_iter();
            let members: Vec<u64> =
                members.filter(|sequence| units[*sequence as usize - 1] == unit).collect();
            let (away, rest): (Vec<u64>, Vec<u64>) =
                members.iter().partition(|sequence| gone.contains(sequence));
            if !rest.iter().any(|sequence| self.get(*sequence).is_stored()) {
                continue;
            }
            is_parted = true;
            away.iter().for_each(|sequence| self.get_mut(*sequence).passed = true);
            self.abandoned.extend(members.last().map(|last| *last as usize));
            self.answer_in_time(&rest);
        }
        for sequence in gone {
            self.get_mut(*sequence).home = Home::Erased;
            self.covered.remove(sequence);
        }
        self.uncompact(gone);
        if is_parted {
            self.settle(facts);
        }
        self.settle_end();
    }

    /// Removes everything after `after`, and what the summary says of it.
    pub fn erase_behind(&mut self, after: u64, facts: &mut Facts) {
        let behind = self.sequences(Said::is_stored).into_iter().filter(|sequence| *sequence > after);
        facts.erased = behind.collect();
        facts.gone.clone_from(&facts.erased);
        let erased = facts.erased.clone();
        if !erased.is_empty() {
            self.erase_exactly(&erased, facts);
        }
        let told = self.covered.iter().copied();
        let told = told.filter(|sequence| *sequence > after && !self.get(*sequence).is_stored());
        for sequence in told.collect::<Vec<_>>() {
            self.covered.remove(&sequence);
            self.get_mut(sequence).late = None;
            self.uncompact(&[sequence]);
            facts.gone.push(sequence);
        }
    }

    /// Results are no longer late if they answer a call among `members`, taken by themselves.
    pub fn answer_in_time(&mut self, members: &[u64]) {
        let mut open: Vec<String> = Vec::new();
        for member in members {
            let said = self.get_mut(*member);
            let answered = open.iter().rposition(|call| call == said.answers());
            if let Some(answered) = answered.filter(|_| said.role() == Role::Tool) {
                said.late = None;
                open.remove(answered);
            }
            open.extend(said.what.tool_calls().iter().map(|call| call.id.to_string()));
        }
    }

    /// Whatever was said after the newest stored utterance was never said.
    pub fn settle_end(&mut self) {
        let newest = self.sequences(Said::is_stored).last().copied();
        let end = newest.unwrap_or(0) as usize;
        self.said[end..].iter_mut().for_each(|said| said.passed = true);
        let newest = newest.filter(|newest| self.get(*newest).home == Home::Window);
        self.turn = match newest {
            Some(newest) => self.get(newest).turn,
            None if self.archive().is_empty() => 0,
            None => self.turn,
        };
        self.only_instructions =
            !self.is_compacted() && self.window().iter().all(|sequence| self.is_instruction(*sequence));
        self.awaits = newest.filter(|newest| self.get(*newest).awaits_answer());
        self.abandoned.insert(self.said.len());
        if let Some(first) = newest.and_then(|newest| self.waits_again(newest)) {
            self.abandoned.retain(|at| (*at as u64) < first);
        }
    }

    /// The first utterance of the newest one's exchange, whose calls might be open again: none of it is
    /// forgotten, and no call since then was answered late.
    fn waits_again(&self, newest: u64) -> Option<u64> {
        let pairing = self.pairing();
        let first = pairing.units[newest as usize - 1];
        let is_forgotten =
            (first..=newest).any(|member| self.get(member).is_stored() && self.get(member).forgotten);
        let is_answered = |(id, caller): &(String, u64)| {
            let mut said = self.said.iter().filter(|said| said.home != Home::Erased);
            said.any(|said| said.late == Some(*caller) && said.answers() == *id)
        };
        let mut since = pairing.abandoned.iter().filter(|(_, caller)| *caller >= first);
        (self.ended.is_none() && !is_forgotten && !since.any(is_answered)).then_some(first)
    }
}
