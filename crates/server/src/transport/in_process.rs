//! A server whose callers are in the same process.

use std::io;

use futures::{Stream, StreamExt as _, channel::mpsc, future::join_all};
use tokio::{
    io::{DuplexStream, duplex},
    sync::watch,
    task::JoinHandle,
    time::timeout,
};

use super::{connection::Arriving, http::serve_calls};
use crate::{Announce, Result, ServeError, Server, Start, chores::Chores, process};
use utterd_config::Settings;
use utterd_domain::limits::DEFAULT_DRAIN_TIMEOUT;
use utterd_tokenizer as tokenizer;

/// The bytes in transit between a caller and the server, at most, in each direction.
const PIPE_BYTES: usize = 1 << 20;

/// A server that does not listen: callers in the same process connect to it and speak ordinary gRPC.
pub struct InProcess {
    server: Server,
    callers: mpsc::UnboundedSender<DuplexStream>,
    stop: watch::Sender<bool>,
    serving: Vec<JoinHandle<()>>,
    chores: Chores,
}

/// Connects callers to a server in the same process.
#[derive(Clone)]
pub struct Connector(mpsc::UnboundedSender<DuplexStream>);

impl Connector {
    /// Opens a connection; fails once the server has stopped.
    pub fn connect(&self) -> io::Result<DuplexStream> {
        let (near, far) = duplex(PIPE_BYTES);
        self.0.unbounded_send(far).map_err(|_| io::ErrorKind::ConnectionRefused)?;
        Ok(near)
    }
}

impl InProcess {
    /// Starts the server that `settings` describe on the current runtime; their address is ignored.
    pub async fn start(settings: &Settings) -> Result<Self> {
        let server = Server::of_process(settings).await?;
        tracing::info!("guarded by {}", server.guarded_by());
        let encoding = settings.encoding;
        tokio::task::spawn_blocking(move || tokenizer::warm_up(encoding));
        let (callers, incoming) = mpsc::unbounded();
        let chores = Chores::start(server.engine(), settings).map_err(ServeError::Worker)?;
        let stop = watch::Sender::new(false);
        let mut own = Self { server, callers, stop, serving: Vec::new(), chores };
        own.serve_also(incoming.map(Arriving::near));
        Ok(own)
    }

    /// Also serves the connections of `incoming`.
    pub(super) fn serve_also(&mut self, incoming: impl Stream<Item = Arriving> + Send + 'static) {
        let stopped = process::is_set(self.stop.subscribe());
        self.serving.push(tokio::spawn(serve_calls(self.server.service(), incoming, stopped)));
    }

    /// Returns a connector for callers.
    pub fn connector(&self) -> Connector {
        Connector(self.callers.clone())
    }

    /// Continues as a server that listens where `settings` say, with all its data, until the process is asked to
    /// stop. Disconnects the callers in the process.
    pub async fn listen(self, settings: &Settings, announce: Announce) -> Result<()> {
        let Self { server, callers, stop, chores, .. } = self;
        drop((callers, stop));
        chores.end().await;
        server.listen(settings, Start { announce, ..Start::default() }).await
    }

    /// Stops the server, after answering the calls in flight.
    pub async fn end(self) {
        let chores = self.chores.end();
        self.server.close();
        self.stop.send_replace(true);
        if timeout(DEFAULT_DRAIN_TIMEOUT, join_all(self.serving)).await.is_err() {
            tracing::warn!("calls were still in flight when the server stopped");
        }
        chores.await;
    }
}
