//! Model servers, over HTTP: the address, the API key, and one request with its answer, bounded in bytes and
//! time. A key is sent only to its server, and never becomes part of a text.

mod client;
mod endpoint;
mod key;
mod settings;
mod transport;

pub use client::ModelServer;
pub use settings::{KeyNames, Protocol, ServerSettings, SetupError};
