//! What a client is made from.

use std::{path::PathBuf, time::Duration};

use url::Url;

/// Which model embeds, where, and for how long it is waited for.
#[derive(Clone, Debug)]
pub struct EmbedderSettings {
    /// The server, with `/v1` where its paths begin so.
    pub base_url: Url,
    /// The model.
    pub model: String,
    /// The values that a vector is to have; `None` is as many as the model gives.
    pub dimensions: Option<usize>,
    /// The file that holds the key, white space around it aside; `None` takes it from the environment.
    pub api_key_file: Option<PathBuf>,
    /// The whole of an answer is there within so long.
    pub timeout: Duration,
}
