//! A listener, and the connections that it accepts.

use std::{convert::Infallible, future::Future, io, sync::Arc};

use http::{HeaderValue, Request, StatusCode};
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::{sync::watch, time::timeout};

use super::{Answer, PLAIN, carried::id_of, host::unfit, text};
use crate::{
    Result, ServeError,
    calls::REQUEST_ID,
    transport::{
        activity::Activity,
        connection::meet,
        connections::{Connections, Place},
        ending::{greeted, until_end},
        socket::{Listener, Socket},
        tls::{Accepting, Tls},
        turn_away::TurnAway,
    },
};
use utterd_config::Listen;
use utterd_domain::limits::{HANDSHAKE_TIMEOUT, HTTP_CONNECTIONS, HTTP_PATIENCE};
use utterd_telemetry::panics::{Panicked, Within};

/// A listener that is bound to its address.
pub struct Bound {
    listener: Listener,
    address: Listen,
    tls: Option<Arc<Tls>>,
    /// Whether requests of other sites' web pages are refused.
    is_private: bool,
}

impl Bound {
    /// Binds the address of `flag`, if there is one; the log says what is `served` there.
    pub async fn new(
        listen: Option<&Listen>,
        socket_mode: u32,
        flag: &'static str,
        served: &str,
    ) -> Result<Option<Self>> {
        let Some(listen) = listen else { return Ok(None) };
        let failed = |error| ServeError::Listen { flag, address: listen.clone(), error };
        let listener = Listener::bind(listen, socket_mode).await.map_err(failed)?;
        let address = listener.address().map_err(failed)?;
        tracing::info!("{served} on {address}");
        Ok(Some(Self { listener, address, tls: None, is_private: false }))
    }

    /// Encrypts connections from the network, if there is TLS.
    pub fn secured(self, tls: Option<Arc<Tls>>) -> Self {
        Self { tls, ..self }
    }

    /// Refuses requests of other sites' web pages if the address is one of this machine and there are no credentials.
    pub fn private(self, is_guarded: bool) -> Self {
        let is_private = !is_guarded && matches!(&self.address, Listen::Tcp(_) if self.address.is_local());
        Self { is_private, ..self }
    }

    /// Where it listens, with the actual port or the absolute path.
    pub fn address(&self) -> &Listen {
        &self.address
    }
}

/// Answers the requests to `bound`, if there is a listener, with `answer` until `shutdown`, then waits until those in
/// flight are answered. Each request has its client and the activity of its connection in its extensions.
///
/// When all places are taken, a connection on which no known caller is being answered is closed to make room for a new
/// one, even if it has sent a part of a request.
pub async fn serve<H, F>(bound: Option<Bound>, shutdown: impl Future<Output = ()>, answer: H)
where
    H: Fn(Request<Incoming>) -> F + Clone + Send + Sync + 'static,
    F: Future<Output = Answer> + Send + 'static,
{
    let Some(bound) = bound else { return };
    let (stopping, stop) = watch::channel(false);
    tokio::select! {
        () = accept(&bound, &stop, answer) => {}
        () = shutdown => {}
    }
    drop((bound, stop));
    stopping.send_replace(true);
    stopping.closed().await;
}

async fn accept<H, F>(bound: &Bound, stop: &watch::Receiver<bool>, answer: H)
where
    H: Fn(Request<Incoming>) -> F + Clone + Send + Sync + 'static,
    F: Future<Output = Answer> + Send + 'static,
{
    let connections = Connections::new(HTTP_CONNECTIONS);
    let mut turn_away = TurnAway::of_http(connections.max());
    loop {
        let encrypted = bound.tls.is_some();
        let (socket, place) = connections.accept(&bound.listener, encrypted, &mut turn_away).await;
        let tls = bound.tls.as_ref().map(|tls| tls.http_acceptor());
        let attended = attend(socket, tls, place, bound.is_private, answer.clone(), stop.clone());
        tokio::spawn(async move {
            if let Ok(Err(error)) = Within::Call.catching(attended).await {
                tracing::debug!(%error, "a connection failed");
            }
        });
    }
}

