//! Summaries by a model, over HTTP: OpenAI's chat completions, which many servers speak, and
//! Anthropic's messages.
//!
//! One call is one attempt. Who waits, repeats and gives up is decided by the engine.

mod answer;
mod anthropic;
mod client;
mod endpoint;
mod key;
mod open_ai;
mod prompts;
mod settings;
mod transcript;
mod transport;

use std::sync::Arc;

pub use prompts::PROMPT_VERSION;
pub use settings::{LlmSettings, Protocol, SetupError};

use crate::engine::llm::LlmSummarizer;
use client::ModelClient;
use endpoint::Endpoint;

/// The client for `settings`; `environment` tells the value of a variable.
///
/// A key is taken from the file, else from `UTTERD_LLM_API_KEY`, else from the provider's own
/// variable. A server that is not the provider's own may want none. Nothing is sent yet.
pub fn build(
    settings: &LlmSettings,
    environment: impl Fn(&str) -> Option<String>,
) -> Result<Arc<dyn LlmSummarizer>, SetupError> {
    let key = key::find(settings, environment)?;
    let endpoint = Endpoint::new(settings, key)?;
    let client = ModelClient::new(settings, endpoint)?;
    Ok(Arc::new(client))
}
