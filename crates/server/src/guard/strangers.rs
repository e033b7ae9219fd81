//! Open calls that need no credential: health checks, and whatever else anybody may call.
//!
//! They share a small part of the memory for open calls. When it is used up, the oldest of them ends to make room, so a
//! new health check is always answered, however many calls others leave open.

use std::{collections::BTreeMap, sync::Arc};

use parking_lot::Mutex;
use tokio::sync::oneshot;

use super::{refusal::Refused, running::Revoked};
use utterd_domain::limits::STRANGER_BYTES;

/// If one connection has more than this part of all the bytes, one of its own calls makes room.
const CONNECTION_SHARE: usize = 8;

/// The open calls of strangers, over all workers.
#[derive(Default)]
pub struct Strangers {
    open: Mutex<Open>,
}

#[derive(Default)]
struct Open {
    /// The calls, by a number that grows.
    calls: BTreeMap<u64, Call>,
    next: u64,
    bytes: usize,
}

struct Call {
    connection: u64,
    bytes: usize,
    /// Ends the call.
    _end: oneshot::Sender<()>,
}

/// The place of a call; left on drop.
struct Place {
    of: Arc<Strangers>,
    number: u64,
}

impl Strangers {
    /// Counts a call of `connection` that holds `bytes`, as long as the returned future exists. The future completes
    /// when the call has to make room.
    pub fn admit(self: &Arc<Self>, connection: u64, bytes: usize) -> Revoked {
        let (end, ended) = oneshot::channel();
        let number = self.open.lock().add(Call { connection, bytes, _end: end });
        let place = Place { of: self.clone(), number };
        Box::pin(async move {
            let _ = ended.await;
            drop(place);
            Refused::Displaced
        })
    }
}

impl Open {
    fn add(&mut self, call: Call) -> u64 {
        let (number, connection) = (self.next, call.connection);
        self.next += 1;
        self.bytes += call.bytes;
        self.calls.insert(number, call);
        while self.bytes > STRANGER_BYTES {
            let Some(oldest) = self.oldest(connection) else { break };
            self.remove(oldest);
        }
        number
    }

    /// Returns the call that makes room: the oldest, or that of `connection` if it has more than its share.
    fn oldest(&self, connection: u64) -> Option<u64> {
        let own = || self.calls.iter().filter(|(_, call)| call.connection == connection);
        let bytes: usize = own().map(|(_, call)| call.bytes).sum();
        let oldest =
            if bytes > STRANGER_BYTES / CONNECTION_SHARE { own().next() } else { self.calls.iter().next() };
        oldest.map(|(number, _)| *number)
    }

    fn remove(&mut self, number: u64) {
        if let Some(call) = self.calls.remove(&number) {
            self.bytes -= call.bytes;
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.of.open.lock().remove(self.number);
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;

    use super::*;

    /// The bytes of a call of which some fit.
    const BYTES: usize = STRANGER_BYTES / 32;

    fn is_displaced(call: &mut Revoked) -> bool {
        call.now_or_never() == Some(Refused::Displaced)
    }

    #[test]
    fn the_oldest_makes_room_for_a_new_one() {
        let strangers = Arc::new(Strangers::default());
        let mut calls: Vec<_> = (0..32).map(|connection| strangers.admit(connection, BYTES)).collect();
        assert!(!calls.iter_mut().any(is_displaced));
        drop(calls.pop());
        calls.push(strangers.admit(32, BYTES));
        assert!(!calls.iter_mut().any(is_displaced), "one had left");
        calls.push(strangers.admit(33, BYTES));
        let displaced: Vec<_> = calls.iter_mut().map(is_displaced).collect();
        assert_eq!(displaced.iter().position(|it| *it), Some(0));
        assert_eq!(displaced.iter().filter(|it| **it).count(), 1);
        drop(calls);
        let open = strangers.open.lock();
        assert_eq!((open.calls.len(), open.bytes), (0, 0));
    }

    #[test]
    fn one_connection_does_not_displace_the_others() {
        let strangers = Arc::new(Strangers::default());
        let mut modest = strangers.admit(1, BYTES);
        let mut greedy: Vec<_> = (0..100).map(|_| strangers.admit(2, BYTES)).collect();
        assert!(!is_displaced(&mut modest));
        assert_eq!(greedy.iter_mut().map(is_displaced).filter(|it| !it).count(), 31);
    }
}
