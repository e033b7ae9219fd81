//! The printed figures, and their invariants.

pub mod histories;
pub mod stability;
pub mod validity;
