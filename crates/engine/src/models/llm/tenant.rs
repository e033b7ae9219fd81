//! A namespace's share of the model.

use std::sync::Arc;

use dashmap::DashMap;
use parking_lot::Mutex;
use tokio::sync::Semaphore;

use utterd_domain::{Namespace, Timestamp};

/// The model calls for a namespace since the process started, and its waiting work.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LlmStanding {
    /// Calls in flight.
    pub in_flight: u64,
    /// Answers that became a segment's text, or a title and a closing summary.
    pub stored: u64,
    /// Answers that were dropped because their segment no longer existed, or some of its sources were
    /// forgotten meanwhile.
    pub dropped: u64,
    /// Calls that returned nothing usable.
    pub failed: u64,
    /// Whether calls are held back, for every namespace, because the model's server does not answer.
    pub held_back: bool,
    /// The time since which the oldest conversation has been waiting, as of the last read of the queue.
    pub waiting_since: Option<Timestamp>,
}

/// The calls made for a namespace, and its share of the model.
pub(super) struct Tenant {
    pub(super) standing: Mutex<LlmStanding>,
    /// Permits for callers who wait for an answer.
    pub(super) room: Semaphore,
}

/// A call in flight, until it is dropped.
pub(super) struct InFlight<'a>(&'a Tenant);

impl Tenant {
    pub(super) fn call(&self) -> InFlight<'_> {
        self.standing.lock().in_flight += 1;
        InFlight(self)
    }

    /// Counts an answer that was applied or dropped.
    pub(super) fn answered(&self, applied: bool) {
        let mut standing = self.standing.lock();
        match applied {
            true => standing.stored += 1,
            false => standing.dropped += 1,
        }
    }
}

impl Drop for InFlight<'_> {
    fn drop(&mut self) {
        self.0.standing.lock().in_flight -= 1;
    }
}

/// The namespaces for which the model was called. All are named by credentials.
pub(super) struct Tenants {
    by_namespace: DashMap<Namespace, Arc<Tenant>>,
    room: usize,
}

impl Tenants {
    /// Lets the waiting callers of one namespace use all permits but one, so that they block neither queued
    /// work nor the callers of other namespaces.
    pub(super) fn sharing(calls: usize) -> Self {
        Self { by_namespace: DashMap::new(), room: calls.saturating_sub(1).max(1) }
    }

    pub(super) fn of(&self, namespace: &Namespace) -> Arc<Tenant> {
        if let Some(tenant) = self.by_namespace.get(namespace) {
            return tenant.clone();
        }
        let new = || Arc::new(Tenant { standing: Mutex::default(), room: Semaphore::new(self.room) });
        self.by_namespace.entry(namespace.clone()).or_insert_with(new).clone()
    }
}
