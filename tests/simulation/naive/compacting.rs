//! Compactions: what they remove from the window, and what an undo brings back.

use std::collections::BTreeSet;

use utterd::domain::compaction::Extent;

use super::{Conversation, Facts, Home, Reason};

/// This many compactions, the last ones, can be undone.
const UNDO: usize = 10;
/// What a conversation has at least, so that it can be compacted.
const LEAST: usize = 30;

/// A compaction.
#[derive(Clone, Debug, PartialEq)]
pub struct Compacted {
    pub number: u32,
    /// What left, except what was erased since.
    pub compacted: Vec<u64>,
    pub is_undone: bool,
    pub is_undoable: bool,
}

impl Conversation {
    /// The oldest units that can leave do so: until this many utterances have left, or all but those with one of
    /// the newest.
    pub fn compact(&mut self, extent: Extent, summarises: bool) -> Result<Facts, Reason> {
        self.check_open()?;
        if summarises && !self.policy.summarizes {
            return Err("SUMMARIES_DISABLED");
        }
        let mut leaving = match extent {
            Extent::Oldest(count) => self.oldest(count as usize)?,
            Extent::AllBut(keep) => self.all_but(keep as usize)?,
        };
        if leaving.is_empty() {
            return Ok(Facts::default());
        }
        leaving.sort_unstable();
        let mut facts = Facts { changed: true, ..Facts::default() };
        for one in &leaving {
            self.get_mut(*one).home = Home::Archive;
            self.covered.extend(summarises.then_some(*one));
        }
        facts.evicted.clone_from(&leaving);
        self.note_compaction(&leaving, &mut facts);
        facts.dropped.extend(self.trim());
        Ok(facts)
    }

    fn oldest(&self, count: usize) -> Result<Vec<u64>, Reason> {
        let (mut leaving, mut rest) = (Vec::new(), self.clone());
        while leaving.len() < count {
            let unit = rest.oldest_that_may_leave().ok_or("NOTHING_TO_COMPACT")?;
            unit.iter().for_each(|one| rest.get_mut(*one).home = Home::Archive);
            leaving.extend(unit);
        }
        Ok(leaving)
    }

    fn all_but(&self, keep: usize) -> Result<Vec<u64>, Reason> {
        if self.uncompacted() < LEAST {
            return Err("TOO_SHORT_TO_COMPACT");
        }
        let (window, pairing) = (self.window(), self.pairing());
        let unit = |one: &u64| pairing.units[*one as usize - 1];
        let (old, kept) = window.split_at(window.len().saturating_sub(keep));
        let held = old.iter().filter(|one| self.get(**one).pinned || self.is_instruction(**one));
        let open = pairing.open.iter().map(|(_, caller)| caller);
        let staying: BTreeSet<u64> = kept.iter().chain(held).chain(open).map(unit).collect();
        Ok(old.iter().copied().filter(|one| !staying.contains(&unit(one))).collect())
    }

    /// What is stored, less what listed compactions took and did not give back.
    pub fn uncompacted(&self) -> usize {
        let listed = &self.compactions[self.compactions.len().saturating_sub(UNDO)..];
        let taken = |one: &u64| listed.iter().any(|made| !made.is_undone && made.compacted.contains(one));
        self.window().len() + self.archive().iter().filter(|one| !taken(one)).count()
    }

    /// Whether something has left the window and not come back.
    pub fn is_compacted(&self) -> bool {
        self.said.iter().any(|said| matches!(said.home, Home::Archive | Home::Dropped))
    }

    /// What the last compaction removed from the window is back, and in no summary.
    pub fn undo(&mut self) -> Result<Facts, Reason> {
        self.check_open()?;
        let last = self.compactions.iter_mut().rfind(|one| !one.is_undone);
        let last = last.filter(|last| last.is_undoable).ok_or("NOTHING_TO_UNDO")?;
        let (number, returned) = (last.number, last.compacted.clone());
        if returned.iter().any(|one| self.get(*one).home != Home::Archive) {
            return Err("SOURCES_GONE");
        }
        for one in self.compactions.iter_mut().filter(|one| one.number == number) {
            (one.is_undone, one.is_undoable) = (true, false);
        }
        for one in &returned {
            self.get_mut(*one).home = Home::Window;
            self.covered.remove(one);
        }
        self.begin_instructions();
        (self.compacted_at, self.unsettled) = (Some(self.said.len()), true);
        Ok(Facts { changed: true, returned, compaction: Some(number), ..Facts::default() })
    }

    /// Records that `leaving` left by compaction.
    pub fn note_compaction(&mut self, leaving: &[u64], facts: &mut Facts) {
        let number = self.compactions.len() as u32 + 1;
        let (compacted, is_undone, is_undoable) = (leaving.to_vec(), false, true);
        self.compactions.push(Compacted { number, compacted, is_undone, is_undoable });
        let undoable = self.compactions.iter_mut().filter(|one| one.is_undoable);
        undoable.rev().skip(UNDO).for_each(|one| one.is_undoable = false);
        self.compacted_at = Some(self.said.len());
        facts.compaction = Some(number);
    }

    /// Ensures that no compaction brings `gone` back.
    pub fn uncompact(&mut self, gone: &[u64]) {
        self.compactions.iter_mut().for_each(|one| one.compacted.retain(|member| !gone.contains(member)));
    }
}
