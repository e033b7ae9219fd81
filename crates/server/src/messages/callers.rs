//! The memory of the server that each caller uses.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use dashmap::DashMap;
use http::Extensions;

use super::{
    budget::{Budget, Share},
    refusals,
};
use crate::{guard::Principal, transport::connection::Peer};
use utterd_domain::limits::{
    ANSWER_BYTES, CALLS_LEAVE, CONTENT_BYTES, MESSAGE_BYTES, ROOM_PATIENCE, TRANSIT_BYTES,
};
use utterd_rpc::{Held, Purpose, Room};

/// The number of callers beyond which those that hold no bytes are forgotten.
const MANY: usize = 1_024;

/// The callers of a server.
pub struct Callers {
    calls: Arc<Budget>,
    received: Arc<Budget>,
    unread: Arc<Budget>,
    known: DashMap<Key, Arc<Caller>>,
    /// The number of callers at which the next search for those that hold no bytes starts.
    most: AtomicUsize,
}

/// A caller's shares of the budgets.
pub struct Caller {
    /// The share of the bytes of open calls.
    pub calls: Arc<Share>,
    /// The share of the bytes of messages that are received and not yet answered.
    pub received: Arc<Share>,
    /// The share of the bytes of answers that are not read yet.
    pub unread: Arc<Share>,
}

/// What distinguishes callers.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Key {
    /// Their credential, by name.
    Credential(Arc<str>),
    /// Their connection, by number.
    Connection(u64),
    /// Nothing: all such requests count as one caller's.
    Nothing,
}

impl Callers {
    /// The callers of a server whose messages are at most `most` bytes long.
    pub fn new(most: usize) -> Self {
        let larger = (3 * most).saturating_sub(MESSAGE_BYTES);
        let all = Budget::new(TRANSIT_BYTES + larger);
        let contents = all.part(CONTENT_BYTES + larger);
        Self {
            calls: all.part(TRANSIT_BYTES - CALLS_LEAVE),
            received: contents.part(MESSAGE_BYTES + larger),
            unread: contents.part(ANSWER_BYTES),
            known: DashMap::new(),
            most: AtomicUsize::new(MANY),
        }
    }

    /// Returns the caller of a request.
    pub fn of(&self, extensions: &Extensions) -> Arc<Caller> {
        let key = Key::of(extensions);
        if let Some(caller) = self.known.get(&key) {
            return caller.clone();
        }
        self.forget_idle();
        let caller = || {
            let (calls, received) = (self.calls.share(), self.received.share());
            Arc::new(Caller { calls, received, unread: self.unread.share() })
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
        [&self.calls, &self.received, &self.unread].iter().any(|share| share.taken() > 0)
    }
}

/// Returns the source of room for the calls of `caller`. An answer asks for at most as much as one caller can have of
/// the budget: a larger one is admitted when nobody else holds any.
pub fn room(caller: Arc<Caller>) -> Room {
    Room::new(move |purpose, bytes| {
        let caller = caller.clone();
        Box::pin(async move {
            let taken = match purpose {
                Purpose::Received => caller.received.clone().take_all(bytes, ROOM_PATIENCE).await,
                Purpose::Answer => {
                    caller.unread.clone().take(bytes.min(ANSWER_BYTES / 4 * 3), ROOM_PATIENCE).await
                }
            };
            let refusal = match purpose {
                Purpose::Received => refusals::no_room,
                Purpose::Answer => refusals::unread,
            };
            let mut taken = taken.ok_or_else(refusal)?;
            Ok(Held::new(move |bytes| taken.shrink_to(bytes)))
        })
    })
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
