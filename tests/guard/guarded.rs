//! A guarded server, and calls with credentials.

use std::{fs, sync::Arc};

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Request, header::AUTHORIZATION};
use http_body_util::Full;
use sha2::{Digest as _, Sha256};
use tempfile::TempDir;
use tonic::{Status, body::Body, metadata::MetadataValue, transport::Channel};
use tower::{Service, ServiceExt};
use utterd::config::Settings;

use crate::{
    refusal::Refused,
    support::{ManualClock, connect, server_with},
};

/// An empty message, framed.
const EMPTY: &[u8] = &[0; 5];

/// A server that asks who calls.
pub struct Guarded {
    pub clock: Arc<ManualClock>,
    _directory: TempDir,
    channel: Channel,
}

impl Guarded {
    /// A server with the file of credentials `text`.
    pub async fn with(text: &str) -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        let file = directory.path().join("credentials.toml");
        fs::write(&file, text).expect("it is written");
        let settings = Settings { credentials: Some(file), ..Settings::default() };
        Self::of(directory, &settings).await
    }

    /// A server with `settings`, whose files are in `directory`.
    pub async fn of(directory: TempDir, settings: &Settings) -> Self {
        let (server, clock) = server_with(settings);
        Self { channel: connect(&server).await, clock, _directory: directory }
    }

    pub fn channel(&self) -> Channel {
        self.channel.clone()
    }

    /// Makes an empty call of `path` with `headers`: the status that it begins with, if it is refused at once.
    pub async fn call(&self, path: &str, headers: &HeaderMap) -> Result<(), Status> {
        let mut request = Request::post(format!("http://utterd.test{path}"))
            .body(Body::new(Full::new(Bytes::from_static(EMPTY))))
            .expect("a request");
        request.headers_mut().extend(headers.clone());
        for (name, value) in [("content-type", "application/grpc"), ("te", "trailers")] {
            request.headers_mut().insert(name, HeaderValue::from_static(value));
        }
        let mut channel = self.channel();
        let response =
            channel.ready().await.expect("it is connected").call(request).await.expect("an answer");
        match Status::from_header_map(response.headers()) {
            Some(status) if status.code() != tonic::Code::Ok => Err(status),
            _ => Ok(()),
        }
    }

    /// Makes an empty call that must be refused.
    pub async fn refusal(&self, path: &str, headers: &HeaderMap) -> Refused {
        Refused::new(self.call(path, headers).await.expect_err("the call is refused"))
    }
}

/// An entry of a file of credentials, for the token `token`.
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
    let pair = |(name, value): &(&'static str, &str)| {
        (http::HeaderName::from_static(name), HeaderValue::from_str(value).expect("metadata"))
    };
    let mut headers = HeaderMap::new();
    pairs.iter().map(pair).for_each(|(name, value)| {
        headers.append(name, value);
    });
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
