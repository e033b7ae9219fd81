//! Models rewrite segments, titles and closing summaries, in the background.
//!
//! A segment or an ending that awaits a model is its own queue entry: the store keeps an index of the
//! conversations that have one, so the work continues after a restart. No write waits for a model. Its answer
//! is a change like any other, and is dropped if the segment no longer exists or something was forgotten
//! meanwhile. Before a model is asked, the conversation is claimed in the store, so that processes sharing a
//! store do not all pay for the same work.

mod job;
mod material;
mod meters;
mod model;
mod on_demand;
mod standing;
mod summarizer;
mod tenant;
mod worker;

pub(crate) use material::newest;
pub(crate) use model::Llm;
pub(crate) use summarizer::call_within;
pub use summarizer::{LlmError, LlmSummarizer, LlmSummary, Material, Task, Usage};
pub use tenant::LlmStanding;
