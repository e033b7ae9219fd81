//! Changes of single utterances.

use utterd::domain::{Draft, More};

use super::{Conversation, Facts, Reason, Said, command::Edit, memorize::cost};

impl Conversation {
    /// A pin applies to the unit; metadata and content to the utterance, whose first content is kept.
    pub fn edit(&mut self, edit: &Edit) -> Result<Facts, Reason> {
        let target = self.by_id(&edit.id)?;
        let before = self.clone();
        for member in self.whole_units(&[target], Said::is_stored) {
            let said = self.get_mut(member);
            said.pinned = edit.pinned.unwrap_or(said.pinned);
            if member == target {
                said.edit(edit);
            }
        }
        let says_other = before.get(target).what.content != self.get(target).what.content;
        let updated =
            self.sequences(|_| true).into_iter().filter(|one| before.get(*one).differs(self.get(*one)));
        let updated: Vec<u64> = updated.collect();
        let mut facts =
            Facts { changed: !updated.is_empty(), updated, target: Some(target), ..Facts::default() };
        if says_other {
            self.check_size(target)?;
        }
        if facts.changed {
            self.settle(&mut facts);
        }
        Ok(facts)
    }

    /// The fork from before the unit of an utterance, which goes on with the unit up to the utterance as it is
    /// changed. The repeated utterances keep their turns, ids and origins.
    pub fn edited_as_fork(
        &self,
        birth: usize,
        id: &str,
        edit: &Edit,
        now: i64,
    ) -> Result<(Self, Facts), Reason> {
        let target = self.by_id(&edit.id)?;
        if self.get(target).forgotten {
            return Err("INVALID_FIELD");
        }
        let unit = self.pairing().units[target as usize - 1];
        let mut said = Vec::new();
        for one in self.whole_units(&[target], Said::is_stored).into_iter().filter(|one| *one <= target) {
            let mut again = self.get(one).clone();
            again.pinned = edit.pinned.unwrap_or(again.pinned);
            if one == target {
                again.edit(edit);
            }
            let says_other = again.what.content != self.get(one).what.content;
            again.copies =
                again.to_copy().into_iter().map(|(of, reworded)| (of, reworded || says_other)).collect();
            said.push((again, if one == target { now } else { self.get(one).time }));
        }
        let mut fork = self.forked_at(birth, id, unit - 1, now);
        let before = fork.said.clone();
        let mut facts = Facts { changed: true, started: true, ..Facts::default() };
        for (said, time) in said {
            fork.repeat(&said, time);
            facts.memorized.push(fork.said.len() as u64);
        }
        facts.target = facts.memorized.last().copied();
        // an exchange that is open there may be pinned by what joins it
        let both = (1..).zip(before.iter().zip(&fork.said));
        facts.updated = both.filter(|(_, (was, is))| was.differs(is)).map(|(one, _)| one).collect();
        fork.settle(&mut facts);
        Ok((fork, facts))
    }

    /// Says again what another conversation said.
    fn repeat(&mut self, said: &Said, time: i64) {
        self.say(&said.what, said.turn, time);
        let newest = self.said.len() as u64;
        let own = self.get_mut(newest);
        (own.time, own.pinned, own.id) =
            (time, said.pinned, said.what.id.as_deref().unwrap_or_default().into());
        own.copies.clone_from(&said.copies);
        self.pin_whole(newest);
        self.awaits = self.get(newest).awaits_answer().then_some(newest);
    }

    /// Loses a copy of what was erased elsewhere, but for the other words that were put in its place; returns
    /// whether it had more than these.
    pub fn bare(&mut self, sequence: u64) -> bool {
        let said = self.get_mut(sequence);
        let before = said.what.clone();
        if let Some(more) = said.what.more.take() {
            let (tool_call_id, awaits_answer) = (more.tool_call_id, more.awaits_answer);
            said.what.more = Some(Box::new(More { tool_call_id, awaits_answer, ..More::default() }));
        }
        said.tokens = cost(&said.what);
        !is_same(&before, &said.what)
    }
}

/// Whether two drafts say the same: the absence of further fields is as good as empty ones.
pub fn is_same(one: &Draft, other: &Draft) -> bool {
    let more = |draft: &Draft| draft.more.as_deref().cloned().unwrap_or_default();
    let bare = |draft: &Draft| Draft { more: None, ..draft.clone() };
    bare(one) == bare(other) && more(one) == more(other)
}

impl Said {
    fn edit(&mut self, edit: &Edit) {
        if let Some(metadata) = &edit.metadata {
            let mut more = self.what.more.take().unwrap_or_default();
            more.metadata.clone_from(metadata);
            self.what.more = Some(more);
        }
        if let Some(content) = edit.content.as_ref().filter(|content| **content != self.what.content) {
            let first = std::mem::replace(&mut self.what.content, content.clone());
            self.original.get_or_insert(first);
            self.tokens = cost(&self.what);
        }
    }

    pub fn differs(&self, other: &Self) -> bool {
        self.pinned != other.pinned || !is_same(&self.what, &other.what)
    }
}
