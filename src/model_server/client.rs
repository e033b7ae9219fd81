//! The client of one model server.

use std::{future::Future, time::Duration};

use async_openai::{
    Client, error::OpenAIError, middleware::HttpRequestFactory, traits::RequestOptionsBuilder,
};
use reqwest::redirect::Policy;
use serde_json::{Value, value::RawValue};
use tower::service_fn;

use super::{
    endpoint::Endpoint,
    key,
    settings::{ServerSettings, SetupError},
    transport,
};
use crate::engine::llm::LlmError;

/// A model server.
pub(crate) struct ModelServer {
    client: Client<Endpoint>,
    endpoint: Endpoint,
    timeout: Duration,
}

impl ModelServer {
    /// A client that has not sent anything yet; `environment` returns the value of a variable.
    pub(crate) fn new(
        settings: &ServerSettings<'_>,
        environment: impl Fn(&str) -> Option<String>,
    ) -> Result<Self, SetupError> {
        let endpoint = Endpoint::new(settings, key::find(settings, environment)?)?;
        let http = http_client(&endpoint).map_err(|error| SetupError::Http(transport::causes(&error)))?;
        let most = settings.max_answer_bytes;
        let service = {
            let http = http.clone();
            service_fn(move |request: HttpRequestFactory| transport::send(http.clone(), request, most))
        };
        let client = Client::build(http, endpoint.clone()).with_http_service(service);
        Ok(Self { client, endpoint, timeout: settings.timeout })
    }

    /// Sends a request to `path` below the address of the server, once. The answer is JSON.
    pub(crate) async fn post(&self, path: &str, request: Value) -> Result<Box<RawValue>, LlmError> {
        // of the client crate's groups of calls, this one accepts any path and any body
        let asked = self.client.chat().path(path).map_err(failure)?;
        asked.create_byot(request).await.map_err(|error| self.redacted(failure(error)))
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

    /// `error` without the key, which a server might repeat.
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

/// Why a request failed: the transport's error, unless the request was never sent.
fn failure(error: OpenAIError) -> LlmError {
    match error {
        OpenAIError::Boxed(error) => {
            error.downcast().map_or_else(|error| LlmError::Refused(error.to_string()), |told| *told)
        }
        unsent => LlmError::Refused(unsent.to_string()),
    }
}

/// The HTTP client, which follows no redirects: a key is for one server only.
fn http_client(endpoint: &Endpoint) -> reqwest::Result<reqwest::Client> {
    // this fails if a provider is already installed for the process
    let _ = rustls::crypto::ring::default_provider().install_default();
    let mut builder = reqwest::Client::builder().redirect(Policy::none());
    if endpoint.is_plain() {
        // a machine without certificates can still use a server without TLS
        builder = builder.tls_certs_only([]);
    }
    builder.build()
}
