//! Models: those that write summaries, those that embed, and when each is asked.

pub(super) mod breaker;
pub mod embedding;
pub mod llm;
pub(super) mod turns;
