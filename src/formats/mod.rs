//! The formats that conversations are written in for models and programs; pure.

pub mod render;

pub use render::{Rendered, render};
