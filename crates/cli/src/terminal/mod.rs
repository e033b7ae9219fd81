//! Input and output of commands: pages, tables, texts and JSON.

mod bar;
mod interrupt;
mod json;
mod output;
mod pager;
mod part;
pub mod read;
mod table;
pub mod text;
mod wrap;

pub use bar::bar;
pub use interrupt::{all_or_nothing, unless_interrupted};
pub use json::reflect;
pub use output::{Output, bold, dim, note};
pub use part::{Part, Sink};
pub use table::{Side, aligned};
pub use text::{
    bytes, call, clipped, count, counted, minute, ranges, role, said, sequences, speaker, visible, word,
};
pub use wrap::wrap;
