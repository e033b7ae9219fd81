//! Asks the models of one server.

use super::{LlmSettings, anthropic, open_ai, prompts::Prompt};
use crate::model_server::{ModelServer, Protocol};
use utterd_engine::models::llm::{LlmError, LlmSummarizer, LlmSummary, Material};
use utterd_store::BoxFuture;

/// The models of one server, asked in the server's protocol.
pub(super) struct ModelClient {
    server: ModelServer,
    protocol: Protocol,
    model: String,
    others: Vec<String>,
}

impl ModelClient {
    /// Returns a client of `server`, for the models in `settings`.
    pub(super) fn new(settings: &LlmSettings, server: ModelServer) -> Self {
        Self {
            server,
            protocol: settings.protocol,
            model: settings.model.clone(),
            others: settings.others.clone(),
        }
    }

    async fn ask(&self, material: Material) -> Result<LlmSummary, LlmError> {
        let prompt = Prompt::of(&material);
        let model = material.model.as_deref().unwrap_or(&self.model);
        let answer = match self.protocol {
            Protocol::OpenAi => {
                let request = open_ai::request(model, &prompt);
                open_ai::answer(&self.server.post(open_ai::PATH, request).await?)?
            }
            Protocol::Anthropic => {
                let request = anthropic::request(model, &prompt);
                anthropic::answer(&self.server.post(anthropic::PATH, request).await?)?
            }
        };
        match answer.text.trim() {
            "" => Err(LlmError::Unusable("it is empty".into())),
            text => {
                let model = answer.model.unwrap_or_else(|| model.to_owned());
                Ok(LlmSummary { text: text.to_owned(), model, usage: answer.usage })
            }
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

    fn summarize(&self, material: Material) -> BoxFuture<'_, Result<LlmSummary, LlmError>> {
        Box::pin(self.server.within_timeout(self.ask(material)))
    }
}
