//! A listener, and the connections that it accepts.

use std::{future::Future, sync::Arc};

use ::http::{HeaderMap, HeaderValue, Request, StatusCode};
use hyper::body::Incoming;
use ulid::Ulid;

use super::{Answer, PLAIN, host::unfit, text};
use crate::{
    Result, ServeError,
    calls::{REQUEST_ID, given},
    transport::{
        activity::Activity, connection::accepted, connections::Connections, http, socket::Listener, tls::Tls,
    },
};
use utterd_config::Listen;
use utterd_domain::limits::HTTP_CONNECTIONS;
use utterd_telemetry::panics::{Panicked, Within};

/// A listener that is bound to its address.
pub struct Bound {
    listener: Arc<Listener>,
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
        Ok(Some(Self { listener: listener.into(), address, tls: None, is_private: false }))
    }

    /// Encrypts connections from the network, if there is TLS. Refuses requests of other sites' web pages if the address is
    /// one of this machine and there are no credentials.
    pub fn guarded(self, tls: Option<Arc<Tls>>, has_credentials: bool) -> Self {
        let is_private =
            !has_credentials && matches!(&self.address, Listen::Tcp(_) if self.address.is_local());
        Self { tls, is_private, ..self }
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
    let is_private = bound.is_private;
    let incoming = accepted(Connections::new(HTTP_CONNECTIONS), bound.listener, bound.tls);
    let requests = move |mut request: Request<Incoming>| {
        let (unfit, id) = (unfit(&request, is_private), id_of(request.headers()));
        request.headers_mut().insert(REQUEST_ID, id.clone());
        let answer = answer.clone();
        async move {
            let mut answer = match unfit {
                Some(unfit) => unfit,
                None => {
                    let answered = Within::Call.catching(async move { answer(request).await }).await;
                    answered.unwrap_or_else(|Panicked| fault(&id))
                }
            };
            answer.headers_mut().insert(REQUEST_ID, id);
            Ok(answer)
        }
    };
    http::serve(http::for_pages(), requests, incoming, shutdown).await;
}

/// The answer to a request for which the server panicked.
fn fault(id: &HeaderValue) -> Answer {
    tracing::error!(?id, "a request failed by a fault of the server");
    text(StatusCode::INTERNAL_SERVER_ERROR, PLAIN, "a fault of the server stopped the request\n")
}

/// The id of a request, or one for a caller that gives none.
fn id_of(headers: &HeaderMap) -> HeaderValue {
    let made = || HeaderValue::try_from(Ulid::new().to_string());
    // only digits and letters, so this does not fail
    given(headers).or_else(|| made().ok()).unwrap_or(HeaderValue::from_static("unknown"))
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
