//! The generated messages and services of `utterd.v1`.
#![allow(missing_docs, clippy::all)]

tonic::include_proto!("utterd.v1");

/// The descriptors of every message and service, for reflection.
pub const FILE_DESCRIPTOR_SET: &[u8] = include_bytes!("../../../proto/v1.binpb");

/// Returns the decoded descriptors, with those of error details; `None` if they are broken.
pub fn descriptors() -> Option<&'static prost_reflect::DescriptorPool> {
    static POOL: std::sync::LazyLock<Option<prost_reflect::DescriptorPool>> =
        std::sync::LazyLock::new(|| decoded().ok());
    POOL.as_ref()
}

fn decoded() -> Result<prost_reflect::DescriptorPool, Box<dyn std::error::Error>> {
    let mut pool = prost_reflect::DescriptorPool::decode(FILE_DESCRIPTOR_SET)?;
    let details: prost_types::FileDescriptorSet =
        prost::Message::decode(tonic_types::pb::FILE_DESCRIPTOR_SET)?;
    // Status is in a file of another name in each of the two sets.
    let is_known = |name: &str| pool.get_message_by_name(&format!("google.rpc.{name}")).is_some();
    let is_missing = |file: &prost_types::FileDescriptorProto| {
        !file.message_type.iter().any(|message| is_known(message.name()))
    };
    let missing: Vec<_> = details.file.into_iter().filter(is_missing).collect();
    pool.add_file_descriptor_protos(missing)?;
    Ok(pool)
}
