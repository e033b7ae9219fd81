//! Files and directories that have to survive a loss of power.

use std::{
    fs::{self, File, OpenOptions, TryLockError},
    io::{self, ErrorKind, Write as _},
    os::unix::fs::MetadataExt as _,
    path::Path,
};

use super::key_value::KeyValueError;

/// Creates a directory and those above it, where they are missing, on the disk too.
pub fn create_directory(path: &Path) -> Result<(), KeyValueError> {
    if path.as_os_str().is_empty() || path.is_dir() {
        return Ok(());
    }
    let above = path.parent().unwrap_or(Path::new(""));
    create_directory(above)?;
    match fs::create_dir(path) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => Err(failed("create", path)(error)),
        _ if above.as_os_str().is_empty() => sync(Path::new(".")),
        _ => sync(above),
    }
}

/// Gives a file a new content, written to the file `fresh` beside it first; until the directory is
/// synced, a loss of power may bring the old content back, whole.
pub fn replace(path: &Path, fresh: &Path, content: &[u8]) -> io::Result<()> {
    let mut file = File::create(fresh)?;
    file.write_all(content)?;
    file.sync_all()?;
    fs::rename(fresh, path)
}

/// Locks a file for this process, and makes it when it is missing; the system gives the lock back
/// when the file is dropped. `None` when another has it.
pub fn lock(path: &Path) -> io::Result<Option<File>> {
    let file = OpenOptions::new().write(true).create(true).truncate(false).open(path)?;
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// Brings a file's content, or a directory's list of files, to the disk. What is not there any more
/// needs no syncing.
pub fn sync(path: &Path) -> Result<(), KeyValueError> {
    match present(File::open(path)).map_err(failed("open", path))? {
        Some(opened) => opened.sync_all().map_err(failed("sync", path)),
        None => Ok(()),
    }
}

/// Brings a directory with all that is in it to the disk.
pub fn sync_all_under(directory: &Path) -> Result<(), KeyValueError> {
    for_each_entry(directory, &mut |path, is_directory| match is_directory {
        true => sync_all_under(path),
        false => sync(path),
    })?;
    sync(directory)
}

/// Bytes that are allocated for the files in a directory, at any depth. A hole takes none.
pub fn allocated_bytes(directory: &Path) -> Result<u64, KeyValueError> {
    const BLOCK: u64 = 512; // the unit of st_blocks, whatever the file system's own
    let mut bytes = 0;
    for_each_entry(directory, &mut |path, is_directory| {
        bytes += match is_directory {
            true => allocated_bytes(path)?,
            false => present(fs::symlink_metadata(path))
                .map_err(failed("read", path))?
                .map_or(0, |file| file.blocks() * BLOCK),
        };
        Ok(())
    })?;
    Ok(bytes)
}

/// Removes a directory with all that is in it, on the disk too.
pub fn remove_directory(path: &Path) -> Result<(), KeyValueError> {
    present(fs::remove_dir_all(path)).map_err(failed("remove", path))?;
    path.parent().map_or(Ok(()), sync)
}

/// Names of what is in a directory, without those that are not UTF-8.
pub fn names(directory: &Path) -> Result<Vec<String>, KeyValueError> {
    let mut names = Vec::new();
    for_each_entry(directory, &mut |path, _| {
        names.extend(path.file_name().and_then(|name| name.to_str()).map(str::to_owned));
        Ok(())
    })?;
    Ok(names)
}

/// An I/O error with what failed on which file.
pub fn failed(verb: &str, path: &Path) -> impl Fn(io::Error) -> KeyValueError {
    move |error| KeyValueError(format!("cannot {verb} {}: {error}", path.display()))
}

/// `None` for what is not there: an engine removes files while others look at them.
pub fn present<T>(outcome: io::Result<T>) -> io::Result<Option<T>> {
    match outcome {
        Ok(found) => Ok(Some(found)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Calls `visit` with each entry's path and whether it is a directory; a directory that is gone
/// has none.
fn for_each_entry(
    directory: &Path,
    visit: &mut dyn FnMut(&Path, bool) -> Result<(), KeyValueError>,
) -> Result<(), KeyValueError> {
    let Some(entries) = present(fs::read_dir(directory)).map_err(failed("list", directory))? else {
        return Ok(());
    };
    for entry in entries {
        let entry = entry.map_err(failed("list", directory))?;
        let kind = present(entry.file_type()).map_err(failed("read", &entry.path()))?;
        if let Some(kind) = kind {
            visit(&entry.path(), kind.is_dir())?;
        }
    }
    Ok(())
}
