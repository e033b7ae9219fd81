//! Connections of a real server: how many are allowed, and what ends them.

mod client;
mod ending;
mod lifecycle;
mod owned;
mod room;
mod tls;
mod unix;
