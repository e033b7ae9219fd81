//! Asks a model of one server.

use std::time::Duration;

use async_openai::{
    Client, error::OpenAIError, middleware::HttpRequestFactory, traits::RequestOptionsBuilder,
};
use reqwest::redirect::Policy;
use serde_json::Value;
use tower::service_fn;

use super::{
    LlmSettings, Protocol, SetupError, anthropic, endpoint::Endpoint, open_ai, prompts::Prompt, transport,
};
use crate::{
    engine::llm::{LlmError, LlmSummarizer, Material, Told},
    store::BoxFuture,
};

/// A model of one server, asked by the server's protocol.
pub(super) struct ModelClient {
    client: Client<Endpoint>,
    endpoint: Endpoint,
    protocol: Protocol,
    model: String,
    others: Vec<String>,
    timeout: Duration,
}

impl ModelClient {
    /// A client that has not sent anything yet.
    pub(super) fn new(settings: &LlmSettings, endpoint: Endpoint) -> Result<Self, SetupError> {
        let http = http_client(&endpoint).map_err(|error| SetupError::Http(transport::causes(&error)))?;
        let service = {
            let http = http.clone();
            service_fn(move |request: HttpRequestFactory| transport::send(http.clone(), request))
        };
        Ok(Self {
            client: Client::build(http, endpoint.clone()).with_http_service(service),
            endpoint,
            protocol: settings.protocol,
            model: settings.model.clone(),
            others: settings.others.clone(),
            timeout: settings.timeout,
        })
    }

    async fn ask(&self, material: Material) -> Result<Told, LlmError> {
        let prompt = Prompt::of(&material);
        let model = material.model.as_deref().unwrap_or(&self.model);
        let answer = match self.protocol {
            Protocol::OpenAi => {
                let request = open_ai::request(model, &prompt);
                open_ai::answer(self.post(open_ai::PATH, request).await?)?
            }
            Protocol::Anthropic => {
                let request = anthropic::request(model, &prompt);
                anthropic::answer(self.post(anthropic::PATH, request).await?)?
            }
        };
        match answer.text.trim() {
            "" => Err(LlmError::Unusable("it is empty".into())),
            text => {
                Ok(Told { text: text.to_owned(), model: answer.model.unwrap_or_else(|| model.to_owned()) })
            }
        }
    }

    async fn post(&self, path: &str, request: Value) -> Result<Value, LlmError> {
        let asked = self.client.chat().path(path).map_err(failure)?;
        asked.create_byot(request).await.map_err(|error| self.redacted(failure(error)))
    }

    /// `error` without the key, which a server may repeat.
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

impl LlmSummarizer for ModelClient {
    fn model(&self) -> &str {
        &self.model
    }

    fn models(&self) -> Vec<&str> {
        std::iter::once(&self.model).chain(&self.others).map(String::as_str).collect()
    }

    fn summarize(&self, material: Material) -> BoxFuture<'_, Result<Told, LlmError>> {
        Box::pin(async move {
            let answer = tokio::time::timeout(self.timeout, self.ask(material)).await;
            answer.unwrap_or_else(|_| {
                let timeout = humantime::format_duration(self.timeout);
                Err(LlmError::Unavailable {
                    message: format!("no answer within {timeout}"),
                    retry_after: None,
                })
            })
        })
    }
}

/// What became of a request: what the transport says, unless the request could not be made.
fn failure(error: OpenAIError) -> LlmError {
    match error {
        OpenAIError::Boxed(error) => {
            error.downcast().map_or_else(|error| LlmError::Refused(error.to_string()), |told| *told)
        }
        unsent => LlmError::Refused(unsent.to_string()),
    }
}

/// It follows no redirection: a key is for one server.
fn http_client(endpoint: &Endpoint) -> reqwest::Result<reqwest::Client> {
    // whoever was first has set it for the process
    let _ = rustls::crypto::ring::default_provider().install_default();
    let mut builder = reqwest::Client::builder().redirect(Policy::none());
    if endpoint.is_plain() {
        // a machine without certificates can still ask its neighbour
        builder = builder.tls_certs_only([]);
    }
    builder.build()
}
