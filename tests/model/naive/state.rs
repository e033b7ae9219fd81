//! Named values, stored with a conversation.

use std::collections::BTreeSet;

use utterd::proto::{StateChange, StateValue, UpdateStateRequest};

use super::{Conversation, Facts, Reason};

impl Conversation {
    pub fn keep(&mut self, request: &UpdateStateRequest) -> Result<Facts, Reason> {
        let change = request.change.clone().unwrap_or_default();
        self.change_state(&change)?;
        Ok(Facts { changed: true, kept: change.set.len(), ..Facts::default() })
    }

    /// The version of a value is the revision after the call.
    pub fn change_state(&mut self, change: &StateChange) -> Result<(), Reason> {
        let names = change.set.iter().map(|value| &value.name).chain(&change.delete);
        let named: BTreeSet<_> = names.clone().collect();
        if named.is_empty() || named.len() < names.count() {
            return Err("INVALID_FIELD");
        }
        if change.expected_versions.iter().any(|(name, expected)| self.version(name) != *expected) {
            return Err("STALE_STATE");
        }
        let version = self.revision + 1;
        for value in &change.set {
            self.state.insert(value.name.clone(), StateValue { version, ..value.clone() });
        }
        for name in &change.delete {
            self.state.remove(name);
        }
        Ok(())
    }

    /// The version of a name; 0 if it has no value.
    pub fn version(&self, name: &str) -> i64 {
        self.state.get(name).map_or(0, |value| value.version)
    }

    /// The values with these names, or all if none is given.
    pub fn values(&self, names: &[String]) -> Vec<StateValue> {
        let wanted = |value: &&StateValue| names.is_empty() || names.contains(&value.name);
        self.state.values().filter(wanted).cloned().collect()
    }
}
