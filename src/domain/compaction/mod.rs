//! Compaction: most of a window becomes summary at once, and can be taken back (seed 004).

mod advice;
mod compact;
mod kept;
mod record;
mod retell;
#[cfg(test)]
mod tests;
mod unable;
mod undo;

pub use advice::{Advice, Answer, answer};
pub use compact::{Compact, Compacted, compact};
pub use record::{Cause, Compaction};
pub use retell::{Retell, give_up, retell};
pub use unable::Unable;
pub use undo::{Undo, Undone, undo};
