//! The client of one model server.

use std::{future::Future, time::Duration};

use reqwest::{Body, RequestBuilder, header::CONTENT_TYPE, redirect::Policy};
use serde_json::{Value, value::RawValue};

use super::{
    endpoint::Endpoint,
    key,
    settings::{ServerSettings, SetupError},
    transport,
};
use utterd_engine::models::llm::LlmError;

/// How long a server may take to accept a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// A model server.
pub struct ModelServer {
    http: reqwest::Client,
    endpoint: Endpoint,
    timeout: Duration,
    max_answer_bytes: usize,
}

impl ModelServer {
    /// Returns a client that has sent nothing yet; `environment` returns the value of a variable.
    pub fn new(
        settings: &ServerSettings<'_>,
        environment: impl Fn(&str) -> Option<String>,
    ) -> Result<Self, SetupError> {
        let endpoint = Endpoint::new(settings, key::find(settings, environment)?)?;
        let http = http_client(&endpoint).map_err(|error| SetupError::Http(transport::causes(&error)))?;
        let ServerSettings { timeout, max_answer_bytes, .. } = *settings;
        Ok(Self { http, endpoint, timeout, max_answer_bytes })
    }

    /// Sends a request to `path` below the address of the server, once. The answer is JSON.
    pub(crate) async fn post(&self, path: &str, request: Value) -> Result<Box<RawValue>, LlmError> {
        let request = self.request(path, request);
        transport::send(request, self.max_answer_bytes).await.map_err(|error| self.redacted(error))
    }

    /// Sends a request to `path` below the address of the server, once. The answer can be of any kind.
    pub async fn stream(&self, path: &str, request: Value) -> Result<Body, LlmError> {
        let begun = transport::begin(self.request(path, request)).await;
        begun.map(|response| http::Response::from(response).into_body()).map_err(|error| self.redacted(error))
    }

    fn request(&self, path: &str, request: Value) -> RequestBuilder {
        let to = self.http.post(self.endpoint.url(path)).headers(self.endpoint.headers());
        to.header(CONTENT_TYPE, "application/json").body(request.to_string())
    }

    /// Returns the result of `asking`, or an error after the timeout.
    pub(crate) async fn within_timeout<T>(
        &self,
        asking: impl Future<Output = Result<T, LlmError>>,
    ) -> Result<T, LlmError> {
        let answer = tokio::time::timeout(self.timeout, asking).await;
        answer.unwrap_or_else(|_| {
            let message = format!("no answer within {}", humantime::format_duration(self.timeout));
            Err(LlmError::Unavailable { message, retry_after: None })
        })
    }

    /// Returns `error` without the key, which a server might repeat.
    fn redacted(&self, error: LlmError) -> LlmError {
        let redacted = |message: String| self.endpoint.redacted(&message);
        match error {
            LlmError::Unavailable { message, retry_after } => {
                LlmError::Unavailable { message: redacted(message), retry_after }
            }
            LlmError::Refused(message) => LlmError::Refused(redacted(message)),
            LlmError::Unusable(message) => LlmError::Unusable(redacted(message)),
        }
    }
}

/// Returns an HTTP client that follows no redirects, as a key is for one server only.
fn http_client(endpoint: &Endpoint) -> reqwest::Result<reqwest::Client> {
    // this fails if a provider is already installed for the process
    let _ = rustls::crypto::ring::default_provider().install_default();
    let mut builder = reqwest::Client::builder().redirect(Policy::none()).connect_timeout(CONNECT_TIMEOUT);
    if endpoint.is_plain() {
        // a machine without certificates can still use a server without TLS
        builder = builder.tls_certs_only([]);
    }
    builder.build()
}
