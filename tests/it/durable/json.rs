//! Messages as text that only contains set fields, so that a field that is added later changes nothing.

use std::sync::LazyLock;

use prost::Message;
use prost_reflect::{DescriptorPool, DynamicMessage};

static POOL: LazyLock<DescriptorPool> =
    LazyLock::new(|| DescriptorPool::decode(utterd::proto::FILE_DESCRIPTOR_SET).expect("the descriptors"));

/// `message`, of the type `name` in the package `utterd.v1`, as JSON.
pub fn json(name: &str, message: &impl Message) -> String {
    let descriptor = POOL.get_message_by_name(&format!("utterd.v1.{name}")).expect("a message of the API");
    let message = DynamicMessage::decode(descriptor, message.encode_to_vec().as_slice());
    let mut json = serde_json::to_value(message.expect("what was encoded")).expect("a message is JSON");
    json.sort_all_objects(); // maps have no order
    json.to_string()
}
