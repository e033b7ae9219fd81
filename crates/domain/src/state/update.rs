//! Setting and deleting values.

use std::{collections::BTreeSet, sync::Arc};

use crate::{
    Conversation, Head, Need, Refusal, Result, Revision, Transition,
    change::Context,
    limits::{MAX_ID_BYTES, MAX_STATE_BYTES, MAX_STATE_NAMES},
    state::{StaleName, StateContent, StateEntry, StateValue},
};

/// Changes to a conversation's state. Names that it does not list stay as they are.
#[derive(Clone, Debug, Default)]
pub struct StateChange {
    /// Values to set.
    pub set: Vec<(Box<str>, StateContent)>,
    /// Names to delete; a name without a value is ignored.
    pub delete: Vec<Box<str>>,
    /// The versions that the caller expects of names; [`Revision::NONE`] for a name without a value.
    pub versions: Vec<(Box<str>, Revision)>,
}

/// A change of the state alone.
#[derive(Clone, Debug, Default)]
pub struct UpdateState {
    /// The change.
    pub change: StateChange,
    /// The revision the caller expects.
    pub expected: Option<Revision>,
}

/// Sets and deletes values.
///
/// Refuses a change without names, an invalid name or one that is given twice, more names or bytes than a
/// conversation may have, names whose versions are not the expected ones, and a revision that is not the
/// expected one.
pub fn update_state(
    before: &Conversation,
    command: &UpdateState,
    context: &Context<'_>,
) -> Result<Transition> {
    before.expect(command.expected)?;
    let mut transition = Transition::from(before, context.now);
    transition.change_state(&command.change)?;
    Ok(transition.finish(&before.summary))
}

impl StateChange {
    /// Checks what can be checked without a conversation.
    fn check(&self) -> Result<()> {
        let mut changed = BTreeSet::new();
        let set = self.set.iter().map(|(name, _)| ("set", name));
        for (field, name) in set.chain(self.delete.iter().map(|name| ("delete", name))) {
            check_name(field, name)?;
            if !changed.insert(name) {
                return Err(Refusal::invalid(
                    field,
                    format!("names {name:?} twice; accepted: each name once"),
                ));
            }
        }
        match changed.is_empty() {
            true => Err(Refusal::invalid("set", "is empty, and so is delete; accepted: at least one name")),
            false => self.versions.iter().try_for_each(|(name, _)| check_name("expected_versions", name)),
        }
    }
}

fn check_name(field: &str, name: &str) -> Result<()> {
    if name.is_empty() || name.len() > MAX_ID_BYTES || name.chars().any(char::is_control) {
        let text = format!(
            "has a name of {} bytes; accepted: 1 to {MAX_ID_BYTES} bytes without control characters",
            name.len()
        );
        return Err(Refusal::invalid(field, text));
    }
    Ok(())
}

impl Head {
    /// The bytes of the conversation's state: names and values.
    pub fn state_bytes(&self) -> u64 {
        self.state.iter().map(|entry| entry.name.len() as u64 + u64::from(entry.bytes)).sum()
    }

    fn stale(&self, (name, expected): &(Box<str>, Revision)) -> Option<StaleName> {
        let found = self.state.iter().find(|entry| entry.name == *name);
        let actual = found.map_or(Revision::NONE, |entry| entry.version);
        (actual != *expected).then(|| StaleName { name: name.clone(), expected: *expected, actual })
    }

    fn check_state(&self) -> Result<()> {
        let (names, bytes) = (self.state.len(), self.state_bytes());
        if names > MAX_STATE_NAMES {
            let text = format!("the state would have {names} names; accepted: at most {MAX_STATE_NAMES}");
            return Err(Refusal::invalid("set", text));
        }
        if bytes > MAX_STATE_BYTES {
            let text = format!("the state would have {bytes} bytes; accepted: at most {MAX_STATE_BYTES}");
            return Err(Refusal::invalid("set", text));
        }
        Ok(())
    }
}

impl Transition {
    /// Sets and deletes values, or refuses to.
    pub(crate) fn change_state(&mut self, wanted: &StateChange) -> Result<()> {
        wanted.check()?;
        let head = &self.after.head;
        let names: Vec<_> = wanted.versions.iter().filter_map(|named| head.stale(named)).collect();
        if !names.is_empty() {
            return Err(Refusal::StaleState { within: "", names });
        }
        let version = self.after.head.revision;
        let value = |(name, content): &(Box<str>, StateContent)| {
            Arc::new(StateValue { name: name.clone(), version, content: content.clone() })
        };
        self.change.state_set = wanted.set.iter().map(value).collect();
        let had = |name: &str| self.after.head.state.iter().any(|entry| &*entry.name == name);
        self.change.state_deleted = wanted.delete.iter().filter(|name| had(name)).cloned().collect();
        self.after.head.state = self.change.state_of(&self.after.head.state);
        self.after.head.check_state()
    }

    /// Takes over the current state of the parent.
    pub(crate) fn inherit_state(&mut self, parent: &Head, context: &Context<'_>) -> Result<(), Need> {
        let version = self.after.head.revision;
        let values = context.loaded.state(&parent.state)?;
        self.change.state_set =
            values.into_iter().map(|value| Arc::new(StateValue { version, ..(*value).clone() })).collect();
        self.after.head.state = self.change.state_of(&[]);
        Ok(())
    }
}

impl crate::Change {
    /// The entries of a head after the change; `before` are those before it.
    fn state_of(&self, before: &[StateEntry]) -> Arc<[StateEntry]> {
        let replaced = |entry: &&StateEntry| {
            self.state_deleted.contains(&entry.name)
                || self.state_set.iter().any(|value| value.name == entry.name)
        };
        let mut entries: Vec<_> = before.iter().filter(|entry| !replaced(entry)).cloned().collect();
        entries.extend(self.state_set.iter().map(|value| value.entry()));
        entries.sort_by(|one, other| one.name.cmp(&other.name));
        entries.into()
    }
}
