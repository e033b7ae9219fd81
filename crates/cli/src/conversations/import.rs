//! `utterd import`: imports conversations of other programs, with their times and ids.

use std::{
    io,
    path::{Path, PathBuf},
};

use tokio::{sync::mpsc, task::spawn_blocking, time::Instant};

pub use super::importing::Import;
use super::{follow::follow, importing::Importing, parts::Parts};
use crate::{
    client::Connection,
    errors::CliError,
    terminal::{Output, counted, note, read::label, seconds, unless_interrupted},
};

/// Imports the files, and prints a closing line with what was stored.
///
/// When repeated, it stores nothing twice, and continues where it broke off.
pub async fn import(args: Import) -> Result<(), CliError> {
    let connection = Connection::to(&args.remote).await?;
    let began = Instant::now();
    let mut importing = Importing::new(connection, args);
    let ended = unless_interrupted(importing.run()).await;
    let Importing { args, tally, .. } = importing;
    let line = tally.line(args.dry_run, &seconds(began));
    let mut output = Output::new();
    match args.follow {
        // each file has been told of
        true => {}
        false if args.json.json => note(&line),
        false => output.prose(&line)?,
    }
    output.flush()?;
    let text = "the last messages may be stored too; repeat the command to continue from there";
    ended.unwrap_or_else(|| Err(CliError::Interrupted(text.into())))
}

impl Importing {
    async fn run(&mut self) -> Result<(), CliError> {
        if self.args.follow { follow(self, self.args.files.clone()).await } else { self.all().await }
    }

    /// Imports all files; reports each that fails.
    async fn all(&mut self) -> Result<(), CliError> {
        let mut failed = 0;
        for file in self.args.files.clone() {
            if let Err(reason) = self.file(&file).await? {
                failed += 1;
                note(&format!("failed: {reason}"));
            }
        }
        if failed > 0 { Err(CliError::Failed(format!("{} failed", counted(failed, "file")))) } else { Ok(()) }
    }

    /// Imports a file; the inner error says what is wrong with it.
    async fn file(&mut self, file: &Path) -> Result<Result<(), String>, CliError> {
        let (parts, mut read) = mpsc::channel(1);
        let name = file.to_owned();
        let reading = spawn_blocking(move || read_parts(name, &parts));
        while let Some(part) = read.recv().await {
            if part.iter().all(u8::is_ascii_whitespace) {
                return Ok(Err(format!("{}: is empty", label(file))));
            }
            let response = match self.part(file, &part).await? {
                Ok(response) => response,
                Err(reason) => return Ok(Err(reason)),
            };
            self.warn(file, &response);
            self.take(&response)?;
            if self.args.dry_run && !self.args.json.json {
                self.show(&part, &response)?;
            }
        }
        Ok(reading.await.map_err(io::Error::other)?.map_err(|error| error.to_string()))
    }
}

/// Reads the parts of a file, as long as somebody takes them.
fn read_parts(file: PathBuf, parts: &mpsc::Sender<Vec<u8>>) -> Result<(), CliError> {
    let mut reading = Parts::open(file)?;
    while let Some(part) = reading.next()? {
        if parts.blocking_send(part).is_err() {
            break;
        }
    }
    Ok(())
}
