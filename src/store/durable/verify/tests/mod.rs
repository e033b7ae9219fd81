//! A good store is clean, and all damage is reported.

mod compactions;
mod engine;
mod forks;
mod good;
mod random;
mod records;
mod references;
mod states;
