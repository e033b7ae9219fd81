//! Support for several tests: a clock that tests control, and a server at the end of a pipe.
//!
//! A server keeps its store in memory, unless its test runs [`on`] another backend.
#![allow(dead_code)] // each test uses its part

pub mod binary;
pub mod embedder;
pub mod faults;
pub mod gate;
pub mod model;
pub mod pipe;
pub mod postgres;
pub mod pty;
pub mod random;
pub mod refusal;
pub mod schema;
pub mod session;
pub mod shared;
pub mod wire;

/// What most tests use: the messages of the protos, a session with a server, and what makes and checks calls.
pub mod prelude {
    #[allow(unused_imports)] // each test uses its part
    pub use super::{ManualClock, gate::Gate, refusal::Refused, session::*};
    #[allow(unused_imports)]
    pub use std::{sync::Arc, time::Duration};
    #[allow(unused_imports)]
    pub use {
        serde_json::{Value, json},
        tonic::{Code, Request, Status},
        utterd::{config::Settings, proto::*, store::MemoryStore},
    };
}

use std::{
    cell::Cell,
    env, future, io,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicI64, AtomicU64, Ordering},
    },
    time::Duration,
};

use futures::channel::mpsc;
use http::Uri;
use hyper_util::rt::TokioIo;
use libtest_mimic::{Completion, Trial};
use tempfile::TempDir;
use tokio::io::DuplexStream;
use tonic::transport::{Channel, Endpoint};
use tower::{Service, service_fn};
use utterd::{
    config::{Backend, DurableEngine, Settings},
    domain::Timestamp,
    engine::Clock,
    server::{ServeError, Server},
};

use schema::Schema;

/// A number from the environment.
pub fn asked(variable: &str) -> Option<u64> {
    env::var(variable).ok().map(|value| match value.parse() {
        Ok(number) => number,
        Err(_) => panic!("{variable} is {value:?}, which is no number"),
    })
}

/// A clock that stands still until it is moved, and whose ids count up.
pub struct ManualClock {
    micros: AtomicI64,
    /// The microseconds by which it was moved forward.
    passed: AtomicU64,
    ids: AtomicU64,
    /// Where the server's store is, if it has a place of its own. A server drops its clock after its store, so
    /// the place outlives its use.
    place: Place,
}

/// Where a store is.
enum Place {
    Memory,
    Files(DurableEngine, TempDir),
    Database(Schema),
}

impl Place {
    /// A new one.
    fn new(backend: Backend) -> Self {
        match backend {
            Backend::Memory => Self::Memory,
            Backend::Durable(engine) => Self::Files(engine, tempfile::tempdir().expect("a directory")),
            Backend::Postgres => {
                Self::Database(Schema::new(postgres::shared().expect("there is PostgreSQL")))
            }
        }
    }

    /// The settings of a server whose store is here.
    fn settings(&self, settings: &Settings) -> Settings {
        let settings = settings.clone();
        match self {
            Self::Memory => Settings { backend: Backend::Memory, ..settings },
            Self::Files(engine, directory) => {
                let (backend, data_dir) = (Backend::Durable(*engine), directory.path().to_owned());
                Settings { backend, data_dir, ..settings }
            }
            Self::Database(schema) => schema.settings(&settings),
        }
    }
}

impl ManualClock {
    /// A clock at noon of 1 March 2026, UTC.
    pub fn new() -> Arc<Self> {
        Self::with(Place::Memory)
    }

    fn with(place: Place) -> Arc<Self> {
        let (micros, passed, ids) =
            (AtomicI64::new(1_772_366_400_000_000), AtomicU64::new(0), AtomicU64::new(0));
        Arc::new(Self { micros, passed, ids, place })
    }

    /// Moves the clock forward.
    pub fn advance(&self, duration: Duration) {
        let micros = i64::try_from(duration.as_micros()).expect("a test's duration");
        self.micros.fetch_add(micros, Ordering::SeqCst);
        self.passed.fetch_add(micros.unsigned_abs(), Ordering::SeqCst);
    }

    /// Sets the clock back.
    pub fn set_back(&self, duration: Duration) {
        let micros = i64::try_from(duration.as_micros()).expect("a test's duration");
        self.micros.fetch_sub(micros, Ordering::SeqCst);
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        Timestamp(self.micros.load(Ordering::SeqCst))
    }

