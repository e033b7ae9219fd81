//! A guarded server, and calls with credentials.

use std::fs;

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Request, header::AUTHORIZATION};
use http_body_util::Full;
use sha2::{Digest as _, Sha256};
use tempfile::TempDir;
use tonic::{body::Body, metadata::MetadataValue, transport::Channel};
use tower::{Service, ServiceExt};
use utterd::server::{Peer, Server};

use crate::support::{channel, connect, pipe, prelude::*, server_with};

/// An empty message, framed.
const EMPTY: &[u8] = &[0; 5];

/// A server that requires credentials.
pub struct Guarded {
    server: Server,
    pub clock: Arc<ManualClock>,
    directory: TempDir,
    channel: Channel,
}

impl Guarded {
    /// A server with the credentials file `text`.
    pub async fn with(text: &str) -> Self {
        Self::with_files(&[(CREDENTIALS, text)], |settings| settings).await
    }

    /// A server with these files and settings, which use the credentials file if it is among them.
    pub async fn with_files(files: &[(&str, &str)], settings: impl FnOnce(Settings) -> Settings) -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        for (name, text) in files {
            fs::write(directory.path().join(name), text).expect("it is written");
        }
        let path = |name| files.iter().any(|(file, _)| *file == name).then(|| directory.path().join(name));
        let (credentials, jwt_keys) = (path(CREDENTIALS), path(KEYS));
        let settings = settings(Settings { credentials, jwt_keys, ..Settings::default() });
        let (server, clock) = server_with(&settings);
        Self { channel: connect(&server).await, server, clock, directory }
    }

    /// Writes one of the server's files.
    pub fn write(&self, name: &str, text: &str) {
        fs::write(self.directory.path().join(name), text).expect("it is written");
    }

    pub fn channel(&self) -> Channel {
        self.channel.clone()
    }

    /// A connection whose client presented the certificate `der`.
    pub async fn connect_with(&self, der: &[u8]) -> Channel {
        self.connect_as(Peer::new(0, None).showing(der)).await
    }

    /// A connection of `peer`.
    pub async fn connect_as(&self, peer: Peer) -> Channel {
        channel(pipe::open(&self.server, peer)).await
    }

    /// Makes an empty call of `path` with `headers`; returns its initial status if it is refused immediately.
    pub async fn call(&self, path: &str, headers: &HeaderMap) -> Result<(), Status> {
        call(self.channel(), path, headers).await
    }

    /// Makes an empty call that must be refused.
    pub async fn refusal(&self, path: &str, headers: &HeaderMap) -> Refused {
        Refused::new(self.call(path, headers).await.expect_err("the call is refused"))
    }
}

/// The credentials file.
pub const CREDENTIALS: &str = "credentials.toml";
/// The keys file.
pub const KEYS: &str = "keys";

/// Makes an empty call of `path` with `headers`; returns its initial status if it is refused immediately.
pub async fn call(mut channel: Channel, path: &str, headers: &HeaderMap) -> Result<(), Status> {
    let body = Body::new(Full::new(Bytes::from_static(EMPTY)));
    let mut request = Request::post(format!("http://utterd.test{path}")).body(body).expect("a request");
    request.headers_mut().extend(headers.clone());
    for (name, value) in [("content-type", "application/grpc"), ("te", "trailers")] {
        request.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    let response = channel.ready().await.expect("it is connected").call(request).await.expect("an answer");
    match Status::from_header_map(response.headers()) {
        Some(status) if status.code() != tonic::Code::Ok => Err(status),
        _ => Ok(()),
    }
}

/// An entry of a credentials file, for the token `token`.
pub fn entry(name: &str, namespace: &str, role: &str, token: &str) -> String {
    let digest: String = Sha256::digest(token).iter().map(|byte| format!("{byte:02x}")).collect();
    format!(
        "[[credentials]]\nname = \"{name}\"\nnamespace = \"{namespace}\"\nrole = \"{role}\"\nsha256 = \"{digest}\"\n"
    )
}

/// The metadata that carries `token`.
pub fn bearer(token: &str) -> HeaderMap {
    headers(&[(AUTHORIZATION.as_str(), &format!("Bearer {token}"))])
}

/// Metadata.
pub fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for (name, value) in pairs {
        headers.append(*name, HeaderValue::from_str(value).expect("metadata"));
    }
    headers
}

/// `message` with the credential `token`.
pub fn with<T>(token: &str, message: T) -> tonic::Request<T> {
    let mut request = tonic::Request::new(message);
    let value: MetadataValue<_> = format!("Bearer {token}").parse().expect("metadata");
    request.metadata_mut().insert("authorization", value);
    request
}

/// `message` with the credential `token`, in another namespace.
pub fn within<T>(namespace: &str, token: &str, message: T) -> tonic::Request<T> {
    let mut request = with(token, message);
    request.metadata_mut().insert("utterd-namespace", namespace.parse().expect("metadata"));
    request
}
