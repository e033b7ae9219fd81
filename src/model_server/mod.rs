//! Servers of models, over HTTP: where one is, the key that it wants, and one request with its answer, bounded
//! in bytes and time. A key goes to its server alone, and into no text.

mod client;
mod endpoint;
mod key;
mod settings;
mod transport;

pub(crate) use client::ModelServer;
pub(crate) use settings::{KeyNames, ServerSettings};
pub use settings::{Protocol, SetupError};
