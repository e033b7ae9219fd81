//! The settings of a client.

use std::{path::PathBuf, time::Duration};

use http::Uri;

/// The model that embeds, its server, and how long to wait for it.
#[derive(Clone, Debug)]
pub struct EmbedderSettings {
    /// The server's address, including `/v1` if its paths start with that.
    pub base_url: Uri,
    /// The model.
    pub model: String,
    /// The number of values per vector; `None` is the model's own number.
    pub dimensions: Option<usize>,
    /// The file that holds the key, possibly between white space; `None` takes the key from the environment.
    pub api_key_file: Option<PathBuf>,
    /// The time within which the complete answer must arrive.
    pub timeout: Duration,
}
