//! The settings of a client, and the errors in setting one up.

use std::{
    io,
    path::{Path, PathBuf},
    time::Duration,
};

use http::Uri;

/// The protocol of a model server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// OpenAI's chat completions and embeddings.
    OpenAi,
    /// Anthropic's messages.
    Anthropic,
}

/// The server to use, and how.
pub struct ServerSettings<'a> {
    /// The protocol of the server.
    pub protocol: Protocol,
    /// The address of the server, with `/v1` for [`Protocol::OpenAi`]; `None` is the provider's own.
    pub base_url: Option<&'a Uri>,
    /// The file with the key, which may have white space around it; `None` takes the key from the environment.
    pub api_key_file: Option<&'a Path>,
    /// Where to look for the key.
    pub names: KeyNames,
    /// How long a complete answer may take.
    pub timeout: Duration,
    /// The maximum bytes of an answer.
    pub max_answer_bytes: usize,
}

/// Where to look for a key, by the names that users know.
#[derive(Clone, Copy)]
pub struct KeyNames {
    /// The setting that names a file.
    pub file: &'static str,
    /// The variable that takes precedence over the provider's own.
    pub variable: &'static str,
}

/// The reason why a client cannot be set up.
#[derive(Debug, thiserror::Error)]
pub enum SetupError {
    /// The provider requires a key.
    #[error("llm is set, but there is no key: set {file}, {variable} or {provider}")]
    NoKey {
        /// The setting that names a file.
        file: &'static str,
        /// The variable that can hold the key.
        variable: &'static str,
        /// The provider's own variable.
        provider: &'static str,
    },
    /// The file with the key cannot be read.
    #[error("{setting} {path}: {error}", path = .path.display())]
    KeyFile {
        /// The setting that names the file.
        setting: &'static str,
        /// The file.
        path: PathBuf,
        /// The reason.
        error: io::Error,
    },
    /// The key cannot be sent in a header.
    #[error("the key given {0} is not valid: a key is one line of ASCII")]
    Key(String),
    /// The HTTP client cannot be made, for example because the system has no certificates.
    #[error("no HTTP client for the model: {0}")]
    Http(String),
}
