//! The connections of a server: how many are allowed, and which one makes room for a new one.
//!
//! When all places are taken, the connection that has been idle for longest makes room for the new one. So idle
//! connections cannot keep anyone out, however many there are; a client that was only idle connects again with
//! its next call.

use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use parking_lot::Mutex;
use tokio::time::sleep;

use super::{
    activity::Activity,
    socket::{Listener, Socket},
};
use utterd_domain::limits::MAX_LEAVING_CONNECTIONS;

/// How long to wait after a failed accept: most likely, the process is out of descriptors, and there will be some when
/// connections end.
const NEXT_ATTEMPT: Duration = Duration::from_millis(100);

/// The open connections.
pub struct Connections {
    max: usize,
    open: Mutex<Open>,
}

#[derive(Default)]
struct Open {
    members: HashMap<u64, Arc<Activity>>,
    /// The number of connections that were evicted and are not closed yet.
    leaving: usize,
}

impl Connections {
    /// Room for `max` connections.
    pub fn new(max: usize) -> Arc<Self> {
        Arc::new(Self { max, open: Mutex::default() })
    }

    /// Returns the most connections that can be open at the same time.
    pub fn max(&self) -> usize {
        self.max
    }

    /// Returns the number of connections that are not closed yet.
    pub fn count(&self) -> usize {
        let open = self.open.lock();
        open.members.len() + open.leaving
    }

    /// Returns the next connection to `listener` that there is room for, and its place. The others are closed: before a
    /// client of gRPC has heard from the server, it counts the connection as failed, and waits for longer each time.
    pub async fn accept(self: &Arc<Self>, listener: &Listener) -> (Socket, Place) {
        loop {
            match listener.accept().await {
                Ok(socket) => match self.admit() {
                    Some(place) => return (socket, place),
                    None => tracing::debug!("refused a connection: all open ones are busy with calls"),
                },
                Err(error) => {
                    tracing::warn!(%error, "could not accept a connection");
                    sleep(NEXT_ATTEMPT).await;
                }
            }
        }
    }

    /// Returns a place for a new connection; `None` if every open one has a call, or too many evicted ones are not
    /// closed yet.
    pub fn admit(self: &Arc<Self>) -> Option<Place> {
        let mut open = self.open.lock();
        if open.members.len() >= self.max {
            open.evict()?;
        }
        let (number, activity) = (number(), Activity::new());
        open.members.insert(number, activity.clone());
        Some(Place { connections: self.clone(), number, activity })
    }

    fn leave(&self, number: u64) {
        let mut open = self.open.lock();
        if open.members.remove(&number).is_none() {
            open.leaving = open.leaving.saturating_sub(1);
        }
    }
}

/// A number for a connection, unique in this process.
fn number() -> u64 {
    static NUMBERS: AtomicU64 = AtomicU64::new(0);
    NUMBERS.fetch_add(1, Ordering::Relaxed)
}

impl Open {
    /// Makes room for one connection.
    fn evict(&mut self) -> Option<()> {
        let idlest = self.idlest().filter(|_| self.leaving < MAX_LEAVING_CONNECTIONS)?;
        self.members.remove(&idlest)?.evict();
        self.leaving += 1;
        Some(())
    }

    /// Returns the number of the connection that makes room; `None` if each has a call.
    fn idlest(&self) -> Option<u64> {
        let idle =
            self.members.iter().filter_map(|(number, activity)| Some((activity.idle_since()?, *number)));
        idle.min().map(|(_, number)| number)
    }
}

/// The place of one connection; freed on drop.
pub struct Place {
    connections: Arc<Connections>,
    number: u64,
    activity: Arc<Activity>,
}

impl Place {
    /// Returns the connection's number, unique in this process.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Returns the connection's activity.
    pub fn activity(&self) -> &Arc<Activity> {
        &self.activity
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.connections.leave(self.number);
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::{advance, timeout};

    use super::*;
    use crate::transport::activity::End;

    async fn admit_later(connections: &Arc<Connections>) -> Option<Place> {
        advance(Duration::from_millis(10)).await;
        connections.admit()
    }

    async fn is_evicted(place: &Place) -> bool {
        timeout(Duration::ZERO, place.activity.end()).await == Ok(End::Evicted)
    }

    #[tokio::test(start_paused = true)]
    async fn the_idlest_makes_room() {
        let connections = Connections::new(3);
        let first = admit_later(&connections).await.unwrap();
        let second = admit_later(&connections).await.unwrap();
        let third = admit_later(&connections).await.unwrap();
        advance(Duration::from_millis(10)).await;
        drop(first.activity.call());
        let fourth = admit_later(&connections).await.unwrap();
        assert!(is_evicted(&second).await);
        for place in [&first, &third, &fourth] {
            assert!(!is_evicted(place).await);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_connection_with_a_call_stays() {
        let connections = Connections::new(2);
        let (first, second) = (connections.admit().unwrap(), connections.admit().unwrap());
        let calls = (first.activity.call(), second.activity.call());
        assert!(connections.admit().is_none());
        drop(calls.1);
        assert!(connections.admit().is_some());
        assert!(is_evicted(&second).await && !is_evicted(&first).await);
    }

    #[tokio::test(start_paused = true)]
    async fn a_place_that_is_left_is_free() {
        let connections = Connections::new(1);
        let first = connections.admit().unwrap();
        let _call = first.activity.call();
        drop(first);
        assert!(connections.admit().is_some());
    }

    /// This bounds the connections, including those that are closing.
    #[tokio::test(start_paused = true)]
    async fn many_that_are_leaving_keep_new_ones_out() {
        let connections = Connections::new(1);
        let mut leaving = vec![connections.admit().unwrap()];
        for _ in 0..MAX_LEAVING_CONNECTIONS {
            leaving.push(connections.admit().unwrap());
        }
        assert!(connections.admit().is_none());
        leaving.remove(0);
        assert!(connections.admit().is_some());
    }
}
