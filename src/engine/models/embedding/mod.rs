//! Embeddings of searchable text, by a model. They are made in the background: only a search ever waits, for
//! the embedding of its own prompt.
//!
//! A search requests the embeddings of the conversations it reads. Missing ones are made in the background, in
//! batches, as are those of later utterances in conversations whose embeddings are in memory. Text of a
//! conversation that nobody searches is never sent. A search uses the embeddings that exist: if the model is
//! down or slow, or nothing is embedded yet, it ranks by words alone.
//!
//! Embeddings are derived from texts and are removed with them: when a commit erases or edits text, its
//! embedding leaves memory before the commit is answered, and leaves the store in the same step; one that was
//! still being made is dropped when it arrives.
//!
//! | file | contents |
//! |---|---|
//! | `embedder` | the interface to a model |
//! | `held`, `vectors` | the embeddings of a conversation; the cache of them |
//! | `kept`, `block` | the stored embeddings, and their byte format |
//! | `queue` | the waiting conversations |
//! | `worker` | embedding them |
//! | `prompt`, `prompts` | the embedding of a search's prompt, and the most recent ones |
//! | `similar` | the similarity of utterances to the prompt |
//! | `embeddings` | the model, with its embeddings, prompts and queue |
//! | `standing`, `counts`, `meters` | counts of the work so far |

mod block;
mod counts;
mod embedder;
mod embeddings;
mod held;
mod kept;
mod meters;
mod prompt;
mod prompts;
mod queue;
mod similar;
mod standing;
mod vectors;
mod worker;

pub use embedder::Embedder;
pub(in crate::engine) use embeddings::Embeddings;
pub use standing::EmbeddingStanding;
pub use worker::Embedded;
