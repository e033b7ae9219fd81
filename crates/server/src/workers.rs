//! Worker threads, each with a runtime of its own.
//!
//! A new connection goes to the worker with the fewest connections and stays there. So a call is
//! read, decided and answered on one core, which costs about half as much as the hand-overs of a
//! shared runtime.

use std::{io, sync::Arc, thread, time::Duration};

use futures::future::BoxFuture;
use tokio::sync::{mpsc, oneshot, watch};
use tokio_stream::wrappers::UnboundedReceiverStream;

use super::{
    process,
    transport::{
        connection::{Met, arriving},
        connections::Place,
        http::{self, Arriving},
        socket::Socket,
        tls::Accepting,
    },
};
use crate::{Result, ServeError, Server};
use utterd_config::Settings;

/// The workers of a server.
pub struct Workers {
    workers: Vec<Worker>,
    stop: watch::Sender<bool>,
}

/// The load of a worker: each of its connections holds one.
type Load = Arc<()>;

type Handed = Arriving<BoxFuture<'static, io::Result<Met<Load>>>>;

struct Worker {
    connections: mpsc::UnboundedSender<Handed>,
    load: Load,
    done: oneshot::Receiver<()>,
}

impl Workers {
    /// Starts as many workers as `settings` say.
    pub fn start(server: &Server, settings: &Settings) -> Result<Self> {
        let count = match settings.workers {
            0 => thread::available_parallelism().map_or(1, usize::from),
            count => count,
        };
        let stop = watch::Sender::new(false);
        let workers = (0..count).map(|index| Worker::start(index, server.clone(), stop.subscribe()));
        Ok(Self { workers: workers.collect::<Result<_, _>>().map_err(ServeError::Worker)?, stop })
    }

    /// Hands a connection to the worker with the fewest connections.
    pub fn hand_over(&self, socket: Socket, tls: Option<Accepting>, place: Place) -> io::Result<()> {
        let free = self.workers.iter().min_by_key(|worker| Arc::strong_count(&worker.load));
        if let Some(worker) = free {
            let (met, activity) = arriving(socket, tls, place, worker.load.clone());
            worker.connections.send((Box::pin(met), activity)).map_err(|_| io::ErrorKind::BrokenPipe)?;
        }
        Ok(())
    }

    /// Stops the workers, and waits for the calls in flight, at most `patience`.
    pub async fn stop(mut self, patience: Duration) {
        self.stop.send_replace(true);
        let all = async {
            for worker in &mut self.workers {
                let _ = (&mut worker.done).await;
            }
        };
        if tokio::time::timeout(patience, all).await.is_err() {
            tracing::warn!("calls were still in flight when the server stopped");
        }
    }
}

impl Worker {
    fn start(index: usize, server: Server, stop: watch::Receiver<bool>) -> io::Result<Self> {
        let (connections, incoming) = mpsc::unbounded_channel();
        let name = format!("utterd-worker-{index}");
        let done = process::spawn(&name, move || serve(server, incoming, stop))?;
        Ok(Self { connections, load: Load::default(), done })
    }
}

async fn serve(
    server: Server,
    connections: mpsc::UnboundedReceiver<Handed>,
    mut stop: watch::Receiver<bool>,
) {
    let stopped = async move {
        let _ = stop.wait_for(|stop| *stop).await;
    };
    http::serve_calls(server.service(), UnboundedReceiverStream::new(connections), stopped).await;
}
