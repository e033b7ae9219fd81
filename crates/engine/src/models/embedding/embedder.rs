//! The engine's interface to a model that embeds.

use crate::models::llm::LlmError;
use utterd_store::BoxFuture;

/// Turns texts into vectors with a model.
pub trait Embedder: Send + Sync + 'static {
    /// Returns the source of the vectors: the model, and everything else that makes vectors incomparable.
    /// Vectors that are stored under another name are made again.
    fn name(&self) -> &str;

    /// Asks once for the vectors of some texts; returns one for each, in order.
    ///
    /// - Answers within the configured timeout; dropping the future ends the request.
    /// - Never repeats a failed request: the caller decides whether and when to.
    /// - Sends the texts unchanged. The caller bounds their number and length.
    /// - Every vector has the same number of finite values, at least one.
    fn embed<'a>(&'a self, texts: &'a [String]) -> BoxFuture<'a, Result<Vec<Vec<f32>>, LlmError>>;
}
