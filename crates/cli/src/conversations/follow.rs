//! `utterd import --follow`: imports what coding agents append to their sessions.
//!
//! Nothing is kept about the files: each change of any of them makes the program look at all, and an import stores only
//! what is new. So it does not matter what was missed, or whether the program was killed.

use std::{
    collections::HashMap,
    fs, io, mem,
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use notify::{RecommendedWatcher, RecursiveMode, Watcher};
use tokio::{
    sync::mpsc,
    time::{Instant, sleep, timeout_at},
};

use super::{importing::Importing, parts::whole_file};
use crate::{
    errors::CliError,
    terminal::{note, read::behind},
};
use utterd_domain::limits::MAX_IMPORT_BYTES;
use utterd_formats as formats;

/// What is appended within this time is imported together.
const PAUSE: Duration = Duration::from_millis(200);
/// A line that is appended waits no longer than this until it is read.
const LONGEST_PAUSE: Duration = Duration::from_secs(1);
/// An answer of a model that nothing ends goes on for no longer than this without a new line: its program has ended.
const QUIET: Duration = Duration::from_mins(2);
/// After this time, it looks at all files even if it was told of no change, and tries again what failed.
const LONGEST_WAIT: Duration = Duration::from_mins(10);

/// A version of a file.
type Version = (u64, SystemTime);

/// What was done with a file.
struct Done {
    version: Version,
    /// Bytes of it that were imported.
    bytes: usize,
    /// When an answer at its end, which waits, counts as ended; or when what failed is tried again.
    due: Option<Instant>,
}

/// Imports the sessions in directories, and what is appended to them, until the server is gone.
pub async fn follow(importing: &mut Importing, directories: Vec<PathBuf>) -> Result<(), CliError> {
    let (tell, mut told) = mpsc::channel(1);
    let _watcher = watch(&directories, tell)?;
    let mut done: HashMap<PathBuf, Done> = HashMap::new();
    loop {
        let began = Instant::now();
        let roots = directories.clone();
        let mut before = mem::take(&mut done);
        for (file, version) in behind(move || Ok(sessions(roots))).await? {
            let now = import(importing, &file, version, before.remove(&file)).await?;
            done.insert(file, now);
        }
        let took = began.elapsed();
        let due = done.values().filter_map(|done| done.due).min();
        let _ = timeout_at(due.unwrap_or_else(|| Instant::now() + LONGEST_WAIT), told.recv()).await;
        // meanwhile a directory that is new comes to be watched
        sleep(took.clamp(PAUSE, LONGEST_PAUSE)).await;
    }
}

/// Tells of each change in the directories.
fn watch(directories: &[PathBuf], tell: mpsc::Sender<()>) -> Result<RecommendedWatcher, CliError> {
    let failed = |error: notify::Error| CliError::Failed(format!("cannot be followed: {error}"));
    let changed = move |event: notify::Result<notify::Event>| {
        if event.is_ok_and(|event| !event.kind.is_access()) {
            // one that has not been taken yet tells of this change too
            let _ = tell.try_send(());
        }
    };
    let mut watcher = notify::recommended_watcher(changed).map_err(failed)?;
    for directory in directories {
        let missing = |error| failed(notify::Error::add_path(error, directory.clone()));
        watcher.watch(directory, RecursiveMode::Recursive).map_err(missing)?;
    }
    Ok(watcher)
}

/// The files that can be sessions, the oldest first.
fn sessions(mut directories: Vec<PathBuf>) -> Vec<(PathBuf, Version)> {
    let mut found = Vec::new();
    while let Some(directory) = directories.pop() {
        // what was removed meanwhile is not there
        for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
            let path = entry.path();
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => directories.push(path),
                Ok(kind) if kind.is_file() && path.extension().is_some_and(|end| end == "jsonl") => {
                    found.extend(version(&entry).ok().map(|version| (path, version)));
                }
                _ => {}
            }
        }
    }
    found.sort_by_key(|(_, (_, time))| *time);
    found
}

fn version(entry: &fs::DirEntry) -> io::Result<Version> {
    let about = entry.metadata()?;
    Ok((about.len(), about.modified()?))
}

/// Imports what is new of a file.
async fn import(
    importing: &mut Importing,
    file: &Path,
    version: Version,
    before: Option<Done>,
) -> Result<Done, CliError> {
    let (now, is_first) = (Instant::now(), before.is_none());
    let imported = match before {
        Some(done) if done.version == version && done.due.is_none_or(|due| now < due) => return Ok(done),
        Some(done) => done.bytes,
        None => 0,
    };
    let failed = Done { version, bytes: imported, due: Some(now + LONGEST_WAIT) };
    let missing = QUIET.saturating_sub(version.1.elapsed().unwrap_or_default());
    let name = file.to_owned();
    let (content, waits) = match behind(move || read(&name, missing.is_zero())).await {
        Ok(read) => read,
        Err(error) => {
            note(&format!("failed: {error}"));
            return Ok(failed);
        }
    };
    let is_new = content.len() != imported && !content.is_empty();
    if is_new && !importing.append(file, &content, is_first).await? {
        return Ok(failed);
    }
    Ok(Done { version, bytes: content.len(), due: waits.then(|| now + missing) })
}

/// What a session holds so far, and whether more of it waits for its end.
fn read(file: &Path, is_quiet: bool) -> Result<(Vec<u8>, bool), CliError> {
    let mut content = whole_file(file, MAX_IMPORT_BYTES)?;
    let (settled, complete) = (formats::settled(&content), formats::complete(&content));
    let is_session = settled > 0 || formats::session(&content).is_some();
    let all = if is_session { complete } else { 0 };
    content.truncate(if is_quiet { all } else { settled });
    Ok((content, !is_quiet && settled < all))
}
