//! Whose ended conversations may be more than are retained.

use std::collections::BTreeSet;

use parking_lot::Mutex;
use tokio::sync::Notify;

use crate::{domain::Conversation, store::RecipientKey};

/// The recipients of whom a conversation has ended, and was not looked after yet.
#[derive(Default)]
pub(super) struct Retention {
    due: Mutex<BTreeSet<RecipientKey>>,
    news: Notify,
}

impl Retention {
    /// A conversation has ended.
    pub(super) fn add(&self, ended: &Conversation) {
        let identity = &ended.head.identity;
        let namespace = identity.key.namespace.clone();
        self.again(RecipientKey { namespace, id: identity.recipient.clone() });
        self.news.notify_one();
    }

    /// There is more to do for the recipient.
    pub(super) fn again(&self, recipient: RecipientKey) {
        self.due.lock().insert(recipient);
    }

    /// A recipient to look after, who is due no more.
    pub(super) fn take(&self) -> Option<RecipientKey> {
        self.due.lock().pop_first()
    }

    /// Waits until a conversation has ended.
    pub(super) async fn news(&self) {
        self.news.notified().await;
    }
}
