//! The recipients that may have more conversations than are retained.

use std::collections::BTreeSet;

use parking_lot::Mutex;
use tokio::sync::Notify;

use utterd_store::RecipientKey;

/// The recipients with newly ended or started conversations that have not been checked yet.
#[derive(Default)]
pub struct Retention {
    due: Mutex<BTreeSet<RecipientKey>>,
    news: Notify,
}

impl Retention {
    /// Queues a recipient whose conversation has ended, or that has a new active one.
    pub fn add(&self, recipient: RecipientKey) {
        self.again(recipient);
        self.news.notify_one();
    }

    /// Queues a recipient without a notification, to be checked again.
    pub fn again(&self, recipient: RecipientKey) {
        self.due.lock().insert(recipient);
    }

    /// Takes a recipient from the queue.
    pub fn take(&self) -> Option<RecipientKey> {
        self.due.lock().pop_first()
    }

    /// Waits until a conversation has ended or started.
    pub async fn news(&self) {
        self.news.notified().await;
    }
}
