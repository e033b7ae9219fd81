//! What a namespace has of the model that all share.

use std::sync::Arc;

use dashmap::DashMap;
use tokio::sync::Semaphore;

use super::counts::Counts;
use crate::domain::Namespace;

/// What was asked of the model for a namespace, and what it may take of it.
pub(super) struct Tenant {
    pub(super) counts: Counts,
    /// Room for callers who wait for an answer.
    pub(super) room: Semaphore,
}

/// The namespaces for which the model was asked: those that credentials name.
pub(super) struct Tenants {
    by_namespace: DashMap<Namespace, Arc<Tenant>>,
    room: usize,
}

impl Tenants {
    /// Callers of one namespace who wait have all calls but one: so they hold back neither what is queued nor
    /// who else waits.
    pub(super) fn sharing(calls: usize) -> Self {
        Self { by_namespace: DashMap::new(), room: calls.saturating_sub(1).max(1) }
    }

    pub(super) fn of(&self, namespace: &Namespace) -> Arc<Tenant> {
        if let Some(tenant) = self.by_namespace.get(namespace) {
            return tenant.clone();
        }
        let new = || Arc::new(Tenant { counts: Counts::default(), room: Semaphore::new(self.room) });
        self.by_namespace.entry(namespace.clone()).or_insert_with(new).clone()
    }
}
