//! `utterd token`: makes credentials for a server's credentials file.

use std::{
    fs::OpenOptions,
    io::{self, Write},
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
};

use clap::{Args, Subcommand};

use super::{
    errors::CliError,
    terminal::{Output, note, read},
};
use utterd_server as server;

/// Make tokens for a server with credentials
#[derive(Debug, Subcommand)]
#[command(after_help = "Example:
  utterd token new --name shop --role read-write --append credentials.toml > shop.token")]
pub enum Token {
    /// Make a token, and print it with the entry for the credentials file
    #[command(after_help = "Examples:
  utterd token new --name shop --role read-write --append credentials.toml > shop.token
  utterd token new --name ci --namespace tests --role read-only --expires 90d")]
    New(New),
}

/// Arguments of `token new`.
#[derive(Debug, Args)]
pub struct New {
    /// What the token stands for.
    #[command(flatten)]
    wanted: server::NewCredential,
    /// Add the entry to this file, which is created if it does not exist, readable by its owner alone
    #[arg(long, value_name = "FILE")]
    append: Option<PathBuf>,
}

/// Makes a token.
pub fn token(Token::New(args): Token) -> Result<(), CliError> {
    let before = match &args.append {
        Some(file) => before(file)?,
        None => String::new(),
    };
    let issued = server::issue(&args.wanted, &before).map_err(|error| {
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
