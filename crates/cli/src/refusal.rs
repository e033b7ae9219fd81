//! A server's refusal as it is shown to a person.

use tonic::Status;
use tonic_types::{FieldViolation, StatusExt};

/// The start of a part of a refusal that is not shown to a person at a terminal: it lists the accepted instructions,
/// which `forget --help` explains, or names a call of the API.
const FOR_PROGRAMS: [&str; 3] = ["; valid forms: oldest, ", "; Memorize ", "; CreateConversation "];

/// The reason if a server requires credentials.
const CREDENTIALS: &str = "MISSING_CREDENTIALS";

/// What to do next, by the reason of the refusal.
const NEXT: [(&str, &str); 8] = [
    ("CONVERSATION_NOT_FOUND", "`utterd memorize` starts it; `utterd list --all` lists those that exist"),
    ("UTTERANCE_NOT_FOUND", "`utterd show` lists the utterances with their numbers"),
    ("SHARE_NOT_FOUND", "`utterd call GetConversation` lists the shares"),
    ("NO_OPEN_CALL", "`utterd show --json` lists the calls with their ids"),
    ("INSTRUCTION_NOT_UNDERSTOOD", "`utterd forget --help` explains the instructions"),
    ("CONVERSATION_EXISTS", "choose another id, or leave it out"),
    ("STALE_REVISION", "look at the conversation with `utterd show`, and try again"),
    (CREDENTIALS, "the command line takes a token from --token-file FILE, UTTERD_TOKEN or UTTERD_TOKEN_FILE"),
];

/// The reason in a refusal's ErrorInfo, such as `NO_OPEN_CALL`; empty when it has none.
pub fn reason(status: &Status) -> String {
    status.get_details_error_info().map(|info| info.reason).unwrap_or_default()
}

/// What to do next, if known.
pub fn next(reason: &str) -> Option<&'static str> {
    NEXT.iter().find(|(of, _)| *of == reason).map(|(_, step)| *step)
}

/// The text for a program or a model: the message, the reason, and below them each bad field that the message does
/// not name.
pub fn refusal(status: &Status) -> String {
    let told = composed(status, |text| text);
    match reason(status).as_str() {
        CREDENTIALS => format!("{told}{}", below(CREDENTIALS)),
        _ => told,
    }
}

/// The text for a person at a terminal: the same without what is for programs, and with what to do next.
pub fn told(status: &Status) -> String {
    composed(status, short) + &below(&reason(status))
}

/// What to do next, on a line of its own.
fn below(reason: &str) -> String {
    next(reason).map(|step| format!("\n  {step}")).unwrap_or_default()
}

fn composed(status: &Status, cut: fn(&str) -> &str) -> String {
    let reason = reason(status);
    let kind = if reason.is_empty() { status.code().description() } else { &reason };
    let mut text = format!("{} [{kind}]", cut(status.message()));
    for FieldViolation { field, description, .. } in blamed(status) {
        let line = format!("{field}: {}", cut(&description));
        if !text.contains(&line) {
            text += &format!("\n  {line}");
        }
    }
    text
}

/// The fields that are to blame.
pub fn blamed(status: &Status) -> Vec<FieldViolation> {
    status.get_details_bad_request().map(|it| it.field_violations).unwrap_or_default()
}

/// Whether a server refuses a request because of this field.
pub fn blames(status: &Status, field: &str) -> bool {
    blamed(status).iter().any(|blamed| blamed.field == field)
}

/// A text without the part for programs.
fn short(text: &str) -> &str {
    let end = FOR_PROGRAMS.iter().filter_map(|start| text.find(start)).min();
    &text[..end.unwrap_or(text.len())]
}

#[cfg(test)]
mod tests {
    use tonic::Code;
    use tonic_types::ErrorDetails;

    use super::*;

    #[test]
    fn a_refusal_names_its_reason_and_each_field() {
        let mut details = ErrorDetails::with_error_info("EMPTY_BATCH", "utterd", []);
        details.add_bad_request_violation("utterances", "is empty; accepted: 1 to 1,000");
        details.add_bad_request_violation("turn", "is 0");
        let status = Status::with_error_details(Code::InvalidArgument, "two fields", details);
        let told = "two fields [EMPTY_BATCH]\n  utterances: is empty; accepted: 1 to 1,000\n  turn: is 0";
        assert_eq!(refusal(&status), told);
    }

    #[test]
    fn a_refusal_without_details_names_its_code() {
        assert!(
            refusal(&Status::unavailable("gone")).starts_with("gone [The service is currently unavailable")
        );
    }

    #[test]
    fn instructions_are_explained_elsewhere() {
        let description = "\"last:0\": N counts from 1; valid forms: oldest, newest, and many more";
        let mut details = ErrorDetails::with_error_info("INSTRUCTION_NOT_UNDERSTOOD", "utterd", []);
        details.add_bad_request_violation("instructions", description);
        let message = format!("instructions: {description}");
        let status = Status::with_error_details(Code::InvalidArgument, message, details);
        let told = "instructions: \"last:0\": N counts from 1 [INSTRUCTION_NOT_UNDERSTOOD]\n  `utterd forget --help` explains the instructions";
        assert_eq!(super::told(&status), told);
        assert!(refusal(&status).contains("and many more"), "a model is told all");
    }
}
