//! The build script of `crates/rpc`: generates the code of the protos from their descriptors in `proto/v1.binpb`, so that neither `protoc` nor another
//! compiler of protos is needed. `tests/it/protos.rs` compares the descriptors with the protos.

use std::{error::Error, fs};

use prost::Message;
use tonic_prost_build::{Config, FileDescriptorSet};

const DESCRIPTORS: &str = "../../proto/v1.binpb";

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed={DESCRIPTORS}");
    let descriptors = FileDescriptorSet::decode(&*fs::read(DESCRIPTORS)?)?;
    let mut config = Config::new();
    config.enable_type_names();
    tonic_prost_build::configure()
        .btree_map(".")
        .codec_path("crate::MessageCodec")
        .extern_path(".google.rpc", "::tonic_types::pb")
        .compile_fds_with_config(descriptors, config)?;
    Ok(())
}
