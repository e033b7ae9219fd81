//! What a client is made from, and why there can be none.

use std::{
    io,
    path::{Path, PathBuf},
    time::Duration,
};

use url::Url;

/// The protocol that a server of models speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// OpenAI's chat completions and embeddings.
    OpenAi,
    /// Anthropic's messages.
    Anthropic,
}

/// Which server is asked, and how.
pub(crate) struct ServerSettings<'a> {
    /// What it speaks.
    pub protocol: Protocol,
    /// Where it is, with `/v1` for [`Protocol::OpenAi`]; `None` is the provider's own.
    pub base_url: Option<&'a Url>,
    /// The file that holds the key, white space around it aside; `None` takes it from the environment.
    pub api_key_file: Option<&'a Path>,
    /// Where a key is looked for.
    pub names: KeyNames,
    /// The whole of an answer is there within so long.
    pub timeout: Duration,
    /// Most bytes of an answer.
    pub max_answer_bytes: usize,
}

/// Where a key is looked for, by the names that a person knows.
#[derive(Clone, Copy)]
pub(crate) struct KeyNames {
    /// The setting that names a file.
    pub file: &'static str,
    /// The variable that comes before the provider's own.
    pub variable: &'static str,
}

/// Why a model cannot be asked at all.
#[derive(Debug, thiserror::Error)]
pub enum SetupError {
    /// The provider wants a key.
    #[error("llm is set, but there is no key: set {file}, {variable} or {provider}")]
    NoKey {
        /// The setting that names a file.
        file: &'static str,
        /// The variable that may hold it.
        variable: &'static str,
        /// The provider's own.
        provider: &'static str,
    },
    /// The file with the key cannot be read.
    #[error("{setting} {path}: {error}", path = .path.display())]
    KeyFile {
        /// The setting that names it.
        setting: &'static str,
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
