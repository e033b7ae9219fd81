//! Input and output of commands: lines, tables, texts and JSON.

mod bar;
mod interrupt;
mod output;
mod part;
pub mod read;
mod table;
pub mod text;

pub use bar::bar;
pub use interrupt::{all_or_nothing, unless_interrupted};
pub use output::{Output, note, print, reflect};
pub use part::{Part, Sink};
pub use table::aligned;
pub use text::{
    bytes, clipped, count, counted, folded, minute, ranges, said, seconds, sequences, speaker, word,
};
