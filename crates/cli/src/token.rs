//! `utterd token`: makes credentials for a server's credentials file, and lists them.

use std::{
    fs::OpenOptions,
    io::{self, Write},
    num::NonZeroU32,
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
    time::Duration,
};

use clap::{Args, Subcommand};

use super::{
    errors::CliError,
    terminal::{Output, note, read},
};
use utterd_server as server;
use utterd_server::NewCredential;

/// Make and list tokens for a server with credentials
#[derive(Debug, Subcommand)]
#[command(after_help = "Examples:
  utterd token new --name shop --role read-write --append credentials.toml > shop.token
  utterd token list credentials.toml")]
pub enum Token {
    /// Make a token, and print it with the entry for the credentials file
    #[command(after_help = "Examples:
  utterd token new --name shop --role read-write --append credentials.toml > shop.token
  utterd token new --name ci --namespace tests --role read-only --expires 90d")]
    New(New),
    /// List the credentials in a file
    #[command(after_help = "Example: utterd token list credentials.toml")]
    List(List),
}

/// Arguments of `token new`.
#[derive(Debug, Args)]
pub struct New {
    /// The name of the token in logs, unique in the file
    #[arg(long)]
    name: String,
    /// The namespace that the token opens
    #[arg(long, value_name = "NAME", default_value = "default")]
    namespace: String,
    /// What the holder of the token may do
    #[arg(long)]
    role: server::Role,
    /// Let the token expire after this time, such as 90d [default: never]
    #[arg(long, value_name = "DURATION", value_parser = humantime::parse_duration)]
    expires: Option<Duration>,
    /// The most calls per second with this token [default: the server's limit]
    #[arg(long, value_name = "N")]
    calls_per_second: Option<NonZeroU32>,
    /// Add the entry to this file, which is created if it does not exist, readable by its owner alone
    #[arg(long, value_name = "FILE")]
    append: Option<PathBuf>,
}

/// Arguments of `token list`.
#[derive(Debug, Args)]
pub struct List {
    /// The credentials file
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

/// Makes a token, or lists credentials.
pub fn token(command: Token) -> Result<(), CliError> {
    match command {
        Token::New(args) => new(args),
        Token::List(args) => list(&args.file),
    }
}

fn new(args: New) -> Result<(), CliError> {
    let before = match &args.append {
        Some(file) => before(file)?,
        None => String::new(),
    };
    let wanted = NewCredential {
        name: args.name,
        namespace: args.namespace,
        role: args.role,
        lifetime: args.expires,
        calls_per_second: args.calls_per_second,
    };
    let issued = server::issue(&wanted, &before).map_err(|error| {
        CliError::Usage(match &args.append {
            Some(file) => format!("{}: {error}", file.display()),
            None => error.to_string(),
        })
    })?;
    let mut output = Output::new();
    match &args.append {
        Some(file) => {
            append(file, &before, &issued.entry).map_err(read::about(file))?;
            note(&format!("added to {}; the token is stored nowhere else", file.display()));
            output.line(&issued.token)?;
        }
        None => {
            note("the token, which is stored nowhere else, and the entry for the credentials file:");
            output.line(&issued.token)?;
            output.text(&format!("\n{}", issued.entry))?;
        }
    }
    Ok(output.flush()?)
}

/// The text of the file; empty if it does not exist.
fn before(file: &Path) -> Result<String, CliError> {
    match read::trusted(file) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(String::new()),
        read => Ok(read?),
    }
}

/// Adds an entry in one write, so that a server never reads half of it.
fn append(file: &Path, before: &str, entry: &str) -> io::Result<()> {
    let gap = match before {
        "" => "",
        text if text.ends_with('\n') => "\n",
        _ => "\n\n",
    };
    let mut file = OpenOptions::new().append(true).create(true).mode(0o600).open(file)?;
    file.write_all(format!("{gap}{entry}").as_bytes())?;
    file.sync_all()
}

fn list(file: &Path) -> Result<(), CliError> {
    let text = read::trusted(file)?;
    let listed = server::list_credentials(&text)
        .map_err(|error| CliError::Usage(format!("{}: {error}", file.display())))?;
    let mut output = Output::new();
    for credential in listed {
        let expires = match (&credential.expires, credential.is_expired) {
            (None, _) => "never expires".to_owned(),
            (Some(time), false) => format!("expires {time}"),
            (Some(time), true) => format!("expired {time}"),
        };
        let server::Listed { name, namespace, role, .. } = credential;
        output.line(&format!("{name} · {role} in {namespace} · {expires}"))?;
    }
    Ok(output.flush()?)
}
