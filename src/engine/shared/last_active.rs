//! Recipients' recently active conversations.

use std::{convert::Infallible, sync::Arc, time::Duration};

use parking_lot::RwLock;
use quick_cache::sync::Cache;

use crate::{domain::ConversationId, engine::shared::confirmed::Confirmed, store::RecipientKey};

/// The number of recipients remembered.
const MOST: usize = 65_536;

/// The conversation of each recipient that was active when the store was last asked.
pub(in crate::engine) struct LastActive(Cache<RecipientKey, Arc<Pointer>>);

/// `None` if it is not known which conversation is active, or if none is.
type Pointer = RwLock<Confirmed<Option<ConversationId>>>;

/// What is known of a recipient's pointer before the store is asked for it.
pub(in crate::engine) struct Before {
    pointer: Option<Arc<Pointer>>,
    pub(in crate::engine) known: Confirmed<Option<ConversationId>>,
}

impl LastActive {
    pub(in crate::engine) fn new() -> Self {
        Self(Cache::new(MOST))
    }

    /// Returns the conversation that was the recipient's active one.
    pub(in crate::engine) fn of(&self, recipient: &RecipientKey) -> Option<ConversationId> {
        self.0.get(recipient)?.read().value.clone()
    }

    /// Returns what is known of a recipient's pointer.
    pub(in crate::engine) fn before(&self, recipient: &RecipientKey) -> Before {
        let pointer = self.0.get(recipient);
        let known = pointer.as_ref().map(|pointer| pointer.read().clone());
        Before { pointer, known: known.unwrap_or_default() }
    }

    /// Records the store's answer to a question of this time, unless something was recorded since `before`:
    /// that may be newer.
    pub(in crate::engine) fn answered(
        &self,
        recipient: &RecipientKey,
        before: Before,
        active: Option<&ConversationId>,
        asked: Duration,
    ) {
        let (pointer, asked) = match before.pointer {
            Some(pointer) => (pointer, Some(asked)),
            None if active.is_none() => return,
            // what was recorded and evicted since may be newer
            None => (self.pointer(recipient), None),
        };
        let mut now = pointer.write();
        if now.is_as(&before.known) {
            now.replace(active.cloned(), asked);
        }
    }

    /// Records where a recipient's pointer leads after a commit that `began` at this time.
    pub(in crate::engine) fn committed(
        &self,
        recipient: &RecipientKey,
        active: Option<&ConversationId>,
        began: Option<Duration>,
    ) {
        self.pointer(recipient).write().replace(active.cloned(), began);
    }

    fn pointer(&self, recipient: &RecipientKey) -> Arc<Pointer> {
        let Ok(pointer) = self.0.get_or_insert_with(recipient, || Ok::<_, Infallible>(Arc::default()));
        pointer
    }
}
