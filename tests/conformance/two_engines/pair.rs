//! Two servers over one store.

use std::sync::Arc;

use tempfile::TempDir;
use utterd::{
    config::{Preset, Settings},
    engine::Engine,
    rpc::Services,
    server::Server,
    store::Store,
};

use crate::{shared::Shared, support::ManualClock};

/// Ended conversations that are kept for a recipient.
const RETAINED: u32 = 1;

/// The services of two servers, and the clock of both.
pub struct Pair {
    pub one: Services,
    pub other: Services,
    pub clock: Arc<ManualClock>,
    /// The engine of the first.
    pub engine: Arc<Engine>,
    /// The store as the first has it.
    pub store: Shared,
    /// The store as the second has it.
    pub others: Shared,
    _servers: [Server; 2],
    /// It outlives what is in use there.
    _directory: Option<TempDir>,
}

impl Pair {
    /// Two servers over `store`, whose windows have no limits.
    pub fn over(store: Arc<dyn Store>, directory: Option<TempDir>) -> Self {
        let clock = ManualClock::new();
        let settings = Settings { max_conversations_retained: RETAINED, ..Settings::of(Preset::Session) };
        let server = |store: Shared| {
            Server::over(Arc::new(store), &settings, clock.clone()).expect("the settings are good")
        };
        let own = Shared::new(store);
        let others = own.another();
        let (first, second) = (server(own.clone()), server(others.clone()));
        Self {
            one: first.services().clone(),
            other: second.services().clone(),
            clock: clock.clone(),
            engine: first.engine().clone(),
            store: own,
            others,
            _servers: [first, second],
            _directory: directory,
        }
    }

    /// The services of the first for even numbers, of the second for odd ones.
    pub fn at(&self, number: usize) -> &Services {
        if number.is_multiple_of(2) { &self.one } else { &self.other }
    }
}
