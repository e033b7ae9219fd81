//! Providers' message formats, as JSON. Pure: text comes in, text goes out.
//!
//! | module | what it does |
//! |---|---|
//! | [`mod@render`] | writes a context as messages for a model, or as text |

pub mod render;

pub use render::{Rendered, render};
