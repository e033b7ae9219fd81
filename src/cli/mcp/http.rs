//! The protocol over streamable HTTP.
//!
//! Requests are independent: there are no sessions. A request must name a known host, so that no web page reaches the
//! server through a name that was made to resolve to it (DNS rebinding), and a web page from elsewhere can only call
//! from an allowed origin. Callers send the gRPC server their own credentials, in the same headers as its other
//! callers; this process never lends its own.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use http::{Request, StatusCode};
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    server::graceful::GracefulShutdown,
};
use rmcp::transport::streamable_http_server::{
    StreamableHttpServerConfig, StreamableHttpService, session::never::NeverSessionManager,
};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::{OwnedSemaphorePermit, Semaphore},
    time::{sleep, timeout},
};

use super::{
    admission::{Answer, admit, refused},
    args,
    handler::Handler,
    signal::asked_to_end,
};
use crate::{cli::errors::CliError, domain::limits::DEFAULT_DRAIN_TIMEOUT};

/// The path of the only endpoint.
const PATH: &str = "/mcp";
/// The most connections at a time; more wait until one of them ends.
const MOST_CONNECTIONS: usize = 256;
/// The origins of web pages on this machine, whose programs can reach the address anyway.
const OWN_ORIGINS: [&str; 3] = ["http://localhost:*", "http://127.0.0.1:*", "http://[::1]:*"];
/// The most bytes in a request, the same as in a line on stdin.
const MOST_BYTES: usize = 16 << 20;
/// A connection without a request for this long is closed.
const LONGEST_REST: Duration = Duration::from_secs(120);
/// The pause before another attempt if a connection cannot be accepted.
const NEXT_ATTEMPT: Duration = Duration::from_millis(100);

/// Where to listen, and for whom.
pub struct Listening {
    address: SocketAddr,
    hosts: Vec<String>,
    origins: Vec<String>,
}

type Service = StreamableHttpService<Handler, NeverSessionManager>;

impl Listening {
    /// Checks what the command line asks for.
    pub fn new(address: SocketAddr, args: &args::Mcp) -> Result<Self, CliError> {
        if !address.ip().is_loopback() && !args.allow_insecure {
            return Err(CliError::Usage(format!(
                "--http {address}: other machines can reach it, and there is no TLS: must be an address of this machine \
                 alone, such as 127.0.0.1:{}, behind a proxy with TLS (and --http-host for its name); or give \
                 --allow-insecure if something else keeps others out",
                address.port()
            )));
        }
        if let Some(own) = args.access.own() {
            return Err(CliError::Usage(format!(
                "{own} and --http do not go together: whoever reaches the address would use it. Each caller sends its \
                 own token, in the header `authorization: Bearer TOKEN`"
            )));
        }
        let own = [address.ip().to_string(), "localhost".into(), "127.0.0.1".into(), "::1".into()];
        let hosts = own.into_iter().chain(args.http_host.iter().cloned()).collect();
        let origins =
            OWN_ORIGINS.map(str::to_owned).into_iter().chain(args.http_origin.iter().cloned()).collect();
        Ok(Self { address, hosts, origins })
    }

    /// Serves callers until the process is asked to end; requests in flight are answered.
    pub async fn serve(self, handler: Handler) -> Result<(), CliError> {
        let failed = |error| CliError::Mcp(format!("could not listen on {}: {error}", self.address));
        let listener = TcpListener::bind(self.address).await.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        println!("utterd {} serving MCP on http://{address}{PATH}", env!("CARGO_PKG_VERSION"));
        let connections = GracefulShutdown::new();
        let service = self.service(handler.clone());
        tokio::select! {
            () = accept(&listener, &connections, &service, &handler) => {}
            () = asked_to_end() => {}
        }
        drop(listener);
        if timeout(DEFAULT_DRAIN_TIMEOUT, connections.shutdown()).await.is_err() {
            tracing::warn!("requests were still in flight when the process ended");
        }
        Ok(())
    }

    fn service(&self, handler: Handler) -> Service {
        let config = StreamableHttpServerConfig::default()
            .with_legacy_session_mode(false)
            .with_json_response(true)
            .with_allowed_hosts(&self.hosts)
            .with_allowed_origins(&self.origins)
            .enforce_origin_validation()
            .with_max_request_body_bytes(MOST_BYTES);
        StreamableHttpService::new(
            move || Ok(handler.clone()),
            Arc::new(NeverSessionManager::default()),
            config,
        )
    }
}

async fn accept(
    listener: &TcpListener,
    connections: &GracefulShutdown,
    service: &Service,
    handler: &Handler,
) {
    let places = Arc::new(Semaphore::new(MOST_CONNECTIONS));
    loop {
        let Ok(place) = places.clone().acquire_owned().await else { return };
        match listener.accept().await {
            Ok((stream, _)) => attend(stream, place, connections, service.clone(), handler.clone()),
            Err(error) => {
                tracing::warn!(%error, "could not accept a connection");
                sleep(NEXT_ATTEMPT).await;
            }
        }
    }
}

/// Serves the requests of one connection in a task.
fn attend(
    stream: TcpStream,
    place: OwnedSemaphorePermit,
    connections: &GracefulShutdown,
    service: Service,
    handler: Handler,
) {
    // an answer is one small write, which should not wait until the previous one is acknowledged
    let _ = stream.set_nodelay(true);
    let requests = service_fn(move |request| {
        let (service, handler) = (service.clone(), handler.clone());
        async move { Ok::<_, std::convert::Infallible>(answer(request, &service, &handler).await) }
    });
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(LONGEST_REST);
    let connection = connections.watch(builder.serve_connection(TokioIo::new(stream), requests));
    tokio::spawn(async move {
        if let Err(error) = connection.await {
            tracing::debug!(%error, "a connection failed");
        }
        drop(place);
    });
}

async fn answer(mut request: Request<Incoming>, service: &Service, handler: &Handler) -> Answer {
    if request.uri().path() != PATH {
        return refused(StatusCode::NOT_FOUND, format!("MCP is served on {PATH}"));
    }
    match admit(handler.memory(), request.headers()).await {
        Ok(memory) => {
            request.extensions_mut().insert(memory);
            service.handle(request).await
        }
        Err(refused) => refused,
    }
}
