//! Compiles the protos with a parser written in Rust, so that no `protoc` is needed.

use std::{env, error::Error, fs, path::PathBuf};

const ROOT: &str = "proto";
const SERVICES: [&str; 6] = [
    "utterd/v1/admin_service.proto",
    "utterd/v1/memory_service.proto",
    "utterd/v1/conversation_service.proto",
    "utterd/v1/context_service.proto",
    "utterd/v1/trace_service.proto",
    "utterd/v1/compaction_service.proto",
];

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed={ROOT}");
    let descriptors = protox::compile(SERVICES, [ROOT])?;
    let out = PathBuf::from(env::var("OUT_DIR")?);
    fs::write(out.join("utterd_descriptors.bin"), prost::Message::encode_to_vec(&descriptors))?;
    tonic_prost_build::configure()
        .btree_map(".")
        .codec_path("crate::rpc::MessageCodec")
        .extern_path(".google.rpc", "::tonic_types::pb")
        .compile_fds(descriptors)?;
    Ok(())
}
