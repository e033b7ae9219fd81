//! A failed call, in the form that the page receives.

use base64::{Engine as _, prelude::BASE64_STANDARD_NO_PAD as BASE64};
use prost::Message as _;
use prost_reflect::DynamicMessage;
use serde_json::{Value, json};
use tonic::Status;
use tonic_types::pb::Status as WireStatus;

use crate::{
    code_names::names,
    plain_http::{self as plain, Answer},
};
use utterd_rpc::proto;

/// The answer to a call that fails before it streams anything.
pub fn answer(status: &Status) -> Answer {
    plain::text(plain::status_of(status.code()), "application/json", failure(status).to_string())
}

/// The error of a call.
pub fn failure(status: &Status) -> Value {
    let mut failure = json!({ "code": names(status.code()).connect, "message": status.message() });
    let details = WireStatus::decode(status.details()).unwrap_or_default().details;
    if !details.is_empty() {
        failure["details"] = details.iter().map(|any| detail(&any.type_url, &any.value)).collect();
    }
    failure
}

/// A detail of `google.rpc`: the message in base64, and if it is known, in JSON.
fn detail(url: &str, value: &[u8]) -> Value {
    let kind = url.rsplit('/').next().unwrap_or_default();
    let mut detail = json!({ "type": kind, "value": BASE64.encode(value) });
    let descriptor = proto::descriptors().and_then(|pool| pool.get_message_by_name(kind));
    let message = descriptor.and_then(|descriptor| DynamicMessage::decode(descriptor, value).ok());
    if let Some(message) = message.and_then(|message| serde_json::to_value(message).ok()) {
        detail["debug"] = message;
    }
    detail
}
