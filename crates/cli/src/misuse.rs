//! What is wrong with the command line, without the secrets in it.

use std::{ffi::OsString, process::ExitCode};

use clap::{
    Error,
    error::{ContextKind, ContextValue, ErrorKind},
};

use super::errors::{CliError, exit};
use utterd_config::{HIDDEN, shown};

/// The names of arguments whose wrong values are never repeated: they can be addresses with a password.
const PLACES: [&str; 2] = ["<PLACE>", "<BACKEND:DIR>"];

/// Prints what is wrong with `arguments`, or what they ask for: the help, or the version. Returns the exit code.
pub fn misused(error: &Error, arguments: &[OsString], as_json: bool) -> ExitCode {
    if !error.use_stderr() || error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        // it is not a failure if the reader of the help has closed the pipe
        let _ = error.print();
        return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2));
    }
    let told = error.render().to_string();
    let told = secrets(error, arguments).iter().fold(told, |told, secret| told.replace(secret, HIDDEN));
    let told = told.trim().strip_prefix("error: ").unwrap_or(told.trim());
    exit(Err(CliError::Usage(told.to_owned())), as_json)
}

/// The texts that must not be repeated, the longest first: an error quotes the words that it does not understand.
fn secrets(error: &Error, arguments: &[OsString]) -> Vec<String> {
    let arguments = arguments.iter().skip(1).map(|argument| argument.to_string_lossy());
    let texts = arguments.flat_map(|argument| {
        let value = argument.split_once('=').map(|(_, value)| value.to_owned());
        [Some(argument.into_owned()), value]
    });
    let texts = texts.flatten().filter(|text| shown(text) != *text);
    let mut secrets: Vec<_> = texts.chain(wrong_place(error)).filter(|text| !text.is_empty()).collect();
    secrets.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
    secrets
}

fn wrong_place(error: &Error) -> Option<String> {
    let text = |kind| match error.get(kind)? {
        ContextValue::String(text) => Some(text.clone()),
        _ => None,
    };
    text(ContextKind::InvalidArg).filter(|argument| PLACES.iter().any(|place| argument.contains(place)))?;
    text(ContextKind::InvalidValue)
}
