//! Real transcripts, said message by message, and the contexts built on the way.

pub mod naive;
pub mod prefix;
pub mod rebuilt;
pub mod recount;
pub mod said;
pub mod transcripts;
