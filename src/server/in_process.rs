//! A server whose callers are in its process.

use std::io;

use futures::channel::mpsc;
use tokio::{
    io::{DuplexStream, duplex},
    sync::oneshot,
    task::JoinHandle,
    time::timeout,
};

use super::chores::Chores;
use crate::{
    config::Settings,
    domain::limits::SHUTDOWN_GRACE,
    server::{Announce, ServeError, Server},
    tokenizer,
};

/// Bytes on their way between a caller and the server.
const PIPE_BYTES: usize = 1 << 20;

/// A server that listens nowhere: callers of its process connect to it, and speak gRPC as they would from elsewhere.
pub struct InProcess {
    server: Server,
    callers: mpsc::UnboundedSender<io::Result<DuplexStream>>,
    stop: oneshot::Sender<()>,
    serving: JoinHandle<()>,
    chores: Chores,
}

/// Connects callers to a server of their process.
#[derive(Clone)]
pub struct Connector(mpsc::UnboundedSender<io::Result<DuplexStream>>);

impl Connector {
    /// A connection, which fails once the server has ended.
    pub fn connect(&self) -> io::Result<DuplexStream> {
        let (near, far) = duplex(PIPE_BYTES);
        self.0.unbounded_send(Ok(far)).map_err(|_| io::ErrorKind::ConnectionRefused)?;
        Ok(near)
    }
}

impl InProcess {
    /// Starts the server that `settings` describe, on the present runtime; where it would listen does not matter.
    pub fn start(settings: &Settings) -> Result<Self, ServeError> {
        let server = Server::of_process(settings)?;
        tracing::info!("guarded by {}", server.guarded_by());
        let encoding = settings.encoding;
        tokio::task::spawn_blocking(move || tokenizer::warm_up(encoding));
        let (callers, incoming) = mpsc::unbounded();
        let (stop, stopped) = oneshot::channel();
        let stopped = async move {
            let _ = stopped.await;
        };
        let serving = tokio::spawn(server.clone().serve_connections(incoming, stopped));
        let chores = Chores::start(server.engine(), settings);
        Ok(Self { server, callers, stop, serving, chores })
    }

    /// What callers connect by.
    pub fn connector(&self) -> Connector {
        Connector(self.callers.clone())
    }

    /// Goes on as a server that listens where `settings` say, with all that it holds, until the process is asked to
    /// end. Callers of its process are gone then.
    pub async fn listen(self, settings: &Settings, announce: Announce) -> Result<(), ServeError> {
        let Self { server, callers, stop, chores, .. } = self;
        drop((callers, stop, chores));
        server.listen(settings, announce, None).await
    }

    /// Ends it: calls in flight are answered.
    pub async fn end(self) {
        drop(self.chores);
        self.server.close_streams();
        let _ = self.stop.send(());
        if timeout(SHUTDOWN_GRACE, self.serving).await.is_err() {
            tracing::warn!("calls were still in flight when the server ended");
        }
    }
}
