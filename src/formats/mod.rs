//! Providers' message formats, as JSON. Pure: text comes in, text goes out.
//!
//! | module | what it does |
//! |---|---|
//! | [`history`] | makes a caller's history fit for a model (PrepareHistory) |
//! | [`mod@render`] | writes a context as messages for a model, or as text |

pub mod history;
pub mod render;
mod surrogates;

pub use render::{Rendered, render};
