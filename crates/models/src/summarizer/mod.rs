//! Summaries by a model, over HTTP: OpenAI's chat completions, which many servers support, and
//! Anthropic's messages.
//!
//! One call is one attempt. The engine decides when to wait, retry and give up.

mod answer;
mod anthropic;
mod client;
mod open_ai;
mod prompts;
mod settings;
mod transcript;

use std::sync::Arc;

pub use crate::model_server::{Protocol, SetupError};
pub use prompts::PROMPT_VERSION;
pub use settings::LlmSettings;

use crate::model_server::{KeyNames, ModelServer, ServerSettings};
use client::ModelClient;
use utterd_domain::limits::MAX_LLM_ANSWER_BYTES;
use utterd_engine::models::llm::LlmSummarizer;

/// Where to look for the key.
const KEY: KeyNames = KeyNames { file: "llm_api_key_file", variable: "UTTERD_LLM_API_KEY" };

/// Returns the client for `settings`; `environment` returns the value of a variable.
///
/// The key comes from the file, else from `UTTERD_LLM_API_KEY`, else from the provider's own
/// variable. It is optional if the server is not the provider's own. Nothing is sent yet.
pub fn build(
    settings: &LlmSettings,
    environment: impl Fn(&str) -> Option<String>,
) -> Result<Arc<dyn LlmSummarizer>, SetupError> {
    let server = ServerSettings {
        protocol: settings.protocol,
        base_url: settings.base_url.as_ref(),
        api_key_file: settings.api_key_file.as_deref(),
        names: KEY,
        timeout: settings.timeout,
        max_answer_bytes: MAX_LLM_ANSWER_BYTES,
    };
    let server = ModelServer::new(&server, environment)?;
    Ok(Arc::new(ModelClient::new(settings, server)))
}
