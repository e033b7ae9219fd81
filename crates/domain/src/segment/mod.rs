//! Segments: sentences from utterances that left the window, and the sequences that each segment covers.

mod cut;
mod imported;
mod joined;
mod llm;
mod llm_text;
mod period;
mod rebuild;
mod record;
mod rewrite;
mod summary;
mod summary_context;
#[cfg(test)]
mod tests;
mod told;
mod unfold;

pub use cut::Cut;
pub use llm_text::{Awaits, LlmText, Unfit, lines};
pub use period::{Imported, ImportedSummary};
pub use record::Segment;
pub use summary::{SegmentChanges, Summary};
pub use summary_context::SummaryContext;
