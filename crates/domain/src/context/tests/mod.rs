//! Contexts as a whole: what always holds, and their parts.

mod always;
mod archive;
mod parts;
mod recalls;
mod talk;
