//! Compactions, next to a record of what was said in the conversations.

mod always;
mod life;
mod rules;
