//! Input and output of commands: pages, tables, texts and JSON.

pub(super) mod bar;
pub(super) mod interrupt;
pub(super) mod json;
pub(super) mod output;
pub(super) mod pager;
pub(super) mod part;
pub(super) mod read;
pub(super) mod table;
pub(super) mod text;
pub(super) mod wrap;
