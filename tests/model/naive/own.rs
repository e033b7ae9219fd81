//! Named values that a recipient keeps, whatever becomes of its conversations.

use super::{Call, Conversation, Expected, Reason, World, world::or_default};

impl World {
    /// A recipient's own state, of which only the revision and the values matter.
    pub fn own(&self, recipient: &str) -> Conversation {
        let recipient = or_default(recipient);
        let blank = || Conversation::new(0, "", recipient, self.default_policy.clone(), 0);
        self.own.get(recipient).cloned().unwrap_or_else(blank)
    }

    /// The recipients that have one.
    pub fn owners(&self) -> Vec<String> {
        self.own.keys().cloned().collect()
    }

    /// Changes only the recipient's own state.
    pub(super) fn keep_own(&mut self, call: &Call, now: i64) -> Result<Expected, Reason> {
        let Call::Keep(request) = call else { return Err("INVALID_FIELD") };
        let mut own = self.own(&request.recipient_id);
        own.expect(request.expected_revision)?;
        let mut facts = own.keep(request)?;
        own.revision += 1;
        facts.revision = own.revision;
        self.own.insert(own.recipient.clone(), own);
        self.note(call, "none", &facts, now);
        Ok(Expected::Now(Box::new(facts)))
    }

    /// Changes it together with what is said; returns its new revision.
    pub(super) fn own_with(&mut self, recipient: &str, call: &Call) -> Result<Option<i64>, Reason> {
        let Call::Memorize(request, _) = call else { return Ok(None) };
        let Some(change) = &request.recipient_state else { return Ok(None) };
        let mut own = self.own(recipient);
        own.change_state(change)?;
        own.revision += 1;
        let revision = own.revision;
        self.own.insert(own.recipient.clone(), own);
        Ok(Some(revision))
    }
}
