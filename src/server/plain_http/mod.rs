//! Plain HTTP/1, for the listeners beside gRPC's.

use std::{convert::Infallible, sync::Arc, time::Duration};

use bytes::Bytes;
use http::{Request, Response, StatusCode, header::CONTENT_TYPE};
use http_body_util::Full;
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    sync::{OwnedSemaphorePermit, Semaphore},
    time::sleep,
};

use super::{
    ServeError,
    socket::{Listener, Socket},
};
use crate::{
    config::Listen,
    domain::limits::{HTTP_CONNECTIONS, HTTP_PATIENCE},
};

/// An answer.
pub type Answer = Response<Full<Bytes>>;

/// How long to wait after a failed accept: most likely, the process is out of descriptors.
const NEXT_ATTEMPT: Duration = Duration::from_millis(100);

/// Binds an address, if there is one; the log says what is served there.
pub async fn bind(
    listen: Option<&Listen>,
    socket_mode: u32,
    served: &str,
) -> Result<Option<Listener>, ServeError> {
    let Some(listen) = listen else { return Ok(None) };
    let failed = |error| ServeError::Listen { address: listen.clone(), error };
    let listener = Listener::bind(listen, socket_mode).await.map_err(failed)?;
    tracing::info!("{served} on {}", listener.address().map_err(failed)?);
    Ok(Some(listener))
}

/// Answers the requests to `listener` with `answer`, until this is dropped. The answers that are under way then are
/// finished.
pub async fn serve<H, F>(listener: Listener, answer: H)
where
    H: Fn(Request<Incoming>) -> F + Clone + Send + 'static,
    F: Future<Output = Answer> + Send + 'static,
{
    let places = Arc::new(Semaphore::new(HTTP_CONNECTIONS));
    loop {
        let Ok(place) = places.clone().acquire_owned().await else { return };
        match listener.accept().await.map(Socket::into_stream) {
            Ok(stream) => attend(stream, place, answer.clone()),
            Err(error) => {
                tracing::warn!(%error, "could not accept a connection");
                sleep(NEXT_ATTEMPT).await;
            }
        }
    }
}

/// Serves one connection in a task.
fn attend<H, F>(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    place: OwnedSemaphorePermit,
    answer: H,
) where
    H: Fn(Request<Incoming>) -> F + Send + 'static,
    F: Future<Output = Answer> + Send + 'static,
{
    let requests = service_fn(move |request| {
        let answer = answer(request);
        async move { Ok::<_, Infallible>(answer.await) }
    });
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(HTTP_PATIENCE);
    let connection = builder.serve_connection(TokioIo::new(stream), requests);
    tokio::spawn(async move {
        if let Err(error) = connection.await {
            tracing::debug!(%error, "a connection failed");
        }
        drop(place);
    });
}

/// An answer with a text.
pub fn text(status: StatusCode, kind: &'static str, text: impl Into<Bytes>) -> Answer {
    let mut answer = Response::new(Full::new(text.into()));
    *answer.status_mut() = status;
    answer.headers_mut().insert(CONTENT_TYPE, http::HeaderValue::from_static(kind));
    answer
}
