//! What goes wrong, how it is told and with which exit code.

use std::{
    error::Error,
    io::{self, Write},
    process::ExitCode,
};

use tonic::Status;
use tonic_types::StatusExt;

use crate::{
    config::{ConfigError, Place},
    server::{ServeError, upkeep::UpkeepError},
};

/// Why a command did not work.
#[derive(Debug, thiserror::Error)]
pub enum CliError {
    /// The configuration is wrong.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The command line is wrong.
    #[error("{0}")]
    Usage(String),
    /// Nobody answers.
    #[error(
        "no server answers at {server} ({reason}): start one with `utterd serve`, or name another with --server or UTTERD_SERVER"
    )]
    Unreachable {
        /// The address tried.
        server: String,
        /// What happened.
        reason: String,
    },
    /// The server refused.
    #[error("{}", refusal(.0))]
    Refused(Box<Status>),
    /// The server ended.
    #[error(transparent)]
    Serve(#[from] ServeError),
    /// The Model Context Protocol cannot be served.
    #[error("{0}")]
    Mcp(String),
    /// The files of a store cannot be worked on.
    #[error(transparent)]
    Upkeep(#[from] UpkeepError),
    /// The files of a store are not as they should be; each problem has been told.
    #[error("{problems} in {store}")]
    Damaged {
        /// The store.
        store: Place,
        /// How many, as people write it.
        problems: String,
    },
    /// A message of the server cannot be shown.
    #[error("the response cannot be shown as JSON: {0}")]
    Json(String),
    /// Reading or writing failed.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// Some of it failed, and each failure has been told.
    #[error("{0} failed")]
    Incomplete(String),
}

impl From<Status> for CliError {
    fn from(status: Status) -> Self {
        Self::Refused(Box::new(status))
    }
}

/// Tells what went wrong, if anything, and turns it into the exit code.
pub fn exit(result: Result<(), CliError>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        // Whoever read the output has seen enough.
        Err(CliError::Io(error)) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            // Nobody is left to tell when stderr is gone as well.
            let _ = writeln!(io::stderr(), "error: {error}");
            match error {
                CliError::Config(_) | CliError::Usage(_) | CliError::Serve(ServeError::Guard(_)) => {
                    ExitCode::from(2)
                }
                _ => ExitCode::FAILURE,
            }
        }
    }
}

/// The reason in a refusal's ErrorInfo, such as `NO_OPEN_CALL`; empty when it has none.
pub fn reason(status: &Status) -> String {
    status.get_details_error_info().map(|info| info.reason).unwrap_or_default()
}

/// The message and the reason, and below them each bad field that the message does not name.
pub fn refusal(status: &Status) -> String {
    let kind = match reason(status) {
        reason if reason.is_empty() => status.code().description().to_owned(),
        reason => reason,
    };
    let mut text = format!("{} [{kind}]", status.message());
    let details = status.get_details_bad_request();
    for violation in details.into_iter().flat_map(|details| details.field_violations) {
        let line = format!("{}: {}", violation.field, violation.description);
        if !status.message().contains(&line) {
            text.push_str("\n  ");
            text.push_str(&line);
        }
    }
    if kind == "MISSING_CREDENTIALS" {
        text.push_str(
            "\n  the command line takes a token from --token-file FILE, UTTERD_TOKEN or UTTERD_TOKEN_FILE",
        );
    }
    text
}

/// Whether a server refuses a request because of this field.
pub fn blames(status: &Status, field: &str) -> bool {
    let blamed = status.get_details_bad_request().map(|it| it.field_violations).unwrap_or_default();
    blamed.iter().any(|violation| violation.field == field)
}

/// What is at the bottom of an error, such as `Connection refused (os error 111)`.
pub fn root_cause(error: &dyn Error) -> String {
    let mut cause = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    cause.to_string()
}

#[cfg(test)]
mod tests {
    use tonic::Code;
    use tonic_types::ErrorDetails;

    use super::*;

    #[test]
    fn a_refusal_names_its_reason_and_each_field() {
        let mut details = ErrorDetails::with_error_info("EMPTY_BATCH", "utterd", []);
        details.add_bad_request_violation("utterances", "is empty; accepted are 1 to 1,000");
        details.add_bad_request_violation("turn", "is 0");
        let status = Status::with_error_details(Code::InvalidArgument, "two fields", details);
        let told = "two fields [EMPTY_BATCH]\n  utterances: is empty; accepted are 1 to 1,000\n  turn: is 0";
        assert_eq!(refusal(&status), told);
    }

    #[test]
    fn a_refusal_without_details_names_its_code() {
        assert!(
            refusal(&Status::unavailable("gone")).starts_with("gone [The service is currently unavailable")
        );
    }
}