    fn elapsed(&self) -> Duration {
        Duration::from_micros(self.passed.load(Ordering::SeqCst))
    }

    fn unique(&self) -> u128 {
        u128::from(self.ids.fetch_add(1, Ordering::SeqCst)) + 1
    }
}

/// A server with the default settings and its clock.
pub fn server() -> (Server, Arc<ManualClock>) {
    server_with(&Settings::default())
}

/// A server with the given settings over its own store.
pub fn server_with(settings: &Settings) -> (Server, Arc<ManualClock>) {
    let (settings, clock) = placed(settings);
    let server = Server::new(&settings, clock.clone()).expect("the settings go together");
    (server, clock)
}

/// The next server over the store of one that was dropped, which has the same clock.
pub fn restarted(settings: &Settings, clock: &Arc<ManualClock>) -> Server {
    Server::new(&clock.place.settings(settings), clock.clone()).expect("the settings go together")
}

/// The settings with a new store, and a clock that keeps it.
fn placed(settings: &Settings) -> (Settings, Arc<ManualClock>) {
    let place = Place::new(BACKEND.get());
    (place.settings(settings), ManualClock::with(place))
}

thread_local! {
    /// Where the servers of this thread's test keep their stores.
    static BACKEND: Cell<Backend> = const { Cell::new(Backend::Memory) };
}

/// Runs a test whose servers keep their stores in `backend`.
pub fn on<T>(backend: Backend, test: impl FnOnce() -> T) -> T {
    /// Sets it back, also if the test fails.
    struct Back;
    impl Drop for Back {
        fn drop(&mut self) {
            BACKEND.set(Backend::Memory);
        }
    }
    BACKEND.set(backend);
    let _back = Back;
    test()
}

/// A server with the given settings that keeps everything in memory.
pub fn server_in_memory(settings: &Settings, clock: &Arc<ManualClock>) -> Server {
    let settings = Settings { backend: Backend::Memory, ..settings.clone() };
    Server::new(&settings, clock.clone()).expect("the settings go together")
}

/// A server with the given settings over the store in `directory`, a new one if that is empty.
///
/// It must be dropped before another server is opened there.
pub fn server_in(
    directory: &Path,
    engine: DurableEngine,
    settings: &Settings,
    clock: &Arc<ManualClock>,
) -> Result<Server, ServeError> {
    let (backend, data_dir) = (Backend::Durable(engine), directory.to_owned());
    Server::new(&Settings { backend, data_dir, ..settings.clone() }, clock.clone())
}

/// A test whose error says what is missing here: it is ignored, or fails if `CI` is set.
pub fn possible(name: String, run: impl FnOnce() -> Result<(), String> + Send + 'static) -> Trial {
    Trial::ignorable_test(name, move || match run() {
        Ok(()) => Ok(Completion::Completed),
        Err(reason) if env::var_os("CI").is_some() => Err(reason.into()),
        Err(reason) => Ok(Completion::ignored_with(reason)),
    })
}

/// A client of `server`, over an in-memory pipe; as other clients do, it opens another when the server closes one.
pub async fn connect(server: &Server) -> Channel {
    let (connections, incoming) = mpsc::unbounded();
    tokio::spawn(server.clone().serve_connections(incoming, future::pending()));
    connected(service_fn(move |_| {
        let (near, far) = tokio::io::duplex(1 << 20);
        let opened = connections.unbounded_send(Ok::<_, io::Error>(far)).map_err(io::Error::other);
        future::ready(opened.map(|()| TokioIo::new(near)))
    }))
    .await
}

/// A client at this end of a pipe, which nothing follows.
pub async fn channel(near: DuplexStream) -> Channel {
    let mut near = Some(near);
    connected(service_fn(move |_| {
        future::ready(
            near.take().map(TokioIo::new).ok_or_else(|| io::Error::other("the pipe is in use already")),
        )
    }))
    .await
}

async fn connected<C>(connector: C) -> Channel
where
    C: Service<Uri, Response = TokioIo<DuplexStream>, Error = io::Error, Future: Send> + Send + 'static,
{
    let endpoint = Endpoint::from_static("http://utterd.test");
    endpoint.connect_with_connector(connector).await.expect("a pipe connects")
}
