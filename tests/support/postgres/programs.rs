//! The programs of PostgreSQL on this machine.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

/// Names the directory of the programs.
const VARIABLE: &str = "UTTERD_POSTGRES_BIN";

/// Where Debian installs them, in a directory for each version.
const DEBIAN: &str = "/usr/lib/postgresql";

/// The directory of the programs; by default the empty path, which leaves the search to `PATH`.
#[derive(Default)]
pub struct Programs(PathBuf);

impl Programs {
    /// Looks in `UTTERD_POSTGRES_BIN`; without it in `PATH`, then for the newest version in Debian's directory.
    pub fn find() -> Result<Self, String> {
        if let Some(asked) = env::var_os(VARIABLE) {
            let found = fs::canonicalize(asked).ok().filter(|directory| is_complete(directory));
            return found.map(Self).ok_or(format!(
                "{VARIABLE} names no directory with initdb, postgres, pg_basebackup and psql"
            ));
        }
        let path = env::var_os("PATH").unwrap_or_default();
        let mut directories = env::split_paths(&path).chain(debian());
        let found = directories.find(|directory| directory.is_absolute() && is_complete(directory));
        found
            .map(Self)
            .ok_or("PostgreSQL is not installed; install it with: apt-get install postgresql".into())
    }

    /// The path of a program.
    pub fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

/// Whether all programs that are needed here are in a directory; some can be in `PATH` without the others.
fn is_complete(directory: &Path) -> bool {
    ["initdb", "postgres", "pg_basebackup", "psql"].iter().all(|name| directory.join(name).is_file())
}

/// The directories of all versions, the newest first.
fn debian() -> Vec<PathBuf> {
    let entries = fs::read_dir(DEBIAN).into_iter().flatten().flatten();
    let version = |path: &PathBuf| path.file_name()?.to_str()?.parse::<u32>().ok();
    let mut directories: Vec<_> = entries.map(|entry| entry.path()).collect();
    directories.sort_by_key(|path| std::cmp::Reverse(version(path)));
    directories.into_iter().map(|path| path.join("bin")).collect()
}

/// A program with no setting of PostgreSQL in its environment, whose messages are in English.
pub fn command(program: &Path) -> Command {
    let mut command = Command::new(program);
    let variables = env::vars_os().map(|(name, _)| name);
    for name in variables.filter(|name| name.to_string_lossy().starts_with("PG")) {
        command.env_remove(name);
    }
    command.env("LC_ALL", "C").stdin(Stdio::null());
    command
}
