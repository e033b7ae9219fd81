//! All conversations of the store.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::survey::Survey;
use crate::{
    domain::{ConversationKey, Identity, LineageId},
    store::durable::records::{self, Active, ConversationName},
};

/// All conversations, by name and by lineage.
#[derive(Default)]
pub(super) struct Names {
    by_key: FxHashMap<ConversationKey, Arc<Identity>>,
    by_lineage: FxHashMap<LineageId, Arc<Identity>>,
    /// Whether all conversations could be read.
    pub(super) complete: bool,
}

impl Names {
    /// Reads the names of all conversations.
    pub(super) fn read(survey: &mut Survey<'_>) -> Self {
        let mut names = Self { complete: true, ..Self::default() };
        let complete = survey.each::<ConversationName>(|survey, key, identity| {
            survey.report.conversations += u64::from(!key.id.is_of_state());
            match identity {
                Some(identity) => names.add(key, Arc::new(identity), survey),
                None => names.complete = false,
            }
        });
        names.complete &= complete;
        survey.complete &= names.complete;
        names
    }

    fn add(&mut self, key: ConversationKey, identity: Arc<Identity>, survey: &mut Survey<'_>) {
        match self.by_lineage.get(&identity.lineage) {
            Some(other) => {
                let what = format_args!("has the same lineage as {}", subject(other));
                survey.problem(subject(&identity), what);
            }
            None => drop(self.by_lineage.insert(identity.lineage, identity.clone())),
        }
        self.by_key.insert(key, identity);
    }

    /// Returns the conversation that writes to `lineage`.
    pub(super) fn of(&self, lineage: LineageId) -> Option<&Arc<Identity>> {
        self.by_lineage.get(&lineage)
    }

    /// Returns the lineages of all conversations.
    pub(super) fn lineages(&self) -> impl Iterator<Item = LineageId> {
        self.by_lineage.keys().copied()
    }

    /// Checks that each recipient's active conversation belongs to the recipient.
    pub(super) fn check_active(&self, survey: &mut Survey<'_>) {
        survey.each::<Active>(|survey, recipient, active| {
            let Some(id) = active else { return };
            let named = ConversationKey { namespace: recipient.namespace.clone(), id: id.clone() };
            let wrong = match self.by_key.get(&named) {
                None if !self.complete => return,
                None => format!("there is no conversation {id}"),
                Some(identity) if !identity.is_listed() => "it is a recipient's state".to_owned(),
                Some(identity) if identity.recipient == recipient.id => return,
                Some(identity) => format!("conversation {id} belongs to {}", identity.recipient),
            };
            survey.problem(records::name::<Active>(&recipient), wrong);
        });
    }
}

/// Returns the subject of problems with a conversation.
pub(super) fn subject(identity: &Identity) -> String {
    records::name::<ConversationName>(&identity.key)
}
