//! The stores that settings name.

use crate::{
    config::{DurableEngine, Flush, Settings},
    store::durable::{self, DurableStore, EngineKind, OpenError, Options},
};

/// Opens the store of a server.
pub(super) fn open(engine: DurableEngine, settings: &Settings) -> Result<DurableStore, OpenError> {
    let flush = match settings.flush {
        Flush::Each => durable::Flush::Each,
        Flush::Interval(interval) => durable::Flush::Interval(interval),
    };
    let options = Options { flush, reserve_bytes: settings.disk_reserve, ..Options::default() };
    DurableStore::open(kind(engine), &settings.data_dir, &options)
}

/// The engine that a configuration names.
pub(super) fn kind(engine: DurableEngine) -> EngineKind {
    match engine {
        DurableEngine::Fjall => EngineKind::Fjall,
        DurableEngine::Sled => EngineKind::Sled,
    }
}
