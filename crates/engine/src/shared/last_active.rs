//! Recipients' recently active conversations.

use std::{convert::Infallible, sync::Arc, time::Duration};

use parking_lot::RwLock;
use quick_cache::sync::Cache;

use crate::lane::confirmed::Confirmed;
use utterd_domain::ConversationId;
use utterd_store::RecipientKey;

/// The number of recipients remembered.
const MOST: usize = 65_536;

/// The active conversation of each recipient when the store was last asked.
pub struct LastActive(Cache<RecipientKey, Arc<Pointer>>);

/// `None` if the active conversation is unknown, or if there is none.
type Pointer = RwLock<Confirmed<Option<ConversationId>>>;

/// What is known of a recipient's pointer before the store is asked for it.
pub struct Before {
    pointer: Option<Arc<Pointer>>,
    pub known: Confirmed<Option<ConversationId>>,
}

impl LastActive {
    pub fn new() -> Self {
        Self(Cache::new(MOST))
    }

    /// Returns the last known active conversation of a recipient.
    pub fn of(&self, recipient: &RecipientKey) -> Option<ConversationId> {
        self.0.get(recipient)?.read().value.clone()
    }

    /// Returns what is known of a recipient's pointer.
    pub fn before(&self, recipient: &RecipientKey) -> Before {
        let pointer = self.0.get(recipient);
        let known = pointer.as_ref().map(|pointer| pointer.read().clone());
        Before { pointer, known: known.unwrap_or_default() }
    }

    /// Records the store's answer to a request made at `asked`, unless something was recorded since `before`,
    /// which may be newer.
    pub fn answered(
        &self,
        recipient: &RecipientKey,
        before: Before,
        active: Option<&ConversationId>,
        asked: Duration,
    ) {
        let (pointer, asked) = match before.pointer {
            Some(pointer) => (pointer, Some(asked)),
            None if active.is_none() => return,
            // a value that was recorded since, and evicted, may be newer
            None => (self.pointer(recipient), None),
        };
        let mut now = pointer.write();
        if now.is_as(&before.known) {
            now.replace(active.cloned(), asked);
        }
    }

    /// Records a recipient's active conversation after a commit that began at `began`.
    pub fn committed(
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
