//! Segments: what left the window, in sentences, and which sequences each covers.

mod chunk;
mod cut;
mod joined;
mod llm;
mod llm_text;
mod means;
mod rebuild;
mod record;
mod rewrite;
mod summary;
#[cfg(test)]
mod tests;
mod unfold;

pub use cut::Cut;
pub use llm_text::{Awaits, Retold, Unfit, lines};
pub use means::Means;
pub use record::Segment;
pub use summary::{SegmentChanges, Summary};
