//! The settings of a client.

use std::{path::PathBuf, time::Duration};

use http::Uri;

use crate::model_server::Protocol;

/// The model to ask, its server, and how long to wait.
#[derive(Clone, Debug)]
pub struct LlmSettings {
    /// The protocol of the model's server.
    pub protocol: Protocol,
    /// The server, with `/v1` for [`Protocol::OpenAi`]; `None` is the provider's own.
    pub base_url: Option<Uri>,
    /// The model for conversations that name none.
    pub model: String,
    /// Further models that a conversation may name.
    pub others: Vec<String>,
    /// The file with the key, which may have white space around it; `None` takes the key from the environment.
    pub api_key_file: Option<PathBuf>,
    /// How long a complete answer may take.
    pub timeout: Duration,
}
