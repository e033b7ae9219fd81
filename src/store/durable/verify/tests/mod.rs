//! A good store is clean, and every damage is named.

mod compactions;
mod damage;
mod engine;
mod forks;
mod random;
