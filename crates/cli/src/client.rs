//! The connection to a running server.

use std::{error::Error, future::ready, io, iter::successors, path::Path, pin::Pin, time::Duration};

use futures::TryFutureExt;
use http::Uri;
use hyper_util::rt::TokioIo;
use tokio::{
    io::{AsyncRead, AsyncWrite},
    runtime::Builder,
};
use tonic::{
    client::Grpc,
    service::interceptor::InterceptedService,
    transport::{Channel, Endpoint},
};
use tonic_health::pb::health_client::HealthClient;
use tower::service_fn;

use super::{
    access::{Access, Identity},
    args::Remote,
    errors::{CliError, root_cause},
};
use utterd_config::{HIDDEN, shown, socket_path_fault};
use utterd_rpc::proto::{
    admin_service_client::AdminServiceClient, compaction_service_client::CompactionServiceClient,
    context_service_client::ContextServiceClient, conversation_service_client::ConversationServiceClient,
    memory_service_client::MemoryServiceClient,
};
use utterd_server::Connector;

/// The port of an address without one.
const USUAL_PORT: u16 = 50051;
/// How long a server may take to accept the connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// The largest response accepted, in bytes. Pages have 3 MiB. Only two things can be larger: a large utterance, twice as
/// large if it was edited and comes with its original, and a context without a budget.
const MAX_RESPONSE_BYTES: usize = 40 << 20;

/// Runs a client command to its end.
pub fn block_on(command: impl Future<Output = Result<(), CliError>>) -> Result<(), CliError> {
    let runtime = Builder::new_current_thread().enable_all().build()?;
    // boxed: the runtime's code is compiled once, and not for each command
    let command: Pin<Box<dyn Future<Output = _>>> = Box::pin(command);
    let done = runtime.block_on(command);
    // A thread may still be blocked on stdin: do not wait for it.
    runtime.shutdown_background();
    done
}

/// The channel for calls, which adds the caller's credentials to each.
type Calls = InterceptedService<Channel, Identity>;

/// A connection to a server. Cheap to clone.
#[derive(Clone)]
pub struct Connection {
    channel: Channel,
    identity: Identity,
}

impl Connection {
    /// Connects to a server.
    pub async fn to(remote: &Remote) -> Result<Self, CliError> {
        let (named, access) = (remote.address(), &remote.access);
        let server = address_of(named)?;
        let socket = server.strip_prefix("unix://").or_else(|| server.strip_prefix("unix:"));
        if let Some(fault) = socket.and_then(|path| socket_path_fault(Path::new(path))) {
            return Err(CliError::Usage(format!("--server {named:?}: {fault}")));
        }
        let endpoint = Endpoint::from_shared(server.clone()).map_err(|error| {
            CliError::Usage(format!("--server {:?} is not an address: {error}", quoted(named)))
        })?;
        let identity = access.to(endpoint.uri(), socket.is_some())?;
        let channel = access.secured(endpoint)?.connect_timeout(CONNECT_TIMEOUT).connect().await;
        let unreachable = |error| match is_about_tls(&error) {
            true => CliError::Unreachable(format!(
                "TLS with {server} failed ({}): give its certificate authority with --tls-ca, or use http:// for a \
                 server without TLS",
                root_cause(&error)
            )),
            false => no_answer(&server, &error),
        };
        Ok(Self { channel: channel.map_err(unreachable)?, identity })
    }

    /// Connects to a server within this process.
    pub async fn within(server: Connector, access: &Access) -> Result<Self, CliError> {
        Self::near(move || ready(server.connect()), access).await
    }

    /// Connects to a server on files, in this process or in another one; again when the connection breaks.
    #[cfg(feature = "mcp")]
    pub async fn sharing(
        server: std::sync::Arc<utterd_server::Shared>,
        access: &Access,
    ) -> Result<Self, CliError> {
        let connect = move || {
            let server = server.clone();
            async move { server.connect().await }
        };
        Self::near(connect, access).await
    }

