//! Worker threads, each with a runtime of its own.
//!
//! A new connection goes to the worker with the fewest connections and stays there. So a call is
//! read, decided and answered on one core, which costs about half as much as the hand-overs of a
//! shared runtime.

use std::{io, sync::Arc, thread, time::Duration};

use futures::{FutureExt as _, future::join_all};
use tokio::sync::{mpsc, oneshot};
use tokio_stream::wrappers::UnboundedReceiverStream;

use super::{
    process::Thread,
    transport::{connection::Arriving, connections::Place, http, socket::Socket, tls::Accepting},
};
use crate::{Result, ServeError, Server};
use utterd_config::Settings;

/// The workers of a server.
pub struct Workers {
    workers: Vec<Worker>,
}

/// The load of a worker: each of its connections holds one.
type Load = Arc<()>;

struct Worker {
    connections: mpsc::UnboundedSender<Arriving>,
    load: Load,
    thread: Thread,
}

impl Workers {
    /// Starts as many workers as `settings` say.
    pub fn start(server: &Server, settings: &Settings) -> Result<Self> {
        let count = match settings.workers {
            0 => thread::available_parallelism().map_or(1, usize::from),
            count => count,
        };
        let workers = (0..count).map(|index| Worker::start(index, server.clone()));
        Ok(Self { workers: workers.collect::<Result<_, _>>().map_err(ServeError::Worker)? })
    }

    /// Hands a connection to the worker with the fewest connections.
    pub fn hand_over(&self, socket: Socket, tls: Option<Accepting>, place: Place) -> io::Result<()> {
        let free = self.workers.iter().min_by_key(|worker| Arc::strong_count(&worker.load));
        if let Some(worker) = free {
            let arriving = Arriving::new(socket, tls, place, worker.load.clone());
            worker.connections.send(arriving).map_err(|_| io::ErrorKind::BrokenPipe)?;
        }
        Ok(())
    }

    /// Stops the workers, and waits for the calls in flight, at most `patience`.
    pub async fn stop(self, patience: Duration) {
        let all = join_all(self.workers.into_iter().map(|worker| worker.thread.stop()));
        if tokio::time::timeout(patience, all).await.is_err() {
            tracing::warn!("calls were still in flight when the server stopped");
        }
    }
}

impl Worker {
    fn start(index: usize, server: Server) -> io::Result<Self> {
        let (connections, incoming) = mpsc::unbounded_channel();
        let name = format!("utterd-worker-{index}");
        let thread = Thread::start(&name, move |stop| serve(server, incoming, stop))?;
        Ok(Self { connections, load: Load::default(), thread })
    }
}

async fn serve(server: Server, connections: mpsc::UnboundedReceiver<Arriving>, stop: oneshot::Receiver<()>) {
    let connections = UnboundedReceiverStream::new(connections);
    http::serve_calls(server.service(), connections, stop.map(drop)).await;
}
