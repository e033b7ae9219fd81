//! A second conversation with what was said in the first one, and what is removed from both.

use std::collections::BTreeSet;

use super::{Conversation, Facts, Home, Reason, conversation::Origin, policy::Marks};

impl Conversation {
    /// The fork at a point, or at the newest utterance.
    pub fn forked(&self, birth: usize, id: &str, at: Option<u64>, now: i64) -> Result<Self, Reason> {
        let newest = self.said.len() as u64;
        let at = at.unwrap_or(newest);
        if at < 1 || at > newest {
            return Err("INVALID_FIELD");
        }
        let units = self.pairing().units;
        let next = (at + 1..=newest).find(|next| self.get(*next).is_stored());
        if next.is_some_and(|next| units[next as usize - 1] <= at) {
            return Err("CUTS_EXCHANGE");
        }
        Ok(self.forked_at(birth, id, at, now))
    }

    /// The fork at a point between units.
    pub fn forked_at(&self, birth: usize, id: &str, at: u64, now: i64) -> Self {
        let newest = self.said.len() as u64;
        let mut fork = self.clone();
        fork.said.truncate(at as usize);
        (fork.birth, fork.id, fork.revision) = (birth, id.to_owned(), 1);
        (fork.start, fork.update, fork.said_at) = (now, now, now);
        fork.forked_from = Some((self.id.clone(), at));
        fork.state.values_mut().for_each(|(version, _)| *version = 1);
        (fork.compactions, fork.unsettled) = (Vec::new(), true);
        fork.compacted_at = self.compacted_at.map(|compacted| compacted.min(at as usize));
        let left = self.sequences(|said| matches!(said.home, Home::Archive | Home::Dropped));
        let last = fork.window().last().copied();
        if left.last().copied() > last && !left.is_empty() {
            fork.revive();
        }
        let stays = |one: &u64| *one <= at && fork.get(*one).home != Home::Window;
        fork.covered = self.covered.iter().copied().filter(stays).collect();
        if at < newest || self.ended.is_some() {
            fork.go_on(at, at < newest);
        }
        fork.begin_instructions();
        fork.ended = None;
        fork
    }

    /// The newest units of the archive return to the window, as far as each measure stays under its keep
    /// mark; the newest unit in any case, unless the window holds something newer.
    fn revive(&mut self) {
        let (units, archive) = (self.pairing().units, self.archive());
        let unit = |one: u64| units[one as usize - 1];
        let mut runs: Vec<&[u64]> = archive.chunk_by(|one, next| unit(*one) == unit(*next)).collect();
        while let Some(run) = runs.pop() {
            let is_newest = self.window().last() < run.last();
            run.iter().for_each(|one| self.get_mut(*one).home = Home::Window);
            if !is_newest && self.is_above(Marks::keep) {
                run.iter().for_each(|one| self.get_mut(*one).home = Home::Archive);
                return;
            }
        }
    }

    /// Continues from `at`: what was said after it `is_cut`, or the conversation had ended.
    fn go_on(&mut self, at: u64, is_cut: bool) {
        let last = self.window().last().copied();
        if is_cut {
            self.turn = last.map_or(0, |last| self.get(last).turn);
            let is_instruction = |last: u64| last == at && self.is_instruction(at);
            self.only_instructions = last.map_or(at == 0, is_instruction);
        }
        let at_its_end = last.filter(|last| *last == at);
        self.abandoned.retain(|abandoned| (*abandoned as u64) < at);
        let units = self.pairing().units;
        let unit = at.checked_sub(1).map(|before| units[before as usize]);
        let members: BTreeSet<u64> =
            self.window().into_iter().filter(|one| Some(units[*one as usize - 1]) == unit).collect();
        let is_forgotten = members.iter().any(|member| self.get(*member).forgotten);
        if at > 0 && (at_its_end.is_none() || is_forgotten) {
            self.abandoned.insert(at as usize);
        }
        self.awaits = at_its_end.filter(|at| self.get(*at).awaits_answer());
    }

    /// Loses what another conversation that shares it, or has it said again, has erased; `None` if it has nothing
    /// of it. Other words that were said instead stay, if they stand alone.
    pub fn lose(&mut self, gone: &BTreeSet<Origin>, exact: bool) -> Option<Facts> {
        let had = self.sequences(|said| said.origins().any(|origin| gone.contains(&origin)));
        let (mut stored, rest): (Vec<u64>, Vec<u64>) =
            had.iter().partition(|one| self.get(**one).is_stored());
        let is_copy = |one: &u64| !gone.contains(&self.get(*one).place);
        let copies: Vec<u64> = stored.iter().copied().filter(is_copy).collect();
        let is_alone = |one: &u64| {
            let unit = self.whole_units(&[*one], super::Said::is_stored);
            let mut of = self.get(*one).copies.iter().filter(|(of, _)| gone.contains(of));
            of.all(|(_, reworded)| *reworded)
                && unit.len() == 1
                && self.get(*one).what.tool_calls().is_empty()
        };
        let (alone, copies): (Vec<u64>, Vec<u64>) = copies.into_iter().partition(is_alone);
        if !exact {
            stored.extend(self.whole_units(&copies, super::Said::is_stored));
        }
        stored.retain(|one| !alone.contains(one));
        stored.sort_unstable();
        stored.dedup();
        let told: Vec<u64> = rest.into_iter().filter(|one| self.covered.contains(one)).collect();
        let bared: Vec<u64> = alone.iter().copied().filter(|one| self.bare(*one)).collect();
        if stored.is_empty() && told.is_empty() && bared.is_empty() {
            return None;
        }
        let mut facts = Facts { changed: true, id: self.id.clone(), updated: bared, ..Facts::default() };
        let whole = self.whole_units(&stored, super::Said::is_stored);
        // of an exchange that was open in both, what was said only here stays
        if exact && !stored.is_empty() || whole.len() > stored.len() {
            self.erase_exactly(&stored, &mut facts);
        } else {
            self.erase(&stored);
        }
        for one in told {
            self.covered.remove(&one);
            self.get_mut(one).late = None;
            self.uncompact(&[one]);
        }
        facts.erased = stored;
        Some(facts)
    }
}
