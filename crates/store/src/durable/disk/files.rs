//! Files and directories that must survive a power loss.

use std::{
    fs::{self, File, OpenOptions, TryLockError},
    io::{self, ErrorKind, Write as _},
    os::unix::fs::MetadataExt as _,
    path::Path,
};

use rustix::fs::Access;

use crate::durable::key_value::KeyValueError;

/// Creates a directory and its missing parents, and syncs them to disk.
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

/// Fails unless files can be created in the directory `path`, or the directory itself if it is missing.
pub fn check_writable(path: &Path) -> io::Result<()> {
    let is_there = |path: &&Path| path.as_os_str().is_empty() || path.symlink_metadata().is_ok();
    let nearest = path.ancestors().find(is_there).unwrap_or(Path::new("/"));
    let nearest = if nearest.as_os_str().is_empty() { Path::new(".") } else { nearest };
    if !fs::metadata(nearest)?.is_dir() {
        return Err(ErrorKind::NotADirectory.into());
    }
    Ok(rustix::fs::access(nearest, Access::WRITE_OK | Access::EXEC_OK)?)
}

/// Replaces a file's content by writing the file `fresh` next to it and renaming it. Until the directory is
/// synced, a power loss may bring back the whole old content.
pub fn replace(path: &Path, fresh: &Path, content: &[u8]) -> io::Result<()> {
    let mut file = File::create(fresh)?;
    file.write_all(content)?;
    file.sync_all()?;
    fs::rename(fresh, path)
}

/// Locks a file for this process, creating it if it is missing. The system releases the lock when the
/// process ends. Returns `None` if another process holds it.
pub fn lock(path: &Path) -> io::Result<Option<File>> {
    let file = OpenOptions::new().write(true).create(true).truncate(false).open(path)?;
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// Syncs a file's content, or a directory's list of files, to disk. Does nothing if the path no longer
/// exists.
pub fn sync(path: &Path) -> Result<(), KeyValueError> {
    match present(File::open(path)).map_err(failed("open", path))? {
        Some(opened) => opened.sync_all().map_err(failed("sync", path)),
        None => Ok(()),
    }
}

/// Syncs a directory and everything in it to disk.
pub fn sync_all_under(directory: &Path) -> Result<(), KeyValueError> {
    for_each_entry(directory, &mut |path, is_directory| match is_directory {
        true => sync_all_under(path),
        false => sync(path),
    })?;
    sync(directory)
}

/// Bytes allocated for the files in a directory, at any depth. Holes take no space.
pub fn allocated_bytes(directory: &Path) -> Result<u64, KeyValueError> {
    const BLOCK: u64 = 512; // the unit of st_blocks on every file system
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

/// Removes a directory with its contents, and syncs the removal to disk.
pub fn remove_directory(path: &Path) -> Result<(), KeyValueError> {
    present(fs::remove_dir_all(path)).map_err(failed("remove", path))?;
    path.parent().map_or(Ok(()), sync)
}

/// The names of a directory's entries, without those that are not UTF-8.
pub fn names(directory: &Path) -> Result<Vec<String>, KeyValueError> {
    let mut names = Vec::new();
    for_each_entry(directory, &mut |path, _| {
        names.extend(path.file_name().and_then(|name| name.to_str()).map(str::to_owned));
        Ok(())
    })?;
    Ok(names)
}

/// Wraps an I/O error with the operation that failed and the file.
pub fn failed(verb: &str, path: &Path) -> impl Fn(io::Error) -> KeyValueError {
    move |error| KeyValueError(format!("cannot {verb} {}: {error}", path.display()))
}

/// Returns `None` if the file does not exist: an engine can remove a file at any time.
pub fn present<T>(outcome: io::Result<T>) -> io::Result<Option<T>> {
    match outcome {
        Ok(found) => Ok(Some(found)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Calls `visit` with each entry's path and whether it is a directory. A directory that was removed has no
/// entries.
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