/// Serves one connection until it ends.
async fn attend<H, F>(
    socket: Socket,
    tls: Option<Accepting>,
    place: Place,
    is_private: bool,
    answer: H,
    stop: watch::Receiver<bool>,
) -> io::Result<()>
where
    H: Fn(Request<Incoming>) -> F,
    F: Future<Output = Answer>,
{
    let activity = place.activity().clone();
    let (stream, peer) = timeout(HANDSHAKE_TIMEOUT, meet(socket, tls, &place)).await??;
    let io = TokioIo::new(greeted(stream, activity.clone()));
    let answer = &answer;
    let requests = service_fn(|mut request: Request<Incoming>| {
        let unfit = unfit(&mut request, is_private);
        request.extensions_mut().insert(peer.clone());
        request.extensions_mut().insert(activity.clone());
        let id = id_of(request.headers());
        request.headers_mut().insert(REQUEST_ID, id.clone());
        async move {
            if let Some(unfit) = unfit {
                return Ok::<_, Infallible>(unfit);
            }
            let answered = Within::Call.catching(async move { answer(request).await }).await;
            Ok(answered.unwrap_or_else(|Panicked| fault(id)))
        }
    });
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(HTTP_PATIENCE);
    until_end(builder.serve_connection(io, requests), &activity, stop).await;
    Ok(())
}

/// The answer to a request for which the server panicked.
fn fault(id: HeaderValue) -> Answer {
    tracing::error!(?id, "a request failed by a fault of the server");
    let mut answer =
        text(StatusCode::INTERNAL_SERVER_ERROR, PLAIN, "a fault of the server stopped the request\n");
    answer.headers_mut().insert(REQUEST_ID, id);
    answer
}

/// Prevents the connection of a request from being closed to make room for another, until the returned value is
/// dropped.
pub fn keep(activity: Option<&Arc<Activity>>) -> impl Sized + Send + use<> {
    activity.map(Activity::call)
}

#[cfg(test)]
mod tests {
    use tokio::{
        io::{AsyncReadExt as _, AsyncWriteExt as _},
        net::TcpStream,
    };

    use super::*;

    async fn answered(connection: &mut TcpStream, path: &str) -> String {
        let request = format!("GET {path} HTTP/1.1\r\nhost: localhost\r\nx-request-id: mine\r\n\r\n");
        connection.write_all(request.as_bytes()).await.unwrap();
        let mut read = vec![0; 1_000];
        let length = connection.read(&mut read).await.unwrap();
        String::from_utf8_lossy(&read[..length]).into_owned()
    }

    #[tokio::test]
    async fn a_request_that_panics_is_answered_and_the_connection_goes_on() {
        let listen = Listen::parse("127.0.0.1:0").unwrap();
        let bound = Bound::new(Some(&listen), 0o600, "test", "a test is served").await.unwrap().unwrap();
        let Listen::Tcp(address) = bound.address().clone() else { panic!("it is an address") };
        let before = Within::Call.panics();
        let serving = serve(Some(bound), std::future::pending(), |request: Request<Incoming>| {
            assert_ne!(request.uri().path(), "/early");
            async move {
                assert_ne!(request.uri().path(), "/late");
                text(StatusCode::OK, PLAIN, "well\n")
            }
        });
        let asking = async {
            let mut connection = TcpStream::connect(address.to_string()).await.unwrap();
            for path in ["/early", "/late"] {
                let answer = answered(&mut connection, path).await;
                assert!(answer.starts_with("HTTP/1.1 500 "), "{answer}");
                assert!(answer.contains("x-request-id: mine\r\n"), "{answer}");
                assert!(answered(&mut connection, "/").await.ends_with("well\n"));
            }
        };
        tokio::select! { () = serving => {}, () = asking => {} }
        assert!(Within::Call.panics() >= before + 2);
    }
}
