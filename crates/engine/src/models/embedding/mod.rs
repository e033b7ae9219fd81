//! Embeddings of searchable text, by a model. They are made in the background: only a search ever waits, for
//! the embedding of its own prompt.
//!
//! A search requests the embeddings of the conversations it reads. Missing ones are made in the background, in
//! batches, as are those of later utterances in conversations whose embeddings are in memory. Text of a
//! conversation that nobody searches is never sent. A search uses the embeddings that exist: if the model is
//! down or slow, or nothing is embedded yet, it ranks by words alone.
//!
//! Embeddings are derived from texts and are removed with them. A commit that erases or edits text also
//! removes its embedding from the store, and the embedding leaves memory before the commit is answered. An
//! embedding that is still being made is dropped when it arrives.
//!
//! | file | contents |
//! |---|---|
//! | `embedder` | the interface to a model |
//! | `held`, `vectors` | the embeddings of one conversation, and the cache of all |
//! | `kept`, `block` | the stored embeddings, and their byte format |
//! | `worker` | the background task that embeds their utterances |
//! | `prompts` | the embedding of a search's prompt, and the most recent ones |
//! | `similar` | the similarity of utterances to the prompt |
//! | `embeddings` | the model, with its embeddings, prompts and the waiting conversations |
//! | `standing`, `meters` | counts of the work so far: of a namespace, and for operators |

mod block;
mod embedder;
mod embeddings;
mod held;
mod kept;
mod meters;
mod prompts;
mod similar;
mod standing;
mod vectors;
mod worker;

pub use embedder::Embedder;
pub(crate) use embeddings::Embeddings;
pub use meters::EmbeddingStanding;
pub use worker::Embedded;
