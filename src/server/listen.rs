//! Listening, worker threads, and a clean end.
//!
//! Each worker is a thread with a runtime of its own; a connection stays with the worker that
//! it is handed to, the one with the fewest. So a call is read, decided and answered on one
//! core, which costs about half of what a shared runtime's hand-overs do.

use std::{
    io,
    net::TcpStream as StdTcpStream,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, Poll},
    thread,
    time::Duration,
};

use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::{TcpListener, TcpStream},
    sync::{mpsc, watch},
};
use tokio_stream::{StreamExt, wrappers::UnboundedReceiverStream};
use tonic::transport::server::{Connected, TcpConnectInfo};

use crate::{
    config::Settings,
    server::{ServeError, Server},
    tokenizer,
};

/// Due work is looked for so often.
const SWEEP_INTERVAL: Duration = Duration::from_secs(10);
/// Calls in flight have so long to end when the server does.
const SHUTDOWN_GRACE: Duration = Duration::from_secs(10);

impl Server {
    /// Listens where `settings` say, prints where that is, and serves until the process is asked
    /// to end.
    pub async fn listen(self, settings: &Settings) -> Result<(), ServeError> {
        serve(self, settings).await
    }
}

async fn serve(server: Server, settings: &Settings) -> Result<(), ServeError> {
    let address = settings.listen;
    let failed = |error| ServeError::Listen { address, error };
    let listener = TcpListener::bind(address).await.map_err(failed)?;
    let address = listener.local_addr().map_err(failed)?;
    tokenizer::warm_up(settings.encoding);
    let workers = Workers::start(&server, settings)?;
    let sweeper = tokio::spawn(server.engine().clone().sweep_every(SWEEP_INTERVAL));
    let scrubber = tokio::spawn(server.engine().clone().scrub_every(settings.scrub_interval));
    let llm_summaries = tokio::spawn(server.engine().clone().run_llm_summaries());
    announce(address);
    tokio::select! {
        () = accept(&listener, &workers) => {}
        () = asked_to_end() => {}
    }
    drop(listener);
    sweeper.abort();
    scrubber.abort();
    llm_summaries.abort();
    server.close_streams();
    workers.stop().await;
    Ok(())
}

fn announce(address: std::net::SocketAddr) {
    println!(
        "utterd {} listening on {address}\ntry it: utterd --help, or\n  grpcurl -plaintext -d '{{\"utterances\":[{{\"role\":\"ROLE_USER\",\"content\":\"hi\"}}]}}' {address} utterd.v1.MemoryService/Memorize",
        env!("CARGO_PKG_VERSION")
    );
}

async fn accept(listener: &TcpListener, workers: &Workers) {
    loop {
        match listener.accept().await {
            Ok((connection, _)) => {
                if let Err(error) = workers.hand_over(connection) {
                    tracing::warn!(%error, "could not hand a connection to a worker");
                }
            }
            // out of descriptors, most likely: there will be some when connections end
            Err(error) => {
                tracing::warn!(%error, "could not accept a connection");
                tokio::time::sleep(std::time::Duration::from_millis(100)).await;
            }
        }
    }
}

async fn asked_to_end() {
    let terminated = async {
        match tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate()) {
            Ok(mut signal) => {
                signal.recv().await;
            }
            Err(_) => std::future::pending().await,
        }
    };
    tokio::select! {
        () = terminated => {}
        _ = tokio::signal::ctrl_c() => {}
    }
}

struct Workers {
    workers: Vec<Worker>,
    stop: watch::Sender<bool>,
}

struct Worker {
    connections: mpsc::UnboundedSender<StdTcpStream>,
    load: Arc<AtomicUsize>,
    done: mpsc::Receiver<()>,
}

impl Workers {
    fn start(server: &Server, settings: &Settings) -> Result<Self, ServeError> {
        let count = match settings.workers {
            0 => thread::available_parallelism().map_or(1, usize::from),
            count => count,
        };
        let stop = watch::Sender::new(false);
        let workers = (0..count).map(|index| Worker::start(index, server.clone(), stop.subscribe()));
        Ok(Self { workers: workers.collect::<Result<_, _>>().map_err(ServeError::Worker)?, stop })
    }

    /// Hands a connection to the worker with the fewest.
    fn hand_over(&self, connection: TcpStream) -> io::Result<()> {
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
    async fn stop(mut self) {
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
    let incoming = UnboundedReceiverStream::new(connections).map(move |connection| {
        let load = Counted(load.clone());
        Ok(Connection { stream: TcpStream::from_std(connection)?, _load: load })
    });
    let stopped = async move {
        let _ = stop.wait_for(|stop| *stop).await;
    };
    server.serve_connections(incoming, stopped).await
}

/// A connection that counts as its worker's load until it ends.
struct Connection {
    stream: TcpStream,
    _load: Counted,
}

struct Counted(Arc<AtomicUsize>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Connected for Connection {
    type ConnectInfo = TcpConnectInfo;

    fn connect_info(&self) -> Self::ConnectInfo {
        self.stream.connect_info()
    }
}

impl AsyncRead for Connection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for Connection {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffers: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(context, buffers)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}