    /// Connects to a server on this machine through the streams that `connect` opens.
    async fn near<S, F>(connect: impl Fn() -> F + Send + 'static, access: &Access) -> Result<Self, CliError>
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
        F: Future<Output = io::Result<S>> + Send + 'static,
    {
        let endpoint = Endpoint::from_static("http://in-process");
        let identity = access.to(endpoint.uri(), true)?;
        let connector = service_fn(move |_: Uri| connect().map_ok(TokioIo::new));
        let channel = endpoint.connect_with_connector(connector).await;
        let channel = channel.map_err(|error| no_answer("the server of this process", &error))?;
        Ok(Self { channel, identity })
    }

    /// The same connection with another caller's credentials.
    #[cfg(feature = "mcp")]
    pub fn on_behalf_of(&self, identity: Identity) -> Self {
        Self { channel: self.channel.clone(), identity }
    }

    /// Any service.
    pub fn calls(&self) -> Grpc<Calls> {
        Grpc::new(InterceptedService::new(self.channel.clone(), self.identity.clone()))
            .max_decoding_message_size(MAX_RESPONSE_BYTES)
    }
}

/// Defines a client for each service.
macro_rules! services {
    ($($name:ident: $client:ident,)*) => {
        impl Connection {
            $(
                /// The client of a service.
                pub fn $name(&self) -> $client<Calls> {
                    $client::with_interceptor(self.channel.clone(), self.identity.clone())
                        .max_decoding_message_size(MAX_RESPONSE_BYTES)
                }
            )*
        }
    };
}

services! {
    memory: MemoryServiceClient,
    conversations: ConversationServiceClient,
    contexts: ContextServiceClient,
    compactions: CompactionServiceClient,
    admin: AdminServiceClient,
    health: HealthClient,
}

fn no_answer(server: &str, error: &dyn Error) -> CliError {
    CliError::Unreachable(format!(
        "no server answers at {server} ({}): start one with `utterd serve`, or name another with --server or \
         UTTERD_SERVER",
        root_cause(error)
    ))
}

/// Whether the server was reached, but the TLS handshake failed.
fn is_about_tls(error: &(dyn Error + 'static)) -> bool {
    let is_tls = |error: &io::Error| error.kind() == io::ErrorKind::InvalidData;
    successors(Some(error), |error| (*error).source())
        .any(|error| error.downcast_ref::<io::Error>().is_some_and(is_tls))
}

/// The address that `named` means; an error unless commands can talk to that kind of address.
fn address_of(named: &str) -> Result<String, CliError> {
    let server = address(named);
    let scheme = server.split_once(':').map_or("", |(scheme, _)| scheme).to_ascii_lowercase();
    let wrong = |accepted| Err(CliError::Usage(format!("--server {:?}: {accepted}", quoted(named))));
    match scheme.as_str() {
        "http" | "https" if server.contains(['@', '?', '#']) => {
            wrong("must have no user, password or query; a token is given with --token-file or UTTERD_TOKEN")
        }
        "http" | "https" | "unix" => Ok(server),
        _ => wrong("must be HOST, HOST:PORT, http://HOST:PORT, https://HOST:PORT or unix:PATH"),
    }
}

/// The name of the server as given, unless it may hold a secret.
fn quoted(named: &str) -> &str {
    let address = address(named);
    if shown(&address) == address { named } else { HIDDEN }
}

/// The server's address as a URL; `host`, `host:port` and `unix:/path` are accepted too.
fn address(server: &str) -> String {
    if server.contains("://") || server.starts_with("unix:") {
        return server.to_owned();
    }
    let address = format!("http://{server}");
    match address.parse::<Uri>() {
        Ok(url) if url.port().is_none() && url.path() == "/" => format!("{address}:{USUAL_PORT}"),
        _ => address,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use utterd_config::Settings;
    use utterd_domain::limits::IDLE_CONNECTION_TIMEOUT;
    use utterd_rpc::proto::GetCapacityInfoRequest;
    use utterd_server::InProcess;

    #[test]
    fn an_address_of_another_kind_is_refused() {
        for wrong in ["ftp://example.org", "grpc://localhost:1", "://x"] {
            let error = address_of(wrong).unwrap_err().to_string();
            assert!(error.contains("must be HOST, HOST:PORT"), "{error}");
        }
        for wrong in ["http://u:PW@h:1", "u:PW@h:1", "https://PW@h", "https://h?key=PW", "postgres:/u:PW@h"] {
            let error = address_of(wrong).unwrap_err().to_string();
            assert!(!error.contains("PW"), "{error}");
        }
        assert!(address_of("HTTPS://example.org").is_ok() && address_of("unix:x").is_ok());
    }

    #[test]
    fn a_bare_address_is_http() {
        assert_eq!(address("localhost:1"), "http://localhost:1");
        for usual in ["localhost", "127.0.0.1", "[::1]"] {
            assert_eq!(address(usual), format!("http://{usual}:50051"));
        }
        assert_eq!(address("https://example.org"), "https://example.org");
        assert_eq!(address("unix:/run/utterd.sock"), "unix:/run/utterd.sock");
    }

    /// The idle connection is closed meanwhile, and opened again by the next call.
    #[tokio::test(start_paused = true)]
    async fn a_server_of_this_process_is_reached_after_a_long_rest() {
        let server = InProcess::start(&Settings::default()).await.unwrap();
        let connection = Connection::within(server.connector(), &Access::default()).await.unwrap();
        for _ in 0..2 {
            connection.memory().get_capacity_info(GetCapacityInfoRequest::default()).await.unwrap();
            tokio::time::sleep(2 * IDLE_CONNECTION_TIMEOUT).await;
        }
        drop(connection);
        server.end().await;
    }
}
