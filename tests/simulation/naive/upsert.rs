//! Utterances that replace a stored one with their id.

use utterd::domain::{Draft, Role};

use super::{Conversation, Home, Reason, Said, editing::is_same, memorize::cost};

impl Conversation {
    /// What a batch replaces: for each of its utterances, the stored one with its id.
    pub fn known(&self, utterances: &[Draft]) -> Vec<Option<u64>> {
        let known = |said: &Draft| said.id.as_deref().and_then(|id| self.by_id(id).ok());
        utterances.iter().map(known).collect()
    }

    /// Replaces a stored utterance with another one. It keeps place, turn and time; the
    /// members of its unit are paired as if nothing else had been said.
    pub fn say_instead(&mut self, what: &Draft, of: u64, lenient: bool) -> Result<(), Reason> {
        let was = self.get(of).clone();
        if was.forgotten {
            return Err("INVALID_FIELD");
        }
        let members = self.whole_units(&[of], Said::is_stored);
        let is_pinned = was.pinned || what.pinned;
        members.iter().for_each(|member| self.get_mut(*member).pinned = is_pinned);
        let Draft { id, turn, create_time, pinned, .. } = was.what.clone();
        let what = Draft { id, turn, create_time, pinned, ..what.clone() };
        if is_same(&what, &was.what) {
            return Ok(());
        }
        let answers_as_before = what.role == Role::Tool && what.tool_call_id() == was.what.tool_call_id();
        let (tokens, is_system) = (cost(&what), what.role == Role::System);
        let said = self.get_mut(of);
        said.late = was.late.filter(|_| answers_as_before);
        said.instruction &= is_system;
        (said.what, said.tokens, said.original) = (what, tokens, None);
        if was.instruction && !is_system {
            self.said[of as usize..].iter_mut().for_each(|behind| behind.instruction = false);
        }
        self.begin_instructions();
        self.abandoned.extend(members.first().map(|first| *first as usize - 1).filter(|before| *before > 0));
        self.abandoned.extend(members.last().map(|last| *last as usize));
        self.answer_in_time(&members);
        self.settle_end();
        self.check_form(of, lenient)?;
        self.check_size(of)
    }

    /// System utterances at the head of the window, before which nothing else was said, are instructions.
    pub fn begin_instructions(&mut self) {
        let is_system = |said: &&mut Said| said.home == Home::Window && said.role() == Role::System;
        let marked = self.said.iter_mut().take_while(is_system).map(|said| said.instruction = true).count();
        self.only_instructions |= marked == self.said.len();
    }
}
