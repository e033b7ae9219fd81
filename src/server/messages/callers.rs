//! What each caller takes of the server's memory.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use dashmap::DashMap;
use http::Extensions;

use super::budget::{Budget, Share};
use crate::{
    domain::limits::{IMPORTED_BYTES, RECEIVED_BYTES, UNREAD_BYTES},
    server::{connection::Peer, guard::Principal},
};

/// Callers beyond which those that take nothing are forgotten.
const MANY: usize = 1_024;

/// The callers of a server.
pub struct Callers {
    received: Arc<Budget>,
    imported: Arc<Budget>,
    unread: Arc<Budget>,
    known: DashMap<Key, Arc<Caller>>,
    /// So many are known before those that take nothing are looked for again.
    most: AtomicUsize,
}

/// A caller's shares.
pub struct Caller {
    /// Of the messages that are received and not yet answered.
    pub received: Arc<Share>,
    /// The same of imports.
    pub imported: Arc<Share>,
    /// Of the answers that are not read.
    pub unread: Arc<Share>,
}

/// What tells callers apart.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Key {
    /// Their credentials, by name.
    Credential(Arc<str>),
    /// Their connections.
    Connection(u64),
    /// Nothing.
    Nothing,
}

impl Callers {
    /// The callers of a server whose messages have at most `most` bytes.
    pub fn new(most: usize) -> Self {
        Self {
            received: Budget::new(RECEIVED_BYTES.max(6 * most)),
            imported: Budget::new(IMPORTED_BYTES.max(6 * most)),
            unread: Budget::new(UNREAD_BYTES),
            known: DashMap::new(),
            most: AtomicUsize::new(MANY),
        }
    }

    /// The caller of a request.
    pub fn of(&self, extensions: &Extensions) -> Arc<Caller> {
        let key = Key::of(extensions);
        if let Some(caller) = self.known.get(&key) {
            return caller.clone();
        }
        self.forget_idle();
        let caller = || {
            let (received, imported) = (self.received.share(), self.imported.share());
            Arc::new(Caller { received, imported, unread: self.unread.share() })
        };
        self.known.entry(key).or_insert_with(caller).clone()
    }

    fn forget_idle(&self) {
        if self.known.len() >= self.most.load(Ordering::Relaxed) {
            self.known.retain(|_, caller| Arc::strong_count(caller) > 1 || caller.has_taken());
            self.most.store(MANY.max(2 * self.known.len()), Ordering::Relaxed);
        }
    }
}

impl Caller {
    fn has_taken(&self) -> bool {
        [&self.received, &self.imported, &self.unread].iter().any(|share| share.taken() > 0)
    }
}

impl Key {
    fn of(extensions: &Extensions) -> Self {
        if let Some(principal) = extensions.get::<Principal>() {
            return Self::Credential(principal.name.clone());
        }
        extensions.get::<Peer>().map_or(Self::Nothing, |peer| Self::Connection(peer.connection))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_connection(connection: u64) -> Extensions {
        let mut extensions = Extensions::new();
        extensions.insert(Peer::new(connection, None));
        extensions
    }

    #[test]
    fn a_caller_is_known_again() {
        let callers = Callers::new(1);
        let first = callers.of(&of_connection(1));
        assert!(Arc::ptr_eq(&first, &callers.of(&of_connection(1))));
        assert!(!Arc::ptr_eq(&first, &callers.of(&of_connection(2))));
        assert!(!Arc::ptr_eq(&first, &callers.of(&Extensions::new())));
    }

    #[test]
    fn those_that_take_nothing_are_forgotten() {
        let callers = Callers::new(1);
        let taken = callers.of(&of_connection(0)).unread.take_anyway(1);
        for connection in 0..10 * MANY as u64 {
            callers.of(&of_connection(connection));
        }
        assert!(callers.known.len() <= 2 * MANY);
        assert_eq!(callers.of(&of_connection(0)).unread.taken(), 1);
        drop(taken);
    }
}
