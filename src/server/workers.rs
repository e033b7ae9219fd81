//! Worker threads: each is a thread with a runtime of its own.
//!
//! A connection stays with the worker that it is handed to, the one with the fewest. So a call is
//! read, decided and answered on one core, which costs about half of what a shared runtime's
//! hand-overs do.

use std::{
    io,
    net::TcpStream as StdTcpStream,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::Duration,
};

use tokio::{
    net::TcpStream,
    sync::{mpsc, watch},
};
use tokio_stream::{StreamExt, wrappers::UnboundedReceiverStream};

use super::connection::{Connection, Counted};
use crate::{
    config::Settings,
    server::{ServeError, Server},
};

/// Calls in flight have so long to end when the server does.
const SHUTDOWN_GRACE: Duration = Duration::from_secs(10);

/// The workers of a server.
pub struct Workers {
    workers: Vec<Worker>,
    stop: watch::Sender<bool>,
}

struct Worker {
    connections: mpsc::UnboundedSender<StdTcpStream>,
    load: Arc<AtomicUsize>,
    done: mpsc::Receiver<()>,
}

impl Workers {
    /// Starts as many as `settings` say.
    pub fn start(server: &Server, settings: &Settings) -> Result<Self, ServeError> {
        let count = match settings.workers {
            0 => thread::available_parallelism().map_or(1, usize::from),
            count => count,
        };
        let stop = watch::Sender::new(false);
        let workers = (0..count).map(|index| Worker::start(index, server.clone(), stop.subscribe()));
        Ok(Self { workers: workers.collect::<Result<_, _>>().map_err(ServeError::Worker)?, stop })
    }

    /// Hands a connection to the worker with the fewest.
    pub fn hand_over(&self, connection: TcpStream) -> io::Result<()> {
        connection.set_nodelay(true)?;
        let connection = connection.into_std()?;
        let free = self.workers.iter().min_by_key(|worker| worker.load.load(Ordering::Relaxed));
        if let Some(worker) = free {
            worker.load.fetch_add(1, Ordering::Relaxed);
            worker.connections.send(connection).map_err(|_| io::ErrorKind::BrokenPipe)?;
        }
        Ok(())
    }

    /// Lets calls in flight end, for a while.
    pub async fn stop(mut self) {
        self.stop.send_replace(true);
        let all = async {
            for worker in &mut self.workers {
                worker.done.recv().await;
            }
        };
        if tokio::time::timeout(SHUTDOWN_GRACE, all).await.is_err() {
            tracing::warn!("calls were still in flight when the server ended");
        }
    }
}

impl Worker {
    fn start(index: usize, server: Server, stop: watch::Receiver<bool>) -> io::Result<Self> {
        let (connections, incoming) = mpsc::unbounded_channel();
        let (finished, done) = mpsc::channel(1);
        let load = Arc::new(AtomicUsize::new(0));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let shared_load = load.clone();
        thread::Builder::new().name(format!("utterd-worker-{index}")).spawn(move || {
            let served = runtime.block_on(serve_connections(server, incoming, shared_load, stop));
            if let Err(error) = served {
                tracing::error!(%error, "a worker failed");
            }
            drop(finished);
        })?;
        Ok(Self { connections, load, done })
    }
}

async fn serve_connections(
    server: Server,
    connections: mpsc::UnboundedReceiver<StdTcpStream>,
    load: Arc<AtomicUsize>,
    mut stop: watch::Receiver<bool>,
) -> Result<(), ServeError> {
    let incoming = UnboundedReceiverStream::new(connections)
        .map(move |connection| Ok(Connection::new(TcpStream::from_std(connection)?, Counted::of(&load))));
    let stopped = async move {
        let _ = stop.wait_for(|stop| *stop).await;
    };
    server.serve_connections(incoming, stopped).await
}
