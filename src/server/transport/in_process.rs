//! A server whose callers are in the same process.

use std::io;

use futures::channel::mpsc;
use tokio::{
    io::{DuplexStream, duplex},
    sync::oneshot,
    task::JoinHandle,
    time::timeout,
};

use crate::server::chores::Chores;
use crate::{
    config::Settings,
    domain::limits::DEFAULT_DRAIN_TIMEOUT,
    server::{Announce, ServeError, Server, Start},
    tokenizer,
};

/// The bytes in transit between a caller and the server, at most, in each direction.
const PIPE_BYTES: usize = 1 << 20;

/// A server that does not listen: callers in the same process connect to it and speak ordinary gRPC.
pub struct InProcess {
    server: Server,
    callers: mpsc::UnboundedSender<io::Result<DuplexStream>>,
    stop: oneshot::Sender<()>,
    serving: JoinHandle<()>,
    chores: Chores,
}

/// Connects callers to a server in the same process.
#[derive(Clone)]
pub struct Connector(mpsc::UnboundedSender<io::Result<DuplexStream>>);

impl Connector {
    /// Opens a connection; fails once the server has stopped.
    pub fn connect(&self) -> io::Result<DuplexStream> {
        let (near, far) = duplex(PIPE_BYTES);
        self.0.unbounded_send(Ok(far)).map_err(|_| io::ErrorKind::ConnectionRefused)?;
        Ok(near)
    }
}

impl InProcess {
    /// Starts the server that `settings` describe on the current runtime; their address is ignored.
    pub async fn start(settings: &Settings) -> Result<Self, ServeError> {
        let server = Server::of_process(settings).await?;
        tracing::info!("guarded by {}", server.guarded_by());
        let encoding = settings.encoding;
        tokio::task::spawn_blocking(move || tokenizer::warm_up(encoding));
        let (callers, incoming) = mpsc::unbounded();
        let (stop, stopped) = oneshot::channel();
        let stopped = async move {
            let _ = stopped.await;
        };
        let serving = tokio::spawn(server.clone().serve_connections(incoming, stopped));
        let chores = Chores::start(server.engine(), settings).map_err(ServeError::Worker)?;
        Ok(Self { server, callers, stop, serving, chores })
    }

    /// Returns a connector for callers.
    pub fn connector(&self) -> Connector {
        Connector(self.callers.clone())
    }

    /// Continues as a server that listens where `settings` say, with all its data, until the process is asked to
    /// stop. Disconnects the callers in the process.
    pub async fn listen(self, settings: &Settings, announce: Announce) -> Result<(), ServeError> {
        let Self { server, callers, stop, chores, .. } = self;
        drop((callers, stop));
        chores.end().await;
        server.listen(settings, Start { announce, ..Start::default() }).await
    }

    /// Stops the server, after answering the calls in flight.
    pub async fn end(self) {
        let chores = self.chores.end();
        self.server.close();
        let _ = self.stop.send(());
        if timeout(DEFAULT_DRAIN_TIMEOUT, self.serving).await.is_err() {
            tracing::warn!("calls were still in flight when the server stopped");
        }
        chores.await;
    }
}
