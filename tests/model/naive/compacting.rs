//! Compactions: what they remove from the window, and what an undo brings back.

use utterd::proto::CompactConversationRequest;

use super::{Conversation, Facts, Home, Reason};

/// This many compactions, the last ones, can be undone.
const UNDO: usize = 10;

/// A compaction.
#[derive(Clone, Debug, PartialEq)]
pub struct Compacted {
    pub number: i32,
    /// What left, except what was erased since.
    pub compacted: Vec<i64>,
    pub is_undone: bool,
    pub is_undoable: bool,
}

impl Conversation {
    /// The oldest units that can leave do so, until this many utterances have left.
    pub fn compact(&mut self, request: &CompactConversationRequest) -> Result<Facts, Reason> {
        self.check_open()?;
        if !request.no_summary && !self.policy.summarizes {
            return Err("SUMMARIES_DISABLED");
        }
        let mut leaving = Vec::new();
        while leaving.len() < request.count.unwrap_or(0) as usize {
            let mut rest = self.clone();
            leaving.iter().for_each(|one| rest.get_mut(*one).home = Home::Archive);
            leaving.extend(rest.oldest_that_may_leave().ok_or("NOTHING_TO_COMPACT")?);
        }
        leaving.sort_unstable();
        let mut facts = Facts { changed: true, ..Facts::default() };
        for one in &leaving {
            self.get_mut(*one).home = Home::Archive;
            self.covered.extend((!request.no_summary).then_some(*one));
        }
        facts.evicted.clone_from(&leaving);
        self.note_compaction(&leaving, &mut facts);
        facts.dropped.extend(self.trim());
        Ok(facts)
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
        (self.compacted_at, self.unsettled) = (Some(self.said.len()), true);
        Ok(Facts { changed: true, returned, compaction: Some(number), ..Facts::default() })
    }

    /// Records that `leaving` left by compaction.
    pub fn note_compaction(&mut self, leaving: &[i64], facts: &mut Facts) {
        let number = self.compactions.len() as i32 + 1;
        let (compacted, is_undone, is_undoable) = (leaving.to_vec(), false, true);
        self.compactions.push(Compacted { number, compacted, is_undone, is_undoable });
        let undoable = self.compactions.iter_mut().filter(|one| one.is_undoable);
        undoable.rev().skip(UNDO).for_each(|one| one.is_undoable = false);
        self.compacted_at = Some(self.said.len());
        facts.compaction = Some(number);
    }

    /// Ensures that no compaction brings `gone` back.
    pub fn uncompact(&mut self, gone: &[i64]) {
        self.compactions.iter_mut().for_each(|one| one.compacted.retain(|member| !gone.contains(member)));
    }
}
