//! Summaries of conversations, written without a model.
//!
//! Pure: no files, no network, no clock. What a conversation's messages say goes in as [`message::Message`]; what was
//! done in it comes from `calls`, and the values that tools answered from `records`.

pub mod analysis;
mod calls;
mod choose;
pub mod closing;
pub mod compose;
pub mod facts;
mod harness;
pub mod hidden;
pub mod item;
pub mod message;
mod names;
mod numbers;
pub mod parse;
mod read;
mod records;
pub mod render;
mod replaced;
mod request;
pub mod settle;
mod shapes;
pub mod talk;
pub mod title;
mod todo;
mod weight;
mod words;
