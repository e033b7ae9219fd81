//! The server: assembles store, engine and services, and serves them.

pub mod admission;
mod announce;
mod beside;
mod calls;
mod check;
mod chores;
mod code_names;
#[cfg_attr(not(feature = "postgres"), path = "no_database.rs")]
pub mod database;
/// Internal to the program; public only for its command line.
#[doc(hidden)]
pub mod dynamic;
mod error;
mod guard;
#[cfg(feature = "inspector")]
mod inspector;
mod logging;
mod metrics;
mod migrate;
mod models;
mod owner;
/// Internal to the program; public only for its command line.
#[doc(hidden)]
pub mod plain_http;
mod process;
mod routes;
mod services;
mod signals;
mod stack;
mod stores;
mod transport;
pub mod upkeep;
mod watched;
mod workers;

use std::{
    future::{Future, ready},
    io,
    path::PathBuf,
    sync::Arc,
};

use futures::{Stream, StreamExt as _};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    sync::watch,
};
use tonic::transport::server::Connected;

use admission::{Admission, Admitting};
use calls::Calls;
use guard::Guard;
#[cfg(feature = "inspector")]
use plain_http::Room;
use routes::Routes;
use stack::Stack;
use transport::{connection::Arriving, http::serve_calls};
use utterd_config::{Backend, Settings};
use utterd_domain::{
    conversation::Timeouts,
    limits::{EMBEDDING_BYTES, INDEX_BYTES, INDEX_SHARE},
};
use utterd_engine::{Clock, Defaults, Engine, SystemClock};
use utterd_rpc::{RequestLimits, Services};
use utterd_store::{MemoryStore, Store};
use utterd_telemetry::{
    Registry,
    panics::{self, begin_anew},
};
use utterd_tokenizer as tokenizer;

pub use announce::Announce;
pub use check::check;
pub use error::{Result, ServeError};
pub use guard::{Issued, NewCredential, Principal, Role, issue};
pub use logging::{log_filter, unheeded};
pub use models::Models;
use models::PROMPT_VERSION;
pub use owner::Owner;
pub use process::runtime;
pub use routes::Serves;
pub use transport::connection::Peer;
pub use transport::in_process::{Connector, InProcess};
pub use transport::shared::Shared;
pub use transport::systemd::Passed;
pub use transport::transport_errors::TransportErrors;

/// A server that is assembled but not listening yet. Cheap to clone.
#[derive(Clone)]
pub struct Server {
    engine: Arc<Engine>,
    services: Services,
    routes: Routes,
    guard: Option<Arc<Guard>>,
    admission: Arc<Admission>,
    errors: TransportErrors,
    calls: Arc<Calls>,
    metrics: Registry,
    closing: Arc<watch::Sender<bool>>,
}

/// The options of one start, which are not part of the configuration.
#[derive(Default)]
pub struct Start {
    /// Another program's history, which is imported first.
    pub migrate: Option<PathBuf>,
    /// How the server announces on stdout that it serves.
    pub announce: Announce,
    /// The program whose end stops the server.
    pub owner: Option<Owner>,
    /// The socket to listen on, instead of the address in the settings.
    pub socket: Option<Passed>,
    /// What SIGHUP does besides reading certificates and credentials again.
    pub reload: Option<Reload>,
}

/// Reloads what only the server's caller can read.
pub type Reload = Box<dyn FnMut() + Send>;

/// Serves until the process is asked to stop (SIGTERM or SIGINT) or its owner ends; then answers the calls in flight.
pub async fn serve(settings: Settings, start: Start) -> Result<()> {
    let server = Server::of_process(&settings).await?;
    if let Some(file) = &start.migrate {
        server.migrate(file).await?;
    }
    server.listen(&settings, start).await
}

impl Server {
    /// Assembles the server that this process exists for, on the machine's clock.
    async fn of_process(settings: &Settings) -> Result<Self> {
        panics::log_panics();
        process::keep_pages_small();
        process::check_clock(settings)?;
        if settings.backend == Backend::Postgres {
            database::check(settings).await?;
        }
        Self::new(settings, Arc::new(SystemClock))
    }

    /// Assembles a server.
    pub fn new(settings: &Settings, clock: Arc<dyn Clock>) -> Result<Self> {
        Self::over(store(settings)?, settings, clock)
    }

    /// Assembles a server with the caller's models instead of those in the settings. They are used while
    /// [`Engine::run_llm_summaries`] and [`Engine::run_embedding`] run.
    pub fn with_models(settings: &Settings, models: Models, clock: Arc<dyn Clock>) -> Result<Self> {
        Self::of_parts(store(settings)?, models, settings, clock)
    }

    /// Assembles a server over the caller's store. If other processes share the store, the server follows their
    /// changes as long as it or a clone of it exists.
    pub fn over(store: Arc<dyn Store>, settings: &Settings, clock: Arc<dyn Clock>) -> Result<Self> {
        Self::of_parts(store, Models::of(settings)?, settings, clock)
    }

