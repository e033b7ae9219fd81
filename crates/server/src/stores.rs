//! The stores that settings name.

use tokio::time::Instant;

use crate::{Result, ServeError};
use utterd_config::{DurableEngine, Flush, Settings};
use utterd_store::{
    Quotas, Store,
    durable::{self, DurableStore, EngineKind, OpenError, Options},
};

/// Opens the store of a server.
pub(super) fn open(engine: DurableEngine, settings: &Settings) -> Result<DurableStore, OpenError> {
    let flush = match settings.flush {
        Flush::Each => durable::Flush::Each,
        Flush::Interval(interval) => durable::Flush::Interval(interval),
    };
    let options = Options { flush, reserve_bytes: settings.disk_reserve };
    DurableStore::open(kind(engine), &settings.data_dir, &options)
}

/// Makes a store enforce the namespace quotas, if any are set: it first counts what each namespace stores.
pub(super) fn hold_to_quotas(store: &dyn Store, settings: &Settings) -> Result<()> {
    let limit = |value: u64| Some(value).filter(|value| *value > 0);
    let quotas = Quotas {
        conversations: limit(settings.max_conversations_per_namespace.into()),
        bytes: limit(settings.max_bytes_per_namespace),
    };
    if quotas == Quotas::default() {
        return Ok(());
    }
    let started = Instant::now();
    store.set_quotas(quotas).map_err(ServeError::Quotas)?;
    tracing::info!(took = ?started.elapsed(), "counted what the namespaces store, for their quotas");
    Ok(())
}

/// The engine that a configuration names.
pub(super) fn kind(engine: DurableEngine) -> EngineKind {
    match engine {
        DurableEngine::Fjall => EngineKind::Fjall,
        DurableEngine::Sled => EngineKind::Sled,
    }
}
