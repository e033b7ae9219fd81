//! HTTP/2 on one connection, from its preface to its end.

use std::{
    convert::Infallible,
    future::ready,
    io,
    pin::{Pin, pin},
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use futures::{Stream, StreamExt};
use http::{Request, Response};
use hyper::{body::Incoming, rt::Executor, server::conn::http2};
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    service::TowerToHyperService,
};
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    sync::watch,
    time::timeout,
};
use tonic::{body::Body, transport::server::Connected};
use tower::{Service, ServiceExt};

use super::activity::{Activity, End};
use crate::domain::limits::{
    CONNECTION_WINDOW, EVICTION_GRACE, HANDSHAKE_TIMEOUT, HTTP2_PING_INTERVAL, HTTP2_PING_TIMEOUT,
    IDLE_GRACE, MAX_HEADER_BYTES, MAX_STREAMS, STREAM_WINDOW,
};

/// The length of the preface that a client sends first (RFC 9113, 3.4).
const PREFACE_BYTES: usize = 24;

/// A service that serves calls.
pub trait Serves:
    Service<Request<Body>, Response = Response<Body>, Error = Infallible, Future: Send> + Clone + Send + 'static
{
}

impl<S> Serves for S where
    S: Service<Request<Body>, Response = Response<Body>, Error = Infallible, Future: Send>
        + Clone
        + Send
        + 'static
{
}

/// A connection that its own task makes ready, and its activity.
pub type Arriving<F> = (F, Arc<Activity>);

/// Accepts the connections of `incoming` until `shutdown`, then waits until they have ended.
pub async fn serve_all<C, F>(
    service: impl Serves,
    incoming: impl Stream<Item = Arriving<F>>,
    shutdown: impl Future<Output = ()>,
) where
    F: Future<Output = io::Result<C>> + Send + 'static,
    C: AsyncRead + AsyncWrite + Connected + Unpin + Send + 'static,
    C::ConnectInfo: Clone + Send + Sync + 'static,
{
    let (stopping, stopped) = watch::channel(false);
    let serving = incoming.for_each(|(arriving, activity)| {
        let (service, stop) = (service.clone(), stopped.clone());
        tokio::spawn(async move {
            match timeout(HANDSHAKE_TIMEOUT, arriving).await {
                Ok(Ok(connection)) => serve(service, connection, activity, stop).await,
                Ok(Err(error)) => tracing::debug!(%error, "a connection failed before its first call"),
                Err(_) => tracing::debug!("a client took too long to set up its connection"),
            }
        });
        ready(())
    });
    tokio::select! {
        () = serving => {}
        () = shutdown => {}
    }
    stopping.send_replace(true);
    drop(stopped);
    stopping.closed().await;
}

/// Serves the calls of `connection` until it ends by itself, has to end, or `stop` is true. Keeps `stop` until then:
/// [`serve_all`] waits for it.
async fn serve<C>(
    service: impl Serves,
    connection: C,
    activity: Arc<Activity>,
    mut stop: watch::Receiver<bool>,
) where
    C: AsyncRead + AsyncWrite + Connected + Unpin + Send + 'static,
    C::ConnectInfo: Clone + Send + Sync + 'static,
{
    let (peer, of) = (connection.connect_info(), activity.clone());
    let service = service.map_request(move |request: Request<Incoming>| {
        let mut request = request.map(Body::new);
        request.extensions_mut().insert(peer.clone());
        request.extensions_mut().insert(of.clone());
        request
    });
    let io = TokioIo::new(Greeted { connection, read: 0, activity: activity.clone() });
    let mut served = pin!(builder(&activity).serve_connection(io, TowerToHyperService::new(service)));
    let grace = tokio::select! {
        biased;
        result = served.as_mut() => return tell(result),
        grace = grace(&activity, &mut stop) => grace,
    };
    served.as_mut().graceful_shutdown();
    match timeout(grace, served).await {
        Ok(result) => tell(result),
        Err(_) => tracing::debug!("closed a connection that did not end by itself"),
    }
}

fn builder(activity: &Arc<Activity>) -> http2::Builder<Calls> {
    let mut builder = http2::Builder::new(Calls(activity.clone()));
    builder
        .timer(TokioTimer::new())
        .initial_stream_window_size(STREAM_WINDOW)
        .initial_connection_window_size(CONNECTION_WINDOW)
        .keep_alive_interval(HTTP2_PING_INTERVAL)
        .keep_alive_timeout(HTTP2_PING_TIMEOUT)
        .max_concurrent_streams(MAX_STREAMS)
        .max_header_list_size(MAX_HEADER_BYTES);
    builder
}

/// Waits until the connection has to end, and returns how long it has to finish.
async fn grace(activity: &Activity, stop: &mut watch::Receiver<bool>) -> Duration {
    tokio::select! {
        end = activity.end() => {
            tracing::debug!(?end, "closing a connection");
            match end {
                End::Silent => Duration::ZERO,
                End::Idle => IDLE_GRACE,
                End::Evicted => EVICTION_GRACE,
                End::Unread => Duration::ZERO,
            }
        }
        // the code that stops the server decides how long to wait
        _ = stop.wait_for(|stop| *stop) => Duration::MAX,
    }
}

fn tell(result: hyper::Result<()>) {
    if let Err(error) = result {
        tracing::debug!(%error, "a connection failed");
    }
}

/// Runs each call as a task, and counts it while it runs.
#[derive(Clone)]
struct Calls(Arc<Activity>);

impl<F> Executor<F> for Calls
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    fn execute(&self, call: F) {
        let going_on = self.0.call();
        tokio::spawn(async move {
            call.await;
            drop(going_on);
        });
    }
}

/// A connection that notes when the client's preface has arrived.
struct Greeted<C> {
    connection: C,
    /// The bytes read so far; not counted beyond the preface.
    read: usize,
    activity: Arc<Activity>,
}

impl<C: AsyncRead + Unpin> AsyncRead for Greeted<C> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let result = Pin::new(&mut self.connection).poll_read(context, buffer);
        if self.read < PREFACE_BYTES {
            self.read += buffer.filled().len().saturating_sub(before);
            if self.read >= PREFACE_BYTES {
                self.activity.greet();
            }
        }
        result
    }
}

impl<C: AsyncWrite + Unpin> AsyncWrite for Greeted<C> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.connection).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.connection).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.connection).poll_shutdown(context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffers: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.connection).poll_write_vectored(context, buffers)
    }

    fn is_write_vectored(&self) -> bool {
        self.connection.is_write_vectored()
    }
}
