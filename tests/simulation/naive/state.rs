//! Named values, stored with a conversation.

use std::collections::BTreeSet;

use utterd::domain::state::StateChange;

use super::{Conversation, Reason};

impl Conversation {
    /// The version of a value is the revision after the call.
    pub fn change_state(&mut self, change: &StateChange) -> Result<(), Reason> {
        let names = change.set.iter().map(|(name, _)| name).chain(&change.delete);
        let named: BTreeSet<_> = names.clone().collect();
        if named.is_empty() || named.len() < names.count() {
            return Err("INVALID_FIELD");
        }
        if change.versions.iter().any(|(name, expected)| self.version(name) != expected.get()) {
            return Err("STALE_STATE");
        }
        let version = self.revision + 1;
        for (name, value) in &change.set {
            self.state.insert(name.to_string(), (version, value.clone()));
        }
        for name in &change.delete {
            self.state.remove(&**name);
        }
        Ok(())
    }

    /// The version of a name; 0 if it has no value.
    pub fn version(&self, name: &str) -> u64 {
        self.state.get(name).map_or(0, |(version, _)| *version)
    }
}
