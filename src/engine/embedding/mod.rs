//! Embeddings of what is searched, by a model: behind everything else, and never waited for but by the search that
//! asks for one of its prompt.
//!
//! A search asks for those of its conversations. What lacks one is embedded in the background, a batch at a time, and
//! so is what is said later in a conversation whose embeddings are in memory. Nothing is sent of a conversation that
//! nobody searches. A search takes what is there: where a model is away or slow, or nothing is embedded yet, words
//! alone tell.
//!
//! Embeddings are made of texts, and go where these go: what a commit erases or edits leaves memory before the commit
//! is answered, and the store in the same step; what was embedded meanwhile is dropped when it arrives.
//!
//! | file | what is there |
//! |---|---|
//! | `embedder` | what is asked of a model |
//! | `held`, `vectors` | the embeddings of a conversation; the cache of them |
//! | `kept`, `block` | what the store keeps of them, and its bytes |
//! | `queue` | the conversations that wait |
//! | `worker` | embedding them |
//! | `prompt`, `prompts` | the embedding of a search's prompt, and the last ones |
//! | `similar` | how near what is searched is to it |
//! | `standing`, `counts` | what was done so far |

mod block;
mod counts;
mod embedder;
mod embeddings;
mod held;
mod kept;
mod prompt;
mod prompts;
mod queue;
mod similar;
mod standing;
mod vectors;
mod worker;

pub use embedder::Embedder;
pub(super) use embeddings::Embeddings;
pub use standing::EmbeddingStanding;
pub use worker::Embedded;
