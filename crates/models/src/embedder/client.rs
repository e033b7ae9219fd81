//! The client of an embedding model on one server.

use serde_json::json;

use super::{EmbedderSettings, answer};
use crate::model_server::ModelServer;
use utterd_engine::models::{embedding::Embedder, llm::LlmError};
use utterd_store::BoxFuture;

/// The path of requests, below the address of the server.
const PATH: &str = "/embeddings";

/// An embedding model on one server.
pub(super) struct EmbeddingClient {
    server: ModelServer,
    model: String,
    dimensions: Option<usize>,
    name: String,
}

impl EmbeddingClient {
    /// Returns a client of the model in `settings`, on `server`.
    pub(super) fn new(settings: &EmbedderSettings, server: ModelServer) -> Self {
        let model = settings.model.clone();
        let name = match settings.dimensions {
            Some(dimensions) => format!("{model}, {dimensions} dimensions"),
            None => model.clone(),
        };
        Self { server, model, dimensions: settings.dimensions, name }
    }

    async fn ask(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, LlmError> {
        // some servers send base64 by default
        let mut request = json!({"model": self.model, "input": texts, "encoding_format": "float"});
        if let Some(dimensions) = self.dimensions {
            request["dimensions"] = dimensions.into();
        }
        let answer = self.server.post(PATH, request).await?;
        answer::vectors(&answer, texts.len(), self.dimensions)
    }
}

impl Embedder for EmbeddingClient {
    fn name(&self) -> &str {
        &self.name
    }

    fn embed<'a>(&'a self, texts: &'a [String]) -> BoxFuture<'a, Result<Vec<Vec<f32>>, LlmError>> {
        Box::pin(self.server.within_timeout(self.ask(texts)))
    }
}
