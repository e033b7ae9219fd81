//! Bounds the size of a status, so that it arrives: many clients accept 8 KiB of trailers, and report
//! RESOURCE_EXHAUSTED for a status that is larger.

use std::collections::HashMap;

use tonic_types::{ErrorDetails, FieldViolation};

use utterd_domain::limits::{MAX_DETAILS_BYTES, MAX_STATUS_TEXT_BYTES};

/// The name of the metadata with the number of field violations that were left out.
const LEFT_OUT: &str = "more_violations";
/// The bytes of a detail without its texts: tags, lengths and the name of its type.
const FRAME: usize = 64;

/// Returns the message, cut if it is long.
///
/// In trailers, a message is percent-encoded, and the limit applies to this form, in which most characters take
/// three times as many bytes.
pub fn message(text: String) -> String {
    match sent_bytes(&text) <= MAX_STATUS_TEXT_BYTES {
        true => text,
        false => cut(&text, MAX_STATUS_TEXT_BYTES, sent_bytes_of),
    }
}

/// Returns the details with long texts cut, and as many field violations as there is room for.
pub fn details(mut details: ErrorDetails) -> ErrorDetails {
    let mut room = MAX_DETAILS_BYTES;
    if let Some(resource) = details.resource_info().cloned() {
        let [kind, name, owner, about] =
            [resource.resource_type, resource.resource_name, resource.owner, resource.description]
                .map(|text| taken(text, &mut room));
        details.set_resource_info(kind, name, owner, about);
    }
    if let Some(quotas) = details.quota_failure().cloned() {
        let violations = quotas.violations.into_iter().map(|mut violation| {
            violation.subject = taken(violation.subject, &mut room);
            violation.description = taken(violation.description, &mut room);
            violation
        });
        details.set_quota_failure(violations.collect::<Vec<_>>());
    }
    let violations = details.bad_request().map_or(Vec::new(), |bad| bad.field_violations.clone());
    let all = violations.len();
    let mut kept: Vec<FieldViolation> = Vec::new();
    for FieldViolation { field, description, .. } in violations {
        if !kept.is_empty() && room < field.len() + description.len() + FRAME {
            break;
        }
        kept.push(FieldViolation::new(taken(field, &mut room), taken(description, &mut room)));
    }
    let left_out = all - kept.len();
    if all > 0 {
        details.set_bad_request(kept);
    }
    if let Some(info) = details.error_info().cloned() {
        let mut metadata: HashMap<_, _> =
            info.metadata.into_iter().filter(|(key, value)| fits(key, value, &mut room)).collect();
        if left_out > 0 {
            metadata.insert(LEFT_OUT.to_owned(), left_out.to_string());
        }
        details.set_error_info(info.reason, info.domain, metadata);
    }
    details
}

/// Returns the text, cut to half of the room, and takes its bytes from the room.
fn taken(text: String, room: &mut usize) -> String {
    let most = *room / 2;
    let text = if text.len() > most { cut(&text, most, char::len_utf8) } else { text };
    *room = room.saturating_sub(text.len() + FRAME / 2);
    text
}

/// Whether there is room for a whole entry, as a cut value would be wrong. If so, takes the room.
fn fits(key: &str, value: &str, room: &mut usize) -> bool {
    let left = room.checked_sub(key.len() + value.len() + FRAME / 2);
    *room = left.unwrap_or(*room);
    left.is_some()
}

/// Returns the beginning and the end of a text that is longer than `most`, as `cost` measures its characters. A
/// text begins with the fault, and ends with what is accepted.
fn cut(text: &str, most: usize, cost: fn(char) -> usize) -> String {
    let marked = |out: usize| format!("… [{out} bytes left out] …");
    let room = most.saturating_sub(marked(text.len()).chars().map(cost).sum());
    let fitting = |characters: &mut dyn Iterator<Item = char>, mut room: usize| {
        let fit = |character: &char| {
            let left = room.checked_sub(cost(*character));
            room = left.unwrap_or(room);
            left.is_some()
        };
        characters.take_while(fit).map(char::len_utf8).sum::<usize>()
    };
    let head = fitting(&mut text.chars(), room / 2);
    let tail = fitting(&mut text[head..].chars().rev(), room / 2);
    let out = text.len() - head - tail;
    format!("{}{}{}", &text[..head], marked(out), &text[text.len() - tail..])
}

/// Returns the bytes of a text in trailers.
fn sent_bytes(text: &str) -> usize {
    text.chars().map(sent_bytes_of).sum()
}

/// Returns the bytes of a character in trailers: percent-encoded, unless it is sent as it is.
fn sent_bytes_of(character: char) -> usize {
    let is_plain = character.is_ascii_graphic() && !"\"#%<>`?{}".contains(character);
    if is_plain { 1 } else { 3 * character.len_utf8() }
}
