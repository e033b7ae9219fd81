//! What is wrong with the command line, without the secrets in it.

use std::{
    ffi::OsString,
    io::{self, Write},
    process::ExitCode,
};

use clap::{
    Error,
    error::{ContextKind, ContextValue, ErrorKind},
};

use super::{
    errors::{CliError, exit},
    words::Words,
};
use utterd_config::{HIDDEN, shown};

/// The names of arguments whose wrong values are never repeated: they can be addresses with a password.
const PLACES: [&str; 2] = ["<PLACE>", "<BACKEND:DIR>"];

/// How to store a text of several words, and how to name the conversation.
const MEMORIZE: &str = "\
A text of several words is one argument: put it in quotes. --to names a conversation:
  utterd memorize 'The train leaves at nine.'
  utterd memorize --to trip 'The train leaves at nine.'
";

/// Prints what is wrong with `arguments`, or what they ask for: the help, or the version. Returns the exit code.
pub fn misused(error: &Error, arguments: &[OsString], as_json: bool) -> ExitCode {
    let is_json = as_json && error.use_stderr();
    let secrets = secrets(error, arguments);
    let hint = hint(error, arguments);
    if !is_json && secrets.is_empty() && hint.is_empty() {
        // it is not a failure if the reader of the help has closed the pipe
        let _ = error.print();
        return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2));
    }
    let told = format!("{}{hint}", error.render());
    let text = secrets.iter().fold(told, |text, secret| text.replace(secret, HIDDEN));
    if !is_json {
        let _ = write!(io::stderr(), "{text}");
        return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2));
    }
    let text = text.trim().strip_prefix("error: ").unwrap_or(text.trim()).to_owned();
    exit(Err(CliError::Usage(text)), &Words::default(), true)
}

/// What else helps: words that are too many may be a text without its quotes, or a conversation before its text.
fn hint(error: &Error, arguments: &[OsString]) -> &'static str {
    let is_word = |word: &ContextValue| match word {
        ContextValue::String(word) => word == "-" || !word.starts_with('-'),
        _ => false,
    };
    let is_too_many = error.kind() == ErrorKind::UnknownArgument;
    match error.get(ContextKind::InvalidArg).is_some_and(is_word) && is_too_many {
        true if arguments.get(1).is_some_and(|command| command == "memorize") => MEMORIZE,
        true => "A text of several words is one argument: put it in quotes.\n",
        false => "",
    }
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
