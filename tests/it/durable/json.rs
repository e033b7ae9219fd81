//! Messages as text that only contains set fields, so that a field that is added later changes nothing.

use prost::Message;
use prost_reflect::DynamicMessage;

use crate::support::wire::pool;

/// `message`, of the type `name` in the package `utterd.v1`, as JSON.
pub fn json(name: &str, message: &impl Message) -> String {
    let descriptor = pool().get_message_by_name(&format!("utterd.v1.{name}")).expect("a message of the API");
    let message = DynamicMessage::decode(descriptor, message.encode_to_vec().as_slice());
    let mut json = serde_json::to_value(message.expect("what was encoded")).expect("a message is JSON");
    json.sort_all_objects(); // maps have no order
    json.to_string()
}
