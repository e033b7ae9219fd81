//! What goes to a model is accepted by its provider.
#![allow(dead_code)] // the bench of the same name uses the rest

mod figures;
mod fuzz;
mod prepare_history;
mod replay;
mod rules;
mod transcripts;
pub mod validator;
