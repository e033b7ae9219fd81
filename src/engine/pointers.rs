//! Who watches which conversation is a recipient's.

use std::{collections::BTreeMap, sync::Arc};

use parking_lot::Mutex;
use tokio::sync::watch;

use crate::store::RecipientKey;

/// The recipients whose pointers to their active conversations are watched.
#[derive(Default)]
pub(super) struct Pointers(Mutex<BTreeMap<RecipientKey, watch::Sender<()>>>);

/// Sees that another conversation may be a recipient's active one, or none.
pub(super) struct PointerWatch {
    pointers: Arc<Pointers>,
    recipient: RecipientKey,
    pub(super) moves: watch::Receiver<()>,
}

impl Pointers {
    /// Sees every later move.
    pub(super) fn watch(self: &Arc<Self>, recipient: RecipientKey) -> PointerWatch {
        let mut watched = self.0.lock();
        let moves = watched.entry(recipient.clone()).or_insert_with(|| watch::Sender::new(())).subscribe();
        drop(watched);
        PointerWatch { pointers: self.clone(), recipient, moves }
    }

    /// Tells those who watch the recipient's.
    pub(super) fn tell(&self, recipient: &RecipientKey) {
        if let Some(watched) = self.0.lock().get(recipient) {
            watched.send_replace(());
        }
    }

    /// Tells all who watch any.
    pub(super) fn tell_all(&self) {
        self.0.lock().values().for_each(|watched| watched.send_replace(()));
    }
}

impl Drop for PointerWatch {
    /// Nothing is kept for a recipient that nobody else watches.
    fn drop(&mut self) {
        let mut watched = self.pointers.0.lock();
        if watched.get(&self.recipient).is_some_and(|moves| moves.receiver_count() == 1) {
            watched.remove(&self.recipient);
        }
    }
}
