//! Summaries by a model, over HTTP: OpenAI's chat completions, which many servers speak, and
//! Anthropic's messages.
//!
//! One call is one attempt. Who waits, repeats and gives up is decided by the engine.

mod anthropic;
mod client;
mod endpoint;
mod key;
mod open_ai;
mod prompts;
mod transcript;
mod transport;

use std::{io, path::PathBuf, sync::Arc, time::Duration};

use url::Url;

pub use prompts::PROMPT_VERSION;

use crate::engine::llm::LlmSummarizer;
use client::ModelClient;
use endpoint::Endpoint;

/// The protocol that a server of models speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// OpenAI's chat completions.
    OpenAi,
    /// Anthropic's messages.
    Anthropic,
}

/// Which model is asked, where, and for how long.
#[derive(Clone, Debug)]
pub struct LlmSettings {
    /// What its server speaks.
    pub protocol: Protocol,
    /// The server, with `/v1` for [`Protocol::OpenAi`]; `None` is the provider's own.
    pub base_url: Option<Url>,
    /// The model that is asked when a conversation names none.
    pub model: String,
    /// The file that holds the key, white space around it aside; `None` takes it from the environment.
    pub api_key_file: Option<PathBuf>,
    /// The whole of an answer is there within so long.
    pub timeout: Duration,
}

/// Why a model cannot be asked at all.
#[derive(Debug, thiserror::Error)]
pub enum SetupError {
    /// The provider wants a key.
    #[error("llm is set, but there is no key: set llm_api_key_file, UTTERD_LLM_API_KEY or {0}")]
    NoKey(&'static str),
    /// The file with the key cannot be read.
    #[error("llm_api_key_file {path}: {error}", path = .path.display())]
    KeyFile {
        /// The file.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// No header can hold the key.
    #[error("the key that is given {0} is none: a key is one line of ASCII")]
    Key(String),
    /// There is no HTTP client, such as where the system has no certificates.
    #[error("no HTTP client for the model: {0}")]
    Http(String),
}

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
