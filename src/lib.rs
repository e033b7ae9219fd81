//! `utterd` keeps what was said, for LLM agents.
#![forbid(unsafe_code)]

pub mod cli;
pub mod config;
pub mod domain;
pub mod engine;
pub mod rpc;
pub mod server;
pub mod store;
pub mod tokenizer;

/// The generated messages and services of `utterd.v1`.
#[allow(missing_docs, clippy::all)]
pub mod proto {
    tonic::include_proto!("utterd.v1");

    /// The descriptors of every message and service, for reflection.
    pub const FILE_DESCRIPTOR_SET: &[u8] =
        include_bytes!(concat!(env!("OUT_DIR"), "/utterd_descriptors.bin"));
}
