//! An error as a script shows it: code, reason, message, and the names in its details.

use std::fmt::Write;

use tonic::Status;
use tonic_types::StatusExt;

/// The maximum length of a message.
const SHOWN: usize = 200;

/// `CODE REASON: message`, and a line for each detail.
pub fn describe(status: &Status) -> String {
    let details = status.get_error_details();
    let mut text = upper_snake(&format!("{:?}", status.code()));
    if let Some(info) = details.error_info() {
        let _ = write!(text, " {}", info.reason);
    }
    let _ = write!(text, ": {}", cut(status.message()));
    for violation in details.bad_request().map_or(&[][..], |bad| &bad.field_violations) {
        let _ = write!(text, "\n  field {}", violation.field);
    }
    if let Some(resource) = details.resource_info() {
        let _ = write!(text, "\n  resource {} {:?}", resource.resource_type, resource.resource_name);
    }
    if let Some(info) = details.error_info() {
        let mut metadata: Vec<_> = info.metadata.iter().collect();
        metadata.sort();
        metadata.iter().for_each(|(key, value)| _ = write!(text, "\n  {key} {value}"));
    }
    text
}

/// The start of a long message: those of Forget list every accepted form.
fn cut(message: &str) -> String {
    match message.chars().count() > SHOWN {
        true => format!("{}…", message.chars().take(SHOWN).collect::<String>()),
        false => message.to_owned(),
    }
}

/// `InvalidArgument` as `INVALID_ARGUMENT`.
fn upper_snake(camel: &str) -> String {
    let mut text = String::new();
    for letter in camel.chars() {
        if letter.is_uppercase() && !text.is_empty() {
            text.push('_');
        }
        text.extend(letter.to_uppercase());
    }
    text
}
