//! Utterances that replace a stored one with their id.

use prost::Message;
use utterd::proto::{NewUtterance, Role};

use super::{Conversation, Facts, Reason, Said, memorize::cost};
use crate::text::markers;

impl Conversation {
    /// What a batch replaces: for each of its utterances, the stored one with its id.
    pub fn known(&self, utterances: &[NewUtterance]) -> Vec<Option<i64>> {
        let given = |said: &&NewUtterance| !said.utterance_id.is_empty();
        let known = |said: &NewUtterance| {
            Some(said).filter(given).and_then(|said| self.by_id(&said.utterance_id).ok())
        };
        utterances.iter().map(known).collect()
    }

    /// Replaces a stored utterance with the one at `index` of a batch. It keeps place, turn and time; the
    /// members of its unit are paired as if nothing else had been said.
    pub fn say_instead(
        &mut self,
        (index, what): (usize, &NewUtterance),
        came: Option<String>,
        of: i64,
        lenient: bool,
        facts: &mut Facts,
    ) -> Result<(), Reason> {
        facts.instead.push(index);
        let was = self.get(of).clone();
        if was.forgotten {
            return Err("INVALID_FIELD");
        }
        let members = self.whole_units(&[of], Said::is_stored);
        let is_pinned = was.pinned || what.pinned;
        members.iter().for_each(|member| self.get_mut(*member).pinned = is_pinned);
        let NewUtterance { utterance_id, turn_number, create_time, pinned, .. } = was.what.clone();
        let what = NewUtterance { utterance_id, turn_number, create_time, pinned, ..what.clone() };
        if what == was.what && came == was.came {
            return Ok(());
        }
        let answers_as_before = what.role() == Role::Tool && what.tool_call_id == was.what.tool_call_id;
        let (tokens, is_system) = (cost(self.encoding, &what), what.role() == Role::System);
        let said = self.get_mut(of);
        said.markers = markers(&what.encode_to_vec());
        said.late = was.late.filter(|_| answers_as_before);
        said.instruction &= is_system;
        (said.what, said.came, said.tokens) = (what, came, tokens);
        if was.instruction && !is_system {
            self.said[of as usize..].iter_mut().for_each(|behind| behind.instruction = false);
        }
        self.abandoned.extend(members.first().map(|first| *first as usize - 1).filter(|before| *before > 0));
        self.abandoned.extend(members.last().map(|last| *last as usize));
        self.answer_in_time(&members);
        self.settle_end();
        self.check_form(index, of, lenient, facts)?;
        self.check_size(of)
    }
}
