//! Named values that a recipient keeps, whatever becomes of its conversations.

use utterd::domain::{self, state::UpdateState};

use super::{Conversation, Doing, Facts, Reason, World};

impl World {
    /// A recipient's own state, of which only the revision and the values matter.
    pub fn own(&self, recipient: &str) -> Conversation {
        let blank = || Conversation::new("", recipient, self.default_policy.clone(), 0);
        self.own.get(recipient).cloned().unwrap_or_else(blank)
    }

    /// Changes only the recipient's own state.
    pub(super) fn keep_own(&mut self, recipient: &str, update: &UpdateState) -> Result<Facts, Reason> {
        let revision = self.change_own(recipient, update)?;
        Ok(Facts { revision, changed: true, ..Facts::default() })
    }

    /// Changes it together with what is said.
    pub(super) fn own_with(&mut self, recipient: &str, doing: &Doing) -> Result<(), Reason> {
        let Doing::Memorize(super::Memorize { own: Some(update), .. }) = doing else { return Ok(()) };
        self.change_own(recipient, update).map(|_| ())
    }

    fn change_own(&mut self, recipient: &str, update: &UpdateState) -> Result<u64, Reason> {
        let mut own = self.own(recipient);
        own.expect(update.expected.map(|expected| expected.get()))?;
        own.change_state(&update.change)?;
        own.revision += 1;
        let revision = own.revision;
        self.own.insert(own.recipient.clone(), own);
        Ok(revision)
    }

    /// An error unless the state of a recipient is its own.
    pub(super) fn compare_own(&self, state: &domain::Conversation) -> Result<(), String> {
        let own = self.own(state.head.identity.recipient.as_str());
        let shown: Vec<_> =
            state.head.state.iter().map(|entry| (&*entry.name, entry.version.get())).collect();
        let kept: Vec<_> = own.state.iter().map(|(name, (version, _))| (&**name, *version)).collect();
        let is_same = state.head.revision.get() == own.revision && shown == kept;
        if is_same { Ok(()) } else { Err(format!("its own state is {shown:?}; must be {kept:?}")) }
    }
}
