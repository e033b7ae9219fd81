//! What the engine asks of a model that embeds.

use crate::{engine::llm::LlmError, store::BoxFuture};

/// Turns texts into vectors with a model.
pub trait Embedder: Send + Sync + 'static {
    /// What the vectors are of: the model, and whatever else makes those of one incomparable with those of another.
    /// Vectors that are stored under another name are made anew.
    fn name(&self) -> &str;

    /// Asks for the vectors of some texts, once; one for each, in their order.
    ///
    /// - Answers within the configured timeout; a future that is dropped ends the request.
    /// - Never repeats a request that failed: the caller decides whether and when.
    /// - Texts are sent as they are. How many there are and how long is for the caller to bound.
    /// - Every vector has the same number of finite values, and there is one value at least.
    fn embed<'a>(&'a self, texts: &'a [String]) -> BoxFuture<'a, Result<Vec<Vec<f32>>, LlmError>>;
}
