//! What a client is made from.

use std::{path::PathBuf, time::Duration};

use url::Url;

use crate::model_server::Protocol;

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
