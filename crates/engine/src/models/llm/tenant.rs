//! A namespace's share of the model.

use std::sync::Arc;

use dashmap::DashMap;
use tokio::sync::Semaphore;

use super::counts::Counts;
use utterd_domain::Namespace;

/// The calls made for a namespace, and its share of the model.
pub(super) struct Tenant {
    pub(super) counts: Counts,
    /// Permits for callers who wait for an answer.
    pub(super) room: Semaphore,
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
        let new = || Arc::new(Tenant { counts: Counts::default(), room: Semaphore::new(self.room) });
        self.by_namespace.entry(namespace.clone()).or_insert_with(new).clone()
    }
}
