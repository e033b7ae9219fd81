//! Two servers over one store.

use std::sync::Arc;

use tempfile::TempDir;
use utterd::{
    config::{Preset, Settings},
    rpc::Services,
    server::Server,
    store::Store,
};

use crate::{shared::Shared, support::ManualClock};

/// The services of two servers, and the clock of both.
pub struct Pair {
    pub one: Services,
    pub other: Services,
    pub clock: Arc<ManualClock>,
    /// It outlives what is in use there.
    _directory: Option<TempDir>,
}

impl Pair {
    /// Two servers over `store`, whose windows have no limits.
    pub fn over(store: Arc<dyn Store>, directory: Option<TempDir>) -> Self {
        let clock = ManualClock::new();
        let settings = Settings::of(Preset::Session);
        let services = || {
            let store = Arc::new(Shared(store.clone()));
            let server = Server::over(store, &settings, clock.clone()).expect("the settings are good");
            server.services().clone()
        };
        Self { one: services(), other: services(), clock: clock.clone(), _directory: directory }
    }

    /// The services of the first for even numbers, of the second for odd ones.
    pub fn at(&self, number: usize) -> &Services {
        if number.is_multiple_of(2) { &self.one } else { &self.other }
    }
}
