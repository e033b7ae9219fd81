//! The errors of commands, how they are printed, and their exit codes.

use std::{
    error::Error,
    io::{self, Write},
    process::ExitCode,
};

use serde_json::{Value, json};
use tonic::{Code, Status};
use tonic_types::FieldViolation;

use super::refusal::{blamed, next, told};
pub use super::refusal::{blames, reason, refusal};
use utterd_config::{ConfigError, Unbuilt};
use utterd_server::{ServeError, database::DatabaseError, upkeep::UpkeepError};
use utterd_telemetry::terminal::stderr;

/// The exit codes, for the help.
pub const EXIT_CODES: &str = "\
Exit codes:
  0 done; 1 refused or failed; 2 wrong command line or configuration;
  3 not found on the server; 4 no server answers, or a certificate is refused;
  130 interrupted. With --json, an error is one line of JSON on stderr.";

/// Why a command failed.
#[derive(Debug, thiserror::Error)]
pub enum CliError {
    /// The configuration is wrong.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The command line is wrong.
    #[error("{0}")]
    Usage(String),
    /// Something that was named does not exist.
    #[error("{0}")]
    Missing(String),
    /// No server answers, or its certificate cannot be verified.
    #[error("{0}")]
    Unreachable(String),
    /// The server refused.
    #[error("{}", refusal(.0))]
    Refused(Box<Status>),
    /// Serving failed.
    #[error(transparent)]
    Serve(#[from] ServeError),
    /// This build lacks a part.
    #[error("this program is {0}")]
    Unbuilt(#[from] Unbuilt),
    /// A database cannot be used.
    #[error(transparent)]
    Database(#[from] DatabaseError),
    /// The files of a store cannot be worked on.
    #[error(transparent)]
    Upkeep(#[from] UpkeepError),
    /// Reading or writing failed.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// Something else failed.
    #[error("{0}")]
    Failed(String),
    /// The user interrupted the command; the text says what was done until then.
    #[error("interrupted: {0}")]
    Interrupted(String),
}

impl From<Status> for CliError {
    fn from(status: Status) -> Self {
        Self::Refused(Box::new(status))
    }
}

/// Prints what went wrong, if anything, and returns the exit code.
pub fn exit(result: Result<(), CliError>, as_json: bool) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        // The reader of the output has seen enough.
        Err(CliError::Io(error)) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            let told = if as_json { json(&error) } else { format!("error: {}", text(&error)) };
            // If stderr is closed as well, there is nobody left to tell.
            let _ = writeln!(stderr(), "{told}");
            ExitCode::from(error.exit_code())
        }
    }
}

impl CliError {
    /// See [`EXIT_CODES`].
    fn exit_code(&self) -> u8 {
        match self {
            Self::Config(_) | Self::Usage(_) | Self::Unbuilt(_) => 2,
            Self::Serve(ServeError::File(_) | ServeError::IncompleteTls | ServeError::Unbuilt(_)) => 2,
            Self::Missing(_) => 3,
            Self::Refused(status) if status.code() == Code::NotFound => 3,
            Self::Refused(status) if is_lost(status) => 4,
            Self::Unreachable(_) => 4,
            Self::Interrupted(_) => 130,
            _ => 1,
        }
    }
}

/// Whether a call ended without an answer: a server that refuses gives a reason.
pub fn is_lost(status: &Status) -> bool {
    unanswered(status).is_some()
}

/// Whether the connection to the server was lost.
pub fn is_gone(status: &Status) -> bool {
    status.code() == Code::Unavailable && reason(status).is_empty()
}

/// The error if no utterd server has answered: utterd gives a reason with each refusal. The code depends on how far the
/// connection got; a server that requires another certificate closes it, with or without an alert.
fn unanswered(status: &Status) -> Option<String> {
    let cause = root_cause(status);
    match status.code() {
        _ if !reason(status).is_empty() => None,
        Code::Cancelled | Code::Unknown | Code::Internal => Some(format!(
            "this is not an utterd server without TLS, or it requires a client certificate ({cause}): use https:// for \
             a server with TLS, and --tls-cert and --tls-key to show a certificate"
        )),
        Code::Unavailable => Some(format!("the connection to the server was lost: {}", status.message())),
        _ => None,
    }
}

fn text(error: &CliError) -> String {
    match error {
        CliError::Refused(status) => unanswered(status).unwrap_or_else(|| told(status)),
        error => error.to_string(),
    }
}

/// `{"error":{"exit_code":3,"message":"…","reason":"CONVERSATION_NOT_FOUND"}}`
fn json(error: &CliError) -> String {
    let mut told = json!({ "exit_code": error.exit_code(), "message": text(error) });
    if let CliError::Refused(status) = error
        && !is_lost(status)
    {
        let reason = reason(status);
        told["message"] = status.message().into();
        told["next"] = next(&reason).into();
        told["reason"] = Some(reason).filter(|reason| !reason.is_empty()).into();
        let field = |it: &FieldViolation| json!({ "field": it.field, "description": it.description });
        told["fields"] =
            Some(blamed(status).iter().map(field).collect::<Vec<_>>()).filter(|it| !it.is_empty()).into();
    }
    if let Value::Object(told) = &mut told {
        told.retain(|_, value| !value.is_null());
    }
    json!({ "error": told }).to_string()
}

/// The root cause of an error, such as `Connection refused (os error 111)`.
pub fn root_cause(error: &dyn Error) -> String {
    let mut cause = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    cause.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_missing_and_who_is_gone_have_codes_of_their_own() {
        let refused = |code| CliError::from(Status::new(code, "")).exit_code();
        assert_eq!([Code::NotFound, Code::Unavailable, Code::InvalidArgument].map(refused), [3, 4, 1]);
        assert_eq!([Code::Cancelled, Code::Unknown].map(refused), [4, 4]);
        assert_eq!(CliError::Usage(String::new()).exit_code(), 2);
    }
}
