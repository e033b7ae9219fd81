//! A server over a store.

use std::{path::Path, sync::Arc, thread};

use utterd::{
    config::{DurableEngine, Files, Place, Preset, Settings},
    server::{Server, upkeep},
    store::{
        Store,
        durable::{DurableStore, EngineKind, Flush, OpenError, Options},
    },
};

use crate::{durable::call::Call, support::ManualClock};

/// A server, its store and its clock. When dropped, it leaves the store's place to the next one.
pub struct Home {
    pub server: Server,
    pub store: Arc<dyn Store>,
    pub clock: Arc<ManualClock>,
}

impl Home {
    /// A server over the store in `directory`, a new one if that is empty.
    pub fn open(
        engine: EngineKind,
        directory: &Path,
        clock: &Arc<ManualClock>,
        flush: Flush,
    ) -> Result<Self, OpenError> {
        let options = Options { flush, ..Options::default() };
        Ok(Self::over(Arc::new(DurableStore::open(engine, directory, &options)?), clock))
    }

    /// A server over `store`.
    pub fn over(store: Arc<dyn Store>, clock: &Arc<ManualClock>) -> Self {
        let settings = Settings { reflection: false, ..Settings::of(Preset::Rolling) };
        let server = Server::over(store.clone(), &settings, clock.clone()).expect("the settings go together");
        Self { server, store, clock: clock.clone() }
    }

    /// Makes all `calls`, each of which must succeed.
    pub async fn live(&self, calls: &[Call]) {
        for call in calls {
            call.send(self).await.unwrap_or_else(|status| panic!("{call:?}: {status:?}"));
        }
    }
}

/// What `utterd verify` finds in a directory, or why it cannot be verified.
pub fn problems(engine: EngineKind, directory: &Path) -> Result<Vec<String>, String> {
    let engine = match engine {
        EngineKind::Fjall => DurableEngine::Fjall,
        EngineKind::Sled => DurableEngine::Sled,
    };
    let place = Place::Files(Files { engine, directory: directory.to_owned() });
    // it blocks, and tests are on a runtime
    let verified = thread::scope(|scope| {
        scope.spawn(|| upkeep::verify(&place, &Settings::default())).join().expect("no panic")
    });
    let report = verified.map_err(|error| error.to_string())?;
    Ok(report.problems.iter().map(ToString::to_string).collect())
}
