//! `utterd backup`: writes everything that a running server stores to a file.

use std::{
    fs::File,
    io::{self, Write},
    path::{Path, PathBuf},
};

use clap::Args;

use super::meter::Meter;
use crate::cli::{
    args::Remote,
    client::Connection,
    errors::CliError,
    terminal::{
        interrupt::all_or_nothing,
        output::Output,
        part::Part,
        read::about,
        text::{bytes, counted},
    },
};
use crate::{
    proto::BackupRequest,
    server::upkeep::{self, Held},
};

/// Back up all that a running server stores
///
/// The backup has all namespaces as of one moment. The server goes on serving meanwhile. A server with credentials
/// requires an admin's token.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  utterd backup nightly.utterd
  utterd backup - | zstd > nightly.utterd.zst")]
pub struct Backup {
    /// The server to talk to.
    #[command(flatten)]
    pub remote: Remote,
    /// Replace the file if it exists
    #[arg(long)]
    pub force: bool,
    /// The file to write; `-` writes to stdout
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
}

/// The file's mode: only its owner can read and write it.
const PRIVATE: u32 = 0o600;

/// Writes the backup to a file, reads it back, and prints what it holds; or writes it to stdout.
pub async fn backup(args: Backup) -> Result<(), CliError> {
    all_or_nothing(args.file != Path::new("-"), write(args)).await
}

async fn write(args: Backup) -> Result<(), CliError> {
    let meter = Meter::turning();
    let mut sink = Sink::open(&args)?;
    let connection = Connection::to(&args.remote).await?;
    let mut parts = connection.admin().backup(BackupRequest {}).await?.into_inner();
    let mut written = 0;
    while let Some(part) = parts.message().await? {
        sink.write(&part.chunk)?;
        written += part.chunk.len() as u64;
        meter.at(|| format!("{} written", bytes(written)));
    }
    let Some(held) = sink.close(args.force, &meter)? else { return Ok(()) };
    let (took, file) = (meter.end(), args.file.display());
    let mut output = Output::new();
    let held = format!("{}, {}", counted(held.records, "record"), bytes(written));
    output.line(&format!("backed up {} to {file} and checked it: {held}, in {took}", args.remote.server))?;
    Ok(output.flush()?)
}

/// Where a backup goes. A file gets its name only once it is complete and on the disk.
enum Sink {
    Stdout,
    File { file: File, part: Part },
}

impl Sink {
    fn open(args: &Backup) -> Result<Self, CliError> {
        if args.file == Path::new("-") {
            return Ok(Self::Stdout);
        }
        refuse_taken(&args.file, args.force)?;
        let (part, file) = Part::create(&args.file, PRIVATE)?;
        Ok(Self::File { file, part })
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            // a reader that stops early has no backup, so a closed pipe is an error here
            Self::Stdout => {
                io::stdout().write_all(bytes).map_err(|error| io::Error::other(format!("stdout: {error}")))
            }
            Self::File { file, part, .. } => file.write_all(bytes).map_err(about(&part.at)),
        }
    }

    /// Checks that the file is complete, gives it its name, and returns what it holds.
    fn close(self, force: bool, meter: &Meter) -> Result<Option<Held>, CliError> {
        let Self::File { file, part } = self else {
            io::stdout().flush()?;
            return Ok(None);
        };
        file.sync_all().map_err(about(&part.at))?;
        let checked = |held: Held| format!("{} checked", counted(held.records, "record"));
        let held = upkeep::check_backup(&part.at, &mut |held| meter.at(|| checked(held)))?;
        refuse_taken(&part.path, force)?;
        let path = part.path.clone();
        part.finish()?;
        let directory = path.parent().filter(|directory| !directory.as_os_str().is_empty());
        let directory = directory.unwrap_or(Path::new("."));
        File::open(directory).and_then(|directory| directory.sync_all()).map_err(about(directory))?;
        Ok(Some(held))
    }
}

fn refuse_taken(file: &Path, force: bool) -> Result<(), CliError> {
    match !force && file.symlink_metadata().is_ok() {
        true => {
            let file = file.display();
            Err(CliError::Usage(format!("{file} already exists: choose another file, or give --force")))
        }
        false => Ok(()),
    }
}
