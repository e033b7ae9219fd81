//! The figures that are printed, and what must hold of them.

pub mod histories;
pub mod stability;
pub mod validity;
