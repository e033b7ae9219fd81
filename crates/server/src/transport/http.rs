//! HTTP on one connection, from its first bytes to its end.

use std::{convert::Infallible, future::ready, pin::pin, sync::Arc, time::Duration};

use bytes::Bytes;
use futures::{Stream, StreamExt};
use http::{Request, Response};
use hyper::{body::Incoming, service::service_fn};
use hyper_util::{
    rt::{TokioExecutor, TokioIo, TokioTimer},
    server::{conn::auto, graceful::GracefulConnection},
};
use tokio::{sync::watch, time::timeout};
use tokio_util::io::InspectReader;
use tonic::body::Body;
use tower::Service;

use super::{
    activity::{Activity, End},
    connection::{Arriving, Ready},
    socket::Stream as ByteStream,
};
use crate::stack::Stack;
use utterd_domain::limits::{
    CONNECTION_WINDOW, EVICTION_GRACE, HTTP_PATIENCE, HTTP2_PING_INTERVAL, HTTP2_PING_TIMEOUT, IDLE_GRACE,
    MAX_HEADER_BYTES, MAX_STREAMS, SEND_BUFFER_BYTES, STREAM_WINDOW,
};

/// The bytes that a client sends before its connection counts as used: the preface of HTTP/2 (RFC 9113, 3.4), which is
/// shorter than the head of any request of HTTP/1.
const GREETING_BYTES: usize = 24;

type Builder = auto::Builder<TokioExecutor>;

/// HTTP/2, for gRPC.
pub fn for_calls() -> Builder {
    let mut builder = Builder::new(TokioExecutor::new()).http2_only();
    builder
        .http2()
        .timer(TokioTimer::new())
        .initial_stream_window_size(STREAM_WINDOW)
        .initial_connection_window_size(CONNECTION_WINDOW)
        .keep_alive_interval(HTTP2_PING_INTERVAL)
        .keep_alive_timeout(HTTP2_PING_TIMEOUT)
        .max_concurrent_streams(MAX_STREAMS)
        .max_send_buf_size(SEND_BUFFER_BYTES)
        .max_header_list_size(MAX_HEADER_BYTES);
    builder
}

/// HTTP/1, for pages and metrics.
pub fn for_pages() -> Builder {
    let mut builder = Builder::new(TokioExecutor::new()).http1_only();
    builder.http1().timer(TokioTimer::new()).header_read_timeout(HTTP_PATIENCE);
    builder
}

/// Serves the calls of the connections of `incoming` until `shutdown`, then waits until they have ended.
pub async fn serve_calls(
    service: Stack,
    incoming: impl Stream<Item = Arriving>,
    shutdown: impl Future<Output = ()>,
) {
    let answer = move |request: Request<Incoming>| service.clone().call(request.map(Body::new));
    serve(for_calls(), answer, incoming, shutdown).await;
}

/// Answers the requests of the connections of `incoming` until `shutdown`, then waits until those in flight are answered.
/// `answer` is called as soon as the head of a request has arrived; the request has the activity of its connection, and
/// its client, in its extensions.
pub async fn serve<A, B, R>(
    builder: Builder,
    answer: A,
    incoming: impl Stream<Item = Arriving>,
    shutdown: impl Future<Output = ()>,
) where
    A: Fn(Request<Incoming>) -> R + Clone + Send + 'static,
    R: Future<Output = Result<Response<B>, Infallible>> + Send + 'static,
    B: http_body::Body<Data = Bytes, Error: std::error::Error + Send + Sync> + Send + 'static,
{
    let (stopping, stopped) = watch::channel(false);
    let serving = incoming.for_each(|Arriving { ready: arriving, activity }| {
        let (builder, answer, stop) = (builder.clone(), answer.clone(), stopped.clone());
        tokio::spawn(async move {
            let met = tokio::select! {
                met = arriving => met,
                end = activity.end() => return tracing::debug!(?end, "a client did not set up its connection"),
            };
            match met {
                Ok(Ready { stream, peer, kept }) => {
                    let (io, of) = (TokioIo::new(greeted(stream, activity.clone())), activity.clone());
                    let requests = service_fn(move |mut request: Request<Incoming>| {
                        let extensions = request.extensions_mut();
                        extensions.insert(of.clone());
                        peer.clone().map(|peer| extensions.insert(peer));
                        answer(request)
                    });
                    until_end(builder.serve_connection(io, requests), &activity, stop).await;
                    drop(kept);
                }
                Err(error) => tracing::debug!(%error, "a connection failed before its first call"),
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
    // each connection keeps a receiver until it ends
    stopping.closed().await;
}

/// Serves a connection until it ends by itself, has to end, or `stop` is true.
async fn until_end(
    served: impl GracefulConnection<Error = Box<dyn std::error::Error + Send + Sync>>,
    activity: &Activity,
    mut stop: watch::Receiver<bool>,
) {
    let mut served = pin!(served);
    let grace = tokio::select! {
        biased;
        result = served.as_mut() => return tell(result),
        grace = grace(activity, &mut stop) => grace,
    };
    served.as_mut().graceful_shutdown();
    match timeout(grace, served).await {
        Ok(result) => tell(result),
        Err(_) => tracing::debug!("closed a connection that did not end by itself"),
    }
}

/// Waits until the connection has to end, and returns how long it has to finish.
async fn grace(activity: &Activity, stop: &mut watch::Receiver<bool>) -> Duration {
    tokio::select! {
        end = activity.end() => {
            tracing::debug!(?end, "closing a connection");
            match end {
                End::Silent | End::Unread => Duration::ZERO,
                End::Idle | End::Untrusted => IDLE_GRACE,
                End::Evicted => EVICTION_GRACE,
            }
        }
        // the code that stops the server decides how long to wait
        _ = stop.wait_for(|stop| *stop) => Duration::MAX,
    }
}

fn tell(result: Result<(), Box<dyn std::error::Error + Send + Sync>>) {
    if let Err(error) = result {
        tracing::debug!(%error, "a connection failed");
    }
}

/// Makes a connection note in `activity` when its client has begun to use it.
fn greeted(
    stream: Box<dyn ByteStream>,
    activity: Arc<Activity>,
) -> InspectReader<Box<dyn ByteStream>, impl FnMut(&[u8])> {
    let mut read = 0;
    InspectReader::new(stream, move |bytes| {
        if read < GREETING_BYTES {
            read += bytes.len();
            if read >= GREETING_BYTES {
                activity.greet();
            }
        }
    })
}
