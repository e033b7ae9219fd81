//! What several tests need: a clock that tests move, and a server at the end of a pipe.
#![allow(dead_code)] // each test uses its part

use std::{
    sync::{
        Arc,
        atomic::{AtomicI64, AtomicU64, Ordering},
    },
    time::Duration,
};

use futures::{StreamExt, stream};
use hyper_util::rt::TokioIo;
use tonic::transport::{Channel, Endpoint};
use tower::service_fn;
use utterd::{config::Settings, domain::Timestamp, engine::Clock, server::Server};

/// A clock that stands still until it is moved, and whose ids count up.
pub struct ManualClock {
    micros: AtomicI64,
    ids: AtomicU64,
}

impl ManualClock {
    /// A clock at noon of 1 March 2026, UTC.
    pub fn new() -> Arc<Self> {
        Arc::new(Self { micros: AtomicI64::new(1_772_366_400_000_000), ids: AtomicU64::new(0) })
    }

    /// Moves the clock on.
    pub fn advance(&self, duration: Duration) {
        let micros = i64::try_from(duration.as_micros()).expect("a test's duration");
        self.micros.fetch_add(micros, Ordering::SeqCst);
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        Timestamp(self.micros.load(Ordering::SeqCst))
    }

    fn unique(&self) -> u128 {
        u128::from(self.ids.fetch_add(1, Ordering::SeqCst)) + 1
    }
}

/// A server with the default settings and its clock.
pub fn server() -> (Server, Arc<ManualClock>) {
    server_with(&Settings::default())
}

/// A server with settings of the test's.
pub fn server_with(settings: &Settings) -> (Server, Arc<ManualClock>) {
    let clock = ManualClock::new();
    let server = Server::new(settings, clock.clone()).expect("the settings go together");
    (server, clock)
}

/// A client of `server`, over a pipe in memory.
pub async fn connect(server: &Server) -> Channel {
    let (near, far) = tokio::io::duplex(1 << 20);
    let incoming = stream::once(async { Ok(far) }).chain(stream::pending());
    tokio::spawn(server.clone().serve_connections(incoming, std::future::pending()));
    let mut near = Some(near);
    let connector = service_fn(move |_| {
        let near = near.take().ok_or_else(|| std::io::Error::other("the pipe is in use already"));
        async move { near.map(TokioIo::new) }
    });
    let endpoint = Endpoint::from_static("http://utterd.test");
    endpoint.connect_with_connector(connector).await.expect("a pipe connects")
}
