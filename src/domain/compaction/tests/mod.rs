//! Compactions, beside what was said in the conversations.

mod always;
mod life;
mod rules;
