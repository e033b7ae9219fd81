//! The contract of an engine, tested on each.

mod files;
mod pairs;
mod store;
