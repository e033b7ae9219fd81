//! The directories of a store's generations and copies, and the pointer to the one in use.

use std::{
    fs,
    path::{Path, PathBuf},
};

use crate::durable::{disk::files, key_value::KeyValueError};

const CURRENT: &str = "CURRENT";
/// The content of `CURRENT` before the first generation; no flipped bit turns a generation's name into it.
const NONE: &str = "none";

/// Prefix of the names of copies being read.
const SNAPSHOT: &str = "snapshot-";

/// Returns the generation that holds the pairs; 0 if nothing was stored yet.
pub(super) fn current_number(directory: &Path) -> Result<u32, KeyValueError> {
    let path = directory.join(CURRENT);
    match files::present(fs::read_to_string(&path)).map_err(files::failed("read", &path))? {
        Some(name) if name.trim_end() == NONE => Ok(0),
        Some(name) => number_of(name.trim_end())
            .ok_or_else(|| KeyValueError(format!("{} does not name a generation", path.display()))),
        None if generations(directory)?.is_empty() => {
            point_to(0, directory)?;
            files::sync(directory)?;
            Ok(0)
        }
        None => Err(KeyValueError(format!(
            "{} is missing: it names the directory next to it that holds the store",
            path.display()
        ))),
    }
}

/// Makes a generation the current one; the caller must then sync the directory.
pub(super) fn point_to(number: u32, directory: &Path) -> Result<(), KeyValueError> {
    let name = if number == 0 { NONE.to_owned() } else { name_of(number) };
    let path = directory.join(CURRENT);
    let replaced = files::replace(&path, &path.with_extension("new"), format!("{name}\n").as_bytes());
    replaced.map_err(files::failed("replace", &path))
}

/// Removes all other generations, and syncs their removal to disk.
pub(super) fn remove_all_but(number: u32, directory: &Path) -> Result<(), KeyValueError> {
    for other in generations(directory)?.into_iter().filter(|other| *other != number) {
        files::remove_directory(&path_of(other, directory))?;
    }
    Ok(())
}

/// Removes the copies that an interruption left behind.
pub(super) fn remove_copies(directory: &Path) -> Result<(), KeyValueError> {
    for name in files::names(directory)?.into_iter().filter(|name| name.starts_with(SNAPSHOT)) {
        files::remove_directory(&directory.join(name))?;
    }
    Ok(())
}

fn generations(directory: &Path) -> Result<Vec<u32>, KeyValueError> {
    Ok(files::names(directory)?.iter().filter_map(|name| number_of(name)).collect())
}

/// The directory of a generation.
pub(super) fn path_of(number: u32, directory: &Path) -> PathBuf {
    directory.join(name_of(number))
}

/// The directory of a copy.
pub(super) fn copy_path(number: u32, directory: &Path) -> PathBuf {
    directory.join(format!("{SNAPSHOT}{number:06}"))
}

fn name_of(number: u32) -> String {
    format!("data-{number:06}")
}

/// The number in a generation's name.
fn number_of(name: &str) -> Option<u32> {
    let number = name.strip_prefix("data-")?.parse().ok()?;
    (number > 0 && name == name_of(number)).then_some(number)
}
