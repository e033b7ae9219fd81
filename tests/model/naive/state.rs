//! Values by name, kept beside what is said.

use std::collections::BTreeSet;

use utterd::proto::{StateChange, StateValue, UpdateStateRequest};

use super::{Conversation, Facts, Reason};

impl Conversation {
    pub fn keep(&mut self, request: &UpdateStateRequest) -> Result<Facts, Reason> {
        let UpdateStateRequest { set, delete, expected_versions, .. } = request.clone();
        self.change_state(&StateChange { set, delete, expected_versions })?;
        Ok(Facts { changed: true, kept: request.set.len(), ..Facts::default() })
    }

    /// A version is the revision that the call comes to.
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

    /// That of a name; 0 where there is none.
    pub fn version(&self, name: &str) -> i64 {
        self.state.get(name).map_or(0, |value| value.version)
    }

    /// The values of these names, or all where none is named.
    pub fn values(&self, names: &[String]) -> Vec<StateValue> {
        let wanted = |value: &&StateValue| names.is_empty() || names.contains(&value.name);
        self.state.values().filter(wanted).cloned().collect()
    }
}
