//! A failed call, in the form that the page receives.

use base64::{Engine as _, prelude::BASE64_STANDARD_NO_PAD as BASE64};
use prost::Message as _;
use prost_reflect::DynamicMessage;
use serde::Serialize;
use tonic::Status;
use tonic_types::pb::Status as WireStatus;

use crate::{
    code_names::names,
    plain_http::{self as plain, Answer},
};
use utterd_rpc::proto;

/// The error of a call.
#[derive(Serialize)]
pub struct Failure<'a> {
    code: &'static str,
    message: &'a str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    details: Vec<Detail>,
}

/// A detail of `google.rpc`.
#[derive(Serialize)]
struct Detail {
    #[serde(rename = "type")]
    kind: String,
    /// The message, in base64.
    value: String,
    /// The message in JSON.
    #[serde(skip_serializing_if = "Option::is_none")]
    debug: Option<DynamicMessage>,
}

impl<'a> Failure<'a> {
    /// The error of `status`.
    pub fn of(status: &'a Status) -> Self {
        let details = WireStatus::decode(status.details()).unwrap_or_default().details;
        let details = details.into_iter().map(|any| Detail::of(&any.type_url, &any.value)).collect();
        Self { code: names(status.code()).connect, message: status.message(), details }
    }

    /// The answer to a call that fails before it streams anything.
    pub fn answer(status: &Status) -> Answer {
        let json = serde_json::json!(Failure::of(status)).to_string();
        plain::text(plain::status_of(status.code()), "application/json", json)
    }
}

impl Detail {
    fn of(url: &str, value: &[u8]) -> Self {
        let kind = url.rsplit('/').next().unwrap_or_default().to_owned();
        let descriptor = proto::descriptors().and_then(|pool| pool.get_message_by_name(&kind));
        let debug = descriptor.and_then(|descriptor| DynamicMessage::decode(descriptor, value).ok());
        Self { kind, value: BASE64.encode(value), debug }
    }
}
