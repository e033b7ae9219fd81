//! `utterd backup`: writes everything that a server or a store holds to a file.

use std::{
    fs::File,
    io::{self, Write},
    path::{Path, PathBuf},
};

use clap::Args;
use tokio::{sync::mpsc, task::spawn_blocking, time::Instant};

use super::database::DatabaseOptions;
use crate::{
    args::Remote,
    client::{Connection, block_on},
    errors::CliError,
    terminal::{Part, Sink, all_or_nothing, bytes, counted, note, print, read::about, seconds},
};
use utterd_config::{Place, Settings};
use utterd_rpc::proto::BackupRequest;
use utterd_server::upkeep::{self, Held};

/// Back up all that a server or a store holds
///
/// The backup has all namespaces as of one moment. A running server goes on serving meanwhile. A server with credentials
/// requires an admin's token.
///
/// With --from, this reads a store without a server: files that no server has open, or a database, which servers may use
/// meanwhile. A PLACE is fjall:DIR or sled:DIR; the URL of a database, with ?schema=NAME unless the schema is that of
/// the settings; or postgres, for the database of the settings.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  utterd backup nightly.utterd
  utterd backup nightly.utterd --from fjall:/var/lib/utterd
  utterd backup - | zstd > nightly.utterd.zst")]
pub struct Backup {
    /// The server to talk to.
    #[command(flatten)]
    pub remote: Remote,
    /// Back up this store instead of a server's
    #[arg(long, value_name = "PLACE")]
    pub from: Option<Place>,
    #[command(flatten)]
    pub database: DatabaseOptions,
    /// Replace the file if it exists
    #[arg(long)]
    pub force: bool,
    /// The file to write; `-` writes to stdout
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
}

/// The name that stands for stdout.
const STDOUT: &str = "-";
/// The file's mode: only its owner can read and write it.
const PRIVATE: u32 = 0o600;
/// Chunks that are read before they are written.
const AHEAD: usize = 2;

/// Writes the backup to a file, reads it back, and prints what it holds; or writes it to stdout.
pub fn backup(args: Backup) -> Result<(), CliError> {
    let to_file = args.file != Path::new(STDOUT);
    block_on(all_or_nothing(to_file, write(args)))
}

async fn write(Backup { remote, from, database, force, file }: Backup) -> Result<(), CliError> {
    let path = Some(file.as_path()).filter(|path| *path != Path::new(STDOUT));
    path.map_or(Ok(()), |path| refuse_taken(path, force))?;
    let (mut sink, began) = (Sink::open(path, PRIVATE)?, Instant::now());
    let source = from.as_ref().map_or_else(|| remote.address().to_owned(), Place::to_string);
    note(&format!("backing up {source}"));
    match from {
        None => of_server(&remote, &mut sink).await?,
        Some(from) => of_store(from.clone(), database.settings(&from)?, &mut sink).await?,
    }
    let Some(part) = sink.part else { return Ok(io::stdout().flush()?) };
    let held = close(part, force)?;
    let (took, file) = (seconds(began), file.display());
    let held = format!("{}, {}", counted(held.records, "record"), bytes(sink.written));
    Ok(print(&format!("backed up {source} to {file} and checked it: {held}, in {took}"))?)
}

/// Writes what a server streams.
async fn of_server(remote: &Remote, sink: &mut Sink) -> Result<(), CliError> {
    let connection = Connection::to(remote).await?;
    let mut parts = connection.admin().backup(BackupRequest {}).await?.into_inner();
    while let Some(part) = parts.message().await? {
        add(sink, &part.chunk)?;
    }
    Ok(())
}

/// Writes what another thread reads from a store.
async fn of_store(from: Place, settings: Settings, sink: &mut Sink) -> Result<(), CliError> {
    let (chunks, mut taken) = mpsc::channel(AHEAD);
    let reading = spawn_blocking(move || {
        upkeep::backup(&from, &settings, &mut |chunk| chunks.blocking_send(chunk).map_err(io::Error::other))
    });
    while let Some(chunk) = taken.recv().await {
        add(sink, &chunk)?;
    }
    Ok(reading.await.map_err(io::Error::other)??)
}

/// Writes a chunk. A reader that stops early has no backup, so a closed pipe is an error here.
fn add(sink: &mut Sink, chunk: &[u8]) -> io::Result<()> {
    let to_pipe = sink.part.is_none();
    let written = sink.write(chunk);
    if to_pipe { written.map_err(|error| io::Error::other(format!("stdout: {error}"))) } else { written }
}

/// Checks that the file is complete, gives it its name once it is on the disk, and returns what it holds.
fn close(part: Part, force: bool) -> Result<Held, CliError> {
    part.file.sync_all().map_err(about(&part.at))?;
    let held = upkeep::check_backup(&part.at)?;
    refuse_taken(&part.path, force)?;
    let path = part.path.clone();
    part.finish()?;
    let directory = path.parent().filter(|directory| !directory.as_os_str().is_empty());
    let directory = directory.unwrap_or(Path::new("."));
    File::open(directory).and_then(|directory| directory.sync_all()).map_err(about(directory))?;
    Ok(held)
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
