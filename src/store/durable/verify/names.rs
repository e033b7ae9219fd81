//! All conversations of the store.

use rustc_hash::{FxHashMap, FxHashSet};

use super::survey::Survey;
use crate::{
    domain::{ConversationKey, Identity, LineageId, Timestamp},
    store::durable::records::{self, ConversationName},
};

/// All conversations, by name and by lineage.
#[derive(Default)]
pub(super) struct Names {
    conversations: Vec<Known>,
    by_key: FxHashMap<ConversationKey, usize>,
    by_lineage: FxHashMap<LineageId, usize>,
    /// Names whose records cannot be read.
    unreadable: FxHashSet<ConversationKey>,
    /// Whether all conversations could be read.
    pub(super) complete: bool,
}

/// The data collected about a conversation so far.
pub(super) struct Known {
    pub(super) identity: Identity,
    /// When the conversation expires.
    pub(super) expiry: Moment,
    /// Since when one of its segments, or its closing, has been waiting for a model.
    pub(super) waits: Moment,
    /// When the conversation ended.
    pub(super) ended: Moment,
    /// The time span of its last change.
    pub(super) updated: Moment,
    /// Whether its lineage was checked.
    pub(super) met: bool,
}

/// A time that an index holds for a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Moment {
    /// The record with the time cannot be read.
    Unknown,
    Never,
    At(Timestamp),
}

/// The result of looking up a name.
pub(super) enum Named<'n> {
    Nothing,
    Unreadable,
    Known(&'n mut Known),
}

impl Names {
    /// Reads the names of all conversations.
    pub(super) fn read(survey: &mut Survey<'_>) -> Self {
        let mut names = Self::default();
        let complete = survey.walk::<ConversationName>(|survey, key, identity| {
            survey.report.conversations += u64::from(!key.id.is_of_state());
            match identity {
                Some(identity) => names.add(key, identity, survey),
                None => drop(names.unreadable.insert(key)),
            }
        });
        names.complete = complete && names.unreadable.is_empty();
        names
    }

    fn add(&mut self, key: ConversationKey, identity: Identity, survey: &mut Survey<'_>) {
        let at = self.conversations.len();
        let other = self.by_lineage.get(&identity.lineage).copied();
        if let Some(other) = other {
            let other = records::name::<ConversationName>(&self.conversations[other].identity.key);
            survey.problem(
                records::name::<ConversationName>(&key),
                format_args!("has the same lineage as {other}"),
            );
        }
        self.by_lineage.entry(identity.lineage).or_insert(at);
        self.by_key.insert(key, at);
        self.conversations.push(Known {
            identity,
            expiry: Moment::Unknown,
            waits: Moment::Unknown,
            ended: Moment::Unknown,
            updated: Moment::Unknown,
            met: other.is_some(),
        });
    }

    /// Returns the conversation that writes to `lineage`.
    pub(super) fn of(&mut self, lineage: LineageId) -> Option<&mut Known> {
        self.conversations.get_mut(*self.by_lineage.get(&lineage)?)
    }

    /// Returns the conversation with this name.
    pub(super) fn named(&mut self, key: &ConversationKey) -> Named<'_> {
        match self.by_key.get(key) {
            Some(at) => Named::Known(&mut self.conversations[*at]),
            None if self.unreadable.contains(key) => Named::Unreadable,
            None if !self.complete => Named::Unreadable,
            None => Named::Nothing,
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Known> {
        self.conversations.iter()
    }
}

impl Known {
    /// Returns the subject of problems with the conversation.
    pub(super) fn subject(&self) -> String {
        records::name::<ConversationName>(&self.identity.key)
    }
}
