//! A second conversation with what was said in the first one, and what is removed from both.

use std::collections::BTreeSet;

use super::{Conversation, Facts, Home, Reason, policy::Marks};

impl Conversation {
    /// The fork at a point, or at the newest utterance.
    pub fn forked(&self, birth: usize, id: &str, at: Option<i64>, now: i64) -> Result<Self, Reason> {
        let newest = self.said.len() as i64;
        let at = at.unwrap_or(newest);
        if at < 1 || at > newest {
            return Err("INVALID_FIELD");
        }
        let units = self.pairing().units;
        let next = (at + 1..=newest).find(|next| self.get(*next).is_stored());
        if next.is_some_and(|next| units[next as usize - 1] <= at) {
            return Err("CUTS_EXCHANGE");
        }
        let mut fork = self.clone();
        fork.said.truncate(at as usize);
        (fork.birth, fork.id, fork.revision) = (birth, id.to_owned(), 1);
        (fork.start, fork.update, fork.said_at) = (now, now, now);
        fork.forked_from = Some((self.birth, self.id.clone(), at));
        fork.state.values_mut().for_each(|value| value.version = 1);
        (fork.compactions, fork.unsettled) = (Vec::new(), true);
        fork.compacted_at = self.compacted_at.map(|compacted| compacted.min(at as usize));
        let left = self.sequences(|said| matches!(said.home, Home::Archive | Home::Dropped));
        let last = fork.window().last().copied();
        if left.last().copied() > last && !left.is_empty() {
            fork.revive();
        }
        let stays = |one: &i64| *one <= at && fork.get(*one).home != Home::Window;
        fork.covered = self.covered.iter().copied().filter(stays).collect();
        if at < newest || self.ended.is_some() {
            fork.go_on(at, at < newest);
        }
        fork.ended = None;
        Ok(fork)
    }

    /// The newest units of the archive return to the window, as far as each measure stays under its keep
    /// mark; the newest unit in any case, unless the window holds something newer.
    fn revive(&mut self) {
        let (units, archive) = (self.pairing().units, self.archive());
        let unit = |one: i64| units[one as usize - 1];
        let mut runs: Vec<&[i64]> = archive.chunk_by(|one, next| unit(*one) == unit(*next)).collect();
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
    fn go_on(&mut self, at: i64, is_cut: bool) {
        let last = self.window().last().copied();
        if is_cut {
            self.turn = last.map_or(0, |last| self.get(last).turn);
            self.only_instructions = last == Some(at) && self.is_instruction(at);
        }
        let at_its_end = last.filter(|last| *last == at);
        self.abandoned.retain(|abandoned| (*abandoned as i64) < at);
        let unit = self.pairing().units[at as usize - 1];
        let members: BTreeSet<i64> =
            self.window().into_iter().filter(|one| self.pairing().units[*one as usize - 1] == unit).collect();
        let is_forgotten = members.iter().any(|member| self.get(*member).forgotten);
        if at_its_end.is_none() || is_forgotten {
            self.abandoned.insert(at as usize);
        }
        self.awaits = at_its_end.filter(|at| {
            let said = self.get(*at);
            said.what.awaits_answer && !said.forgotten
        });
    }

    /// Loses what another conversation that shares it has erased; `None` if it has nothing of it.
    pub fn lose(&mut self, shared: &[i64], exact: bool) -> Option<Facts> {
        let (stored, rest): (Vec<i64>, Vec<i64>) = shared.iter().partition(|one| self.get(**one).is_stored());
        let told: Vec<i64> = rest.into_iter().filter(|one| self.covered.contains(one)).collect();
        if stored.is_empty() && told.is_empty() {
            return None;
        }
        let mut facts = Facts { changed: true, ..Facts::default() };
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
