//! Models tell segments anew, and titles and closing summaries, behind everything else.
//!
//! A segment that awaits a model is its own place in the queue, and so is the ending of a conversation: the
//! store has an index of the conversations that have one, so that the work goes on after a restart. No write waits for a model; what
//! it answers is a change like any other, which is dropped when the segment is not there any more or
//! something was forgotten meanwhile. Before a model is asked, the conversation is claimed in the store, so that
//! processes which share one do not all pay for the same.

mod counts;
mod job;
mod material;
mod model;
mod on_demand;
mod standing;
mod summarizer;
mod tenant;
mod worker;

pub(super) use material::newest;
pub(super) use model::Llm;
pub use on_demand::Waited;
pub use standing::LlmStanding;
pub use summarizer::{LlmError, LlmSummarizer, Material, Task, Told};
