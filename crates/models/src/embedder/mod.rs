//! Embeddings by a model, over HTTP, with OpenAI's protocol, which many servers support.
//!
//! One call is one attempt. The engine decides what to embed, when, and what to do about failures.

mod answer;
mod client;
mod settings;

use std::sync::Arc;

pub use crate::model_server::SetupError;
pub use settings::EmbedderSettings;

use crate::model_server::{KeyNames, ModelServer, Protocol, ServerSettings};
use client::EmbeddingClient;
use utterd_domain::limits::MAX_EMBEDDING_ANSWER_BYTES;
use utterd_engine::models::embedding::Embedder;

/// Where the key can be set.
const KEY: KeyNames = KeyNames { file: "embedding_api_key_file", variable: "UTTERD_EMBEDDING_API_KEY" };

/// Builds the client for `settings`; `environment` returns the value of a variable.
///
/// The key comes from the file, else from `UTTERD_EMBEDDING_API_KEY`, else from `OPENAI_API_KEY`. Some servers
/// need no key. Nothing is sent yet.
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
