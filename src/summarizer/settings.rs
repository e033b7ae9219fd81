//! The settings of a client.

use std::{path::PathBuf, time::Duration};

use url::Url;

use crate::model_server::Protocol;

/// Which model to ask, where, and how long to wait.
#[derive(Clone, Debug)]
pub struct LlmSettings {
    /// The protocol of its server.
    pub protocol: Protocol,
    /// The server, with `/v1` for [`Protocol::OpenAi`]; `None` is the provider's own.
    pub base_url: Option<Url>,
    /// The model for conversations that name none.
    pub model: String,
    /// Further models that a conversation may name.
    pub others: Vec<String>,
    /// The file with the key, which may have white space around it; `None` takes the key from the environment.
    pub api_key_file: Option<PathBuf>,
    /// How long a complete answer may take.
    pub timeout: Duration,
}
