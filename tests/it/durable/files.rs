//! The files of a directory, held in memory and written again.

use std::{
    collections::BTreeMap,
    fs::{self, OpenOptions},
    io::Write,
    path::{Path, PathBuf},
};

/// The files below a directory, by relative path.
#[derive(Clone, Debug, Default)]
pub struct Files(pub BTreeMap<PathBuf, Content>);

/// The content of a file.
#[derive(Clone, Debug)]
pub struct Content {
    /// Everything up to the last byte that is not 0: what follows is often a large hole.
    pub bytes: Vec<u8>,
    /// Its size.
    pub size: u64,
}

impl Files {
    /// Reads all files below `directory`.
    pub fn read(directory: &Path) -> Self {
        let mut files = Self::default();
        files.add(directory, Path::new(""));
        files
    }

    fn add(&mut self, directory: &Path, below: &Path) {
        for entry in fs::read_dir(directory.join(below)).expect("a directory") {
            let entry = entry.expect("an entry");
            let path = below.join(entry.file_name());
            match entry.file_type().expect("a kind").is_dir() {
                true => self.add(directory, &path),
                false => {
                    let bytes = fs::read(entry.path()).expect("a file");
                    self.0.insert(path, Content::of(bytes));
                }
            }
        }
    }

    /// Writes them below `directory`.
    pub fn write(&self, directory: &Path) {
        for (path, content) in &self.0 {
            let path = directory.join(path);
            fs::create_dir_all(path.parent().expect("a directory above")).expect("a directory");
            let mut file =
                OpenOptions::new().write(true).create(true).truncate(true).open(path).expect("a file");
            file.write_all(&content.bytes).expect("room");
            file.set_len(content.size).expect("a size");
        }
    }
}

impl Content {
    fn of(mut bytes: Vec<u8>) -> Self {
        let size = bytes.len() as u64;
        let end = bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
        bytes.truncate(end);
        Self { bytes, size }
    }
}
