//! The recipients who may have more ended conversations than are retained.

use std::collections::BTreeSet;

use parking_lot::Mutex;
use tokio::sync::Notify;

use crate::{domain::Conversation, store::RecipientKey};

/// The recipients with newly ended conversations that have not been checked yet.
#[derive(Default)]
pub(super) struct Retention {
    due: Mutex<BTreeSet<RecipientKey>>,
    news: Notify,
}

impl Retention {
    /// Queues the recipient of a conversation that has ended.
    pub(super) fn add(&self, ended: &Conversation) {
        let identity = &ended.head.identity;
        let namespace = identity.key.namespace.clone();
        self.again(RecipientKey { namespace, id: identity.recipient.clone() });
        self.news.notify_one();
    }

    /// Queues a recipient with more to do.
    pub(super) fn again(&self, recipient: RecipientKey) {
        self.due.lock().insert(recipient);
    }

    /// Takes a recipient from the queue.
    pub(super) fn take(&self) -> Option<RecipientKey> {
        self.due.lock().pop_first()
    }

    /// Waits until a conversation has ended.
    pub(super) async fn news(&self) {
        self.news.notified().await;
    }
}
