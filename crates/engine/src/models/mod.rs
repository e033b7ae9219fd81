//! Models: those that write summaries, those that embed, and when each is called.

pub(super) mod breaker;
pub mod embedding;
pub mod llm;
pub(super) mod turns;