    /// Like [`Self::over`], with the caller's models (or none) instead of those in the settings.
    pub fn of_parts(
        store: Arc<dyn Store>,
        models: Models,
        settings: &Settings,
        clock: Arc<dyn Clock>,
    ) -> Result<Self> {
        let defaults = Defaults {
            policy: settings.policy()?,
            encoding: settings.encoding,
            timeouts: Timeouts { idle: settings.idle_timeout, awaiting: settings.awaiting_timeout },
            max_conversations_retained: settings.max_conversations_retained as usize,
            event_capacity: settings.event_capacity,
            cache_bytes: settings.cache_limit,
            index_bytes: index_bytes(settings),
        };
        settings.check_built()?;
        let (guard, run) = (Guard::new(settings, clock.clone())?, clock.unique());
        stores::hold_to_quotas(&*store, settings)?;
        let is_shared = store.capabilities().shared;
        let engine = Engine::new(store, clock, tokenizer::counter, defaults);
        let engine = match models.summarizer {
            Some(summarizer) => {
                let (concurrency, timeout) = (settings.llm_concurrency, settings.llm_timeout);
                engine.with_summarizer(summarizer, PROMPT_VERSION, concurrency, timeout)
            }
            None => engine,
        };
        let engine = Arc::new(match models.embedder {
            Some(embedder) => {
                let bytes = share(settings, EMBEDDING_BYTES);
                engine.with_embedder(embedder, settings.embedding_timeout, bytes)
            }
            None => engine,
        });
        let limits = RequestLimits {
            max_content_bytes: settings.max_content_bytes,
            max_batch: settings.max_batch,
            max_message_bytes: settings.max_message_bytes,
        };
        let closing = Arc::new(watch::Sender::new(false));
        if is_shared {
            heed_hints(engine.clone(), closing.subscribe());
        }
        let services = Services::new(engine.clone(), limits, closing.subscribe());
        let routes = services::routes(services.clone(), &engine, settings, closing.subscribe())?;
        let writer = engine.clone();
        let admission = Admission::new(settings, move || writer.is_store_behind());
        let errors = TransportErrors {
            max_call_duration: settings.max_call_duration,
            max_message_bytes: settings.max_message_bytes,
        };
        let calls = Calls::new(settings, run);
        let metrics = metrics::registry(&engine, &calls, &admission);
        Ok(Self { engine, services, routes, guard, admission, errors, calls, metrics, closing })
    }

    /// Adds `service`, behind the same layers.
    pub fn with_service(mut self, service: impl Serves) -> Self {
        self.routes = self.routes.with(service);
        self
    }

    /// Returns the server's engine.
    pub fn engine(&self) -> &Arc<Engine> {
        &self.engine
    }

    /// Returns the server's metrics.
    pub fn metrics(&self) -> &Registry {
        &self.metrics
    }

    /// Returns the services, which tests call without a connection; not a public API.
    #[doc(hidden)]
    pub fn services(&self) -> &Services {
        &self.services
    }

    /// Serves the connections of `incoming` on the current runtime until `shutdown`.
    pub async fn serve_connections<C>(
        self,
        incoming: impl Stream<Item = io::Result<C>>,
        shutdown: impl Future<Output = ()>,
    ) where
        C: AsyncRead + AsyncWrite + Connected + Unpin + Send + 'static,
    {
        let arriving = incoming.filter_map(|connection| ready(connection.ok().map(Arriving::near)));
        serve_calls(self.service(), arriving, shutdown).await;
    }

    /// Returns the services for one worker, behind their layers.
    fn service(&self) -> Stack {
        Stack {
            calls: self.calls.clone(),
            errors: self.errors,
            guard: self.guard.clone(),
            admitting: Admitting::new(self.admission.clone()),
            routes: self.routes.clone(),
        }
    }

    /// Returns the memory for the bodies of plain HTTP.
    #[cfg(feature = "inspector")]
    fn room(&self) -> Room {
        Room::new(self.admission.memory().clone(), self.guard.clone())
    }

    /// Reads the credentials again, if there are any.
    fn reload_credentials(&self) {
        if let Some(guard) = &self.guard {
            guard.reload();
        }
    }

    /// Describes how callers are authenticated.
    fn guarded_by(&self) -> String {
        self.guard.as_ref().map_or_else(|| "nothing".into(), |guard| guard.told())
    }

    /// Ends the endless streams of all clones with UNAVAILABLE, so that a server that is asked to stop does not wait
    /// for clients, and reports all services as not serving.
    pub fn close(&self) {
        self.closing.send_replace(true);
    }
}

/// Follows the changes of other processes, until the server closes or is dropped.
fn heed_hints(engine: Arc<Engine>, closing: watch::Receiver<bool>) {
    tokio::spawn(async move {
        tokio::select! {
            () = begin_anew("following other servers", || engine.clone().heed_hints()) => {}
            () = process::is_set(closing) => {}
        }
    });
}

/// Opens the store that the settings name.
fn store(settings: &Settings) -> Result<Arc<dyn Store>> {
    Ok(match settings.backend {
        Backend::Memory => {
            if settings.data_dir != Settings::default().data_dir {
                tracing::warn!("data_dir is set, but the backend in-memory keeps no files");
            }
            let limit = settings.memory_limit;
            let searches = index_bytes(settings) + embedding_bytes(settings);
            Arc::new(MemoryStore::new(limit.saturating_sub(if limit > 0 { searches } else { 0 })))
        }
        Backend::Durable(engine) => Arc::new(stores::open(engine, settings)?),
        Backend::Postgres => database::open(settings)?,
    })
}

/// The most memory for search indexes. If memory is limited, they are part of the limit.
fn index_bytes(settings: &Settings) -> u64 {
    share(settings, INDEX_BYTES)
}

/// The most memory for embeddings, if there are any.
fn embedding_bytes(settings: &Settings) -> u64 {
    if settings.embedding_base_url.is_some() { share(settings, EMBEDDING_BYTES) } else { 0 }
}

fn share(settings: &Settings, most: u64) -> u64 {
    match (&settings.backend, settings.memory_limit) {
        (Backend::Memory, limit @ 1..) => most.min(limit / INDEX_SHARE),
        _ => most,
    }
}
