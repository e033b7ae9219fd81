//! Watches which conversation is a recipient's active one.

use std::{collections::BTreeMap, sync::Arc};

use parking_lot::Mutex;
use tokio::sync::watch;

use utterd_store::RecipientKey;

/// The recipients whose active pointers are watched.
#[derive(Default)]
pub struct Pointers(Mutex<BTreeMap<RecipientKey, watch::Sender<()>>>);

/// Watches a recipient's active pointer.
pub struct PointerWatch {
    pointers: Arc<Pointers>,
    recipient: RecipientKey,
    pub moves: watch::Receiver<()>,
}

impl Pointers {
    /// Subscribes to every later change of a recipient's pointer.
    pub fn watch(self: &Arc<Self>, recipient: RecipientKey) -> PointerWatch {
        let mut watched = self.0.lock();
        let moves = watched.entry(recipient.clone()).or_insert_with(|| watch::Sender::new(())).subscribe();
        drop(watched);
        PointerWatch { pointers: self.clone(), recipient, moves }
    }

    /// Notifies the watchers of a recipient's pointer.
    pub fn tell(&self, recipient: &RecipientKey) {
        if let Some(watched) = self.0.lock().get(recipient) {
            watched.send_replace(());
        }
    }
}

impl Drop for PointerWatch {
    /// Removes the entry of a recipient that nobody else watches.
    fn drop(&mut self) {
        let mut watched = self.pointers.0.lock();
        if watched.get(&self.recipient).is_some_and(|moves| moves.receiver_count() == 1) {
            watched.remove(&self.recipient);
        }
    }
}
