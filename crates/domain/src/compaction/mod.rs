//! Compaction: most of a window is summarised in one step, which can be undone (seed 004).

mod advice;
mod compact;
mod kept;
mod llm;
mod record;
#[cfg(test)]
mod tests;
mod unable;
mod undo;

pub use advice::{Advice, Answer, answer};
pub use compact::{Compact, Compacted, Extent, compact};
pub use llm::{ReplaceByLlm, give_up, replace_by_llm};
pub use record::{Cause, Compaction};
pub use unable::Unable;
pub use undo::{Undo, Undone, undo};
