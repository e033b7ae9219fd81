//! The protocol over streamable HTTP.
//!
//! Requests are independent: there are no sessions. A request must name a known host, so that no web page reaches the
//! server through a name that was made to resolve to it (DNS rebinding), and a web page from elsewhere can only call
//! from an allowed origin. Callers send the gRPC server their own credentials, in the same headers as its other
//! callers; this process never lends its own.

use std::{borrow::Cow, net::SocketAddr, sync::Arc};

use bytes::Bytes;
use http::{HeaderValue, Request, StatusCode, header::HOST};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use rmcp::{
    ErrorData,
    model::RequestId,
    transport::streamable_http_server::{
        StreamableHttpServerConfig, StreamableHttpService, session::never::NeverSessionManager,
    },
};
use serde::de::IgnoredAny;
use serde_json::Value;
use tokio::time::sleep;

use super::{
    admission::{admit, refused},
    args,
    handler::Handler,
    signal::asked_to_end,
    wire,
};
use crate::errors::CliError;
use utterd_config::Listen;
use utterd_domain::limits::DEFAULT_DRAIN_TIMEOUT;
use utterd_server::{
    ServeError,
    plain_http::{self as plain, Answer, Bound, Room, Unread},
};

/// The type of a message.
const JSON: &str = "application/json";
/// The path of the only endpoint.
const PATH: &str = "/mcp";
/// The origins of web pages on this machine, whose programs can reach the address anyway.
const OWN_ORIGINS: [&str; 3] = ["http://localhost:*", "http://127.0.0.1:*", "http://[::1]:*"];
/// The most bytes in a request, the same as in a line on stdin.
const MOST_BYTES: usize = 16 << 20;

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
        let failed = |error: ServeError| CliError::Failed(error.to_string());
        let listen = Listen::Tcp(self.address);
        let bound = Bound::new(Some(&listen), 0, "http", "MCP is served").await.map_err(failed)?;
        if let Some(bound) = &bound {
            println!("utterd {} serving MCP on http://{}{PATH}", env!("CARGO_PKG_VERSION"), bound.address());
        }
        let (service, room) = (self.service(handler.clone()), Room::alone(MOST_BYTES));
        let answer = move |request| answer(request, service.clone(), handler.clone(), room.clone());
        tokio::select! {
            () = plain::serve(bound, asked_to_end(), answer) => {}
            () = last_moment() => tracing::warn!("requests were still in flight when the process ended"),
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

/// Completes when the process was asked to end, and the time for requests in flight has passed.
async fn last_moment() {
    asked_to_end().await;
    sleep(DEFAULT_DRAIN_TIMEOUT).await;
}

async fn answer(request: Request<Incoming>, service: Service, handler: Handler, room: Room) -> Answer {
    if request.uri().path() != PATH {
        return refused(StatusCode::NOT_FOUND, format!("MCP is served on {PATH}"));
    }
    let memory = match admit(handler.memory(), request.headers()).await {
        Ok(memory) => memory,
        Err(refused) => return refused,
    };
    let (mut parts, body) = request.into_parts();
    parts.extensions.insert(memory);
    // the host of the target comes first (RFC 9112, 3.2.2), and rmcp looks at `Host` alone
    if let Some(host) = parts.uri.authority().and_then(|host| HeaderValue::try_from(host.as_str()).ok()) {
        parts.headers.insert(HOST, host);
    }
    let (extensions, is_json) = (parts.extensions.clone(), plain::is_of_type(&parts.headers, JSON));
    let mut head = Request::new(body);
    *head.extensions_mut() = extensions;
    let body = match room.read(head, None, MOST_BYTES).await {
        Ok(body) => body,
        Err(Unread(code, status)) => return refused(code, status.message().to_owned()),
    };
    let _kept = plain::keep(parts.extensions.get());
    let json = wire::text(&body);
    if is_json && let Err(error) = serde_json::from_slice::<IgnoredAny>(&json) {
        let error = ErrorData::parse_error(format!("the request is not JSON: {error}"), None);
        return fault(error, None);
    }
    let body = match json {
        Cow::Owned(json) => Bytes::from(json),
        Cow::Borrowed(_) => body,
    };
    let request = Request::from_parts(parts, Full::new(body.clone()));
    let answer = service.handle(request).await;
    match answer.status() {
        // JSON that is refused for its type is not a message of the protocol
        StatusCode::UNSUPPORTED_MEDIA_TYPE if is_json => {
            let error = ErrorData::invalid_request("the request is no message of JSON-RPC 2.0", None);
            let json: Value = serde_json::from_slice(&body).unwrap_or_default();
            fault(error, serde_json::from_value(json["id"].clone()).ok())
        }
        _ => answer.map(BodyExt::boxed_unsync),
    }
}

/// The answer to a request that cannot be read; its id is null if that cannot be read either (JSON-RPC 2.0, 5.1).
fn fault(error: ErrorData, id: Option<RequestId>) -> Answer {
    let text = serde_json::json!({ "jsonrpc": "2.0", "id": id, "error": error }).to_string();
    plain::text(StatusCode::BAD_REQUEST, JSON, text)
}
