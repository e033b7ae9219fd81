//! Embeddings by a model, over HTTP: OpenAI's protocol, which many servers speak.
//!
//! One call is one attempt. What is embedded, when, and what becomes of failures is decided by the engine.

mod answer;
mod client;
mod settings;

use std::sync::Arc;

pub use crate::model_server::SetupError;
pub use settings::EmbedderSettings;

use crate::{
    domain::limits::MAX_EMBEDDING_ANSWER_BYTES,
    engine::embedding::Embedder,
    model_server::{KeyNames, ModelServer, Protocol, ServerSettings},
};
use client::EmbeddingClient;

/// Where the key is looked for.
const KEY: KeyNames = KeyNames { file: "embedding_api_key_file", variable: "UTTERD_EMBEDDING_API_KEY" };

/// The client for `settings`; `environment` tells the value of a variable.
///
/// A key is taken from the file, else from `UTTERD_EMBEDDING_API_KEY`, else from `OPENAI_API_KEY`. A server may
/// want none. Nothing is sent yet.
pub fn build(
    settings: &EmbedderSettings,
    environment: impl Fn(&str) -> Option<String>,
) -> Result<Arc<dyn Embedder>, SetupError> {
    let server = ServerSettings {
        protocol: Protocol::OpenAi,
        base_url: Some(&settings.base_url),
        api_key_file: settings.api_key_file.as_deref(),
        names: KEY,
        timeout: settings.timeout,
        max_answer_bytes: MAX_EMBEDDING_ANSWER_BYTES,
    };
    Ok(Arc::new(EmbeddingClient::new(settings, ModelServer::new(&server, environment)?)))
}
