//! A good store is clean, and every damage is named.

mod damage;
mod engine;
mod forks;
mod random;
