//! A good store is clean, and every damage is named.

mod compactions;
mod engine;
mod forks;
mod good;
mod random;
mod records;
mod references;
mod states;
