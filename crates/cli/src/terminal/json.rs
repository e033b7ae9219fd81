//! Messages as protobuf's canonical JSON, made with the descriptors that the build embeds.

use prost::Message;
use prost_reflect::DynamicMessage;

use crate::errors::CliError;
use utterd_rpc::proto::descriptors;

/// Converts `message`, of the type `name` in the package `utterd.v1`, to a form that serialises to JSON.
pub fn reflect(name: &str, message: &impl Message) -> Result<DynamicMessage, CliError> {
    let failed = |error: &dyn std::fmt::Display| {
        CliError::Failed(format!("the response cannot be shown as JSON: {error}"))
    };
    let descriptor = descriptors().and_then(|pool| pool.get_message_by_name(&format!("utterd.v1.{name}")));
    let descriptor = descriptor.ok_or_else(|| failed(&format_args!("there is no message {name}")))?;
    DynamicMessage::decode(descriptor, message.encode_to_vec().as_slice()).map_err(|error| failed(&error))
}

#[cfg(test)]
mod tests {
    use super::*;
    use utterd_rpc::proto::{Role, UtteranceRef};

    #[test]
    fn json_is_protobufs_own() {
        let reference =
            UtteranceRef { sequence: 7, role: Role::User.into(), turn_number: Some(0), ..Default::default() };
        let json = serde_json::to_string(&reflect("UtteranceRef", &reference).unwrap()).unwrap();
        assert_eq!(json, r#"{"sequence":"7","role":"ROLE_USER","turnNumber":0}"#);
        assert!(reflect("Nothing", &reference).is_err());
        assert!(descriptors().unwrap().get_message_by_name("google.rpc.BadRequest").is_some());
    }
}
