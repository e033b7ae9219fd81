//! What a client is made from, and why there can be none.

use std::{io, path::PathBuf, time::Duration};

use url::Url;

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
    /// Others that a conversation may name as its own.
    pub others: Vec<String>,
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
