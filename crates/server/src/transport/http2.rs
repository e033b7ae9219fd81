//! HTTP/2 on one connection, from its preface to its end.

use std::{convert::Infallible, future::ready, io, sync::Arc};

use futures::{Stream, StreamExt};
use http::{Request, Response};
use hyper::{body::Incoming, server::conn::http2};
use hyper_util::{
    rt::{TokioExecutor, TokioIo, TokioTimer},
    service::TowerToHyperService,
};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    sync::watch,
    time::timeout,
};
use tonic::body::Body;
use tower::{Service, ServiceExt};

use super::{
    activity::Activity,
    ending::{greeted, until_end},
};
use utterd_domain::limits::{
    CONNECTION_WINDOW, HANDSHAKE_TIMEOUT, HTTP2_PING_INTERVAL, HTTP2_PING_TIMEOUT, MAX_HEADER_BYTES,
    MAX_STREAMS, STREAM_WINDOW,
};

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

/// A connection that its own task makes ready, and its activity. It becomes a stream of bytes, its client, and what is kept
/// until the connection ends.
pub type Arriving<F> = (F, Arc<Activity>);

/// Accepts the connections of `incoming` until `shutdown`, then waits until they have ended.
pub async fn serve_all<C, P, K, F>(
    service: impl Serves,
    incoming: impl Stream<Item = Arriving<F>>,
    shutdown: impl Future<Output = ()>,
) where
    F: Future<Output = io::Result<(C, P, K)>> + Send + 'static,
    C: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    P: Clone + Send + Sync + 'static,
    K: Send + 'static,
{
    let (stopping, stopped) = watch::channel(false);
    let serving = incoming.for_each(|(arriving, activity)| {
        let (service, stop) = (service.clone(), stopped.clone());
        tokio::spawn(async move {
            match timeout(HANDSHAKE_TIMEOUT, arriving).await {
                Ok(Ok((connection, peer, kept))) => {
                    serve(service, connection, peer, activity, stop).await;
                    drop(kept);
                }
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
async fn serve<C, P>(
    service: impl Serves,
    connection: C,
    peer: P,
    activity: Arc<Activity>,
    stop: watch::Receiver<bool>,
) where
    C: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    P: Clone + Send + Sync + 'static,
{
    let of = activity.clone();
    let service = service.map_request(move |request: Request<Incoming>| {
        let mut request = request.map(Body::new);
        request.extensions_mut().insert(peer.clone());
        request.extensions_mut().insert(of.clone());
        request
    });
    let io = TokioIo::new(greeted(connection, activity.clone()));
    let served = builder().serve_connection(io, TowerToHyperService::new(service));
    until_end(served, &activity, stop).await;
}

fn builder() -> http2::Builder<TokioExecutor> {
    let mut builder = http2::Builder::new(TokioExecutor::new());
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
