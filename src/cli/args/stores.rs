//! Arguments of the commands for stores and their backups.

use std::path::PathBuf;

use clap::Args;

use super::target::Remote;
use crate::config::Place;

/// Arguments of `backup`.
#[derive(Debug, Args)]
pub struct Backup {
    /// The server to talk to.
    #[command(flatten)]
    pub remote: Remote,
    /// Replace the file if there is one
    #[arg(long)]
    pub force: bool,
    /// The file to write; `-` writes to stdout
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
}

/// Arguments of `restore`.
#[derive(Debug, Args)]
pub struct RestoreBackup {
    /// The backup
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// The store to make: its backend and its directory
    #[arg(long, value_name = "BACKEND:DIR")]
    pub to: Place,
}

/// Arguments of `copy`.
#[derive(Debug, Args)]
pub struct CopyStore {
    /// The store to copy: its backend and its directory
    #[arg(long, value_name = "BACKEND:DIR")]
    pub from: Place,
    /// The store to copy into; it is created, or holds an interrupted copy
    #[arg(long, value_name = "BACKEND:DIR")]
    pub to: Place,
}

/// Arguments of `verify`.
#[derive(Debug, Args)]
pub struct VerifyStore {
    /// The store: its backend and its directory
    #[arg(value_name = "BACKEND:DIR")]
    pub store: Place,
}

/// Arguments of `scrub`.
#[derive(Debug, Args)]
pub struct ScrubStore {
    /// The store: its backend and its directory
    #[arg(value_name = "BACKEND:DIR")]
    pub store: Place,
}

/// Arguments of `reindex`.
#[derive(Debug, Args)]
pub struct ReindexStore {
    /// The store: its backend and its directory
    #[arg(value_name = "BACKEND:DIR")]
    pub store: Place,
    /// Only this recipient's conversations
    #[arg(long, short, value_name = "ID", conflicts_with = "conversation")]
    pub recipient: Option<String>,
    /// Only this conversation
    #[arg(long, short, value_name = "ID")]
    pub conversation: Option<String>,
    /// The namespace of the one that is named
    #[arg(long, value_name = "NAME", default_value = "default")]
    pub namespace: String,
}
