//! A Markdown page and its blocks.

use std::{
    fs,
    path::{Path, PathBuf},
};

/// A page.
pub struct Page {
    /// Its path in the project.
    pub name: String,
    /// Its text.
    pub text: String,
}

/// A fenced block.
pub struct Block<'a> {
    /// The words after the fence.
    pub kind: &'a str,
    /// The line on which it begins.
    pub line: usize,
    /// Its text.
    pub text: &'a str,
}

/// The project's directory.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

impl Page {
    /// The pages of the project.
    pub fn all() -> Vec<Self> {
        let inside = |name| fs::read_dir(root().join(name)).expect("there are pages");
        let entries = ["docs", "contributing"].into_iter().flat_map(inside);
        let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
        paths.retain(|path| path.extension().is_some_and(|extension| extension == "md"));
        paths.extend(["README.md", "CONTRIBUTING.md"].map(|name| root().join(name)));
        paths.sort();
        paths.into_iter().map(Self::read).collect()
    }

    fn read(path: PathBuf) -> Self {
        let name = path.strip_prefix(root()).expect("a page of the project").to_string_lossy().into_owned();
        Self { name, text: fs::read_to_string(path).expect("a page can be read") }
    }

    /// Its blocks, in order.
    pub fn blocks(&self) -> Vec<Block<'_>> {
        let mut blocks = Vec::new();
        let mut open: Option<(&str, usize, usize)> = None;
        let mut start = 0;
        for (number, line) in self.text.split_inclusive('\n').enumerate() {
            let end = start + line.len();
            if let Some(kind) = line.trim_end().strip_prefix("```") {
                match open.take() {
                    Some((kind, line, from)) => {
                        blocks.push(Block { kind, line, text: &self.text[from..start] })
                    }
                    None => open = Some((kind, number + 1, end)),
                }
            }
            start = end;
        }
        blocks
    }

    /// Whether one of its scripts needs a program.
    pub fn asks_for(&self, program: &str) -> bool {
        let begins =
            |text: &str| text.lines().any(|line| line.trim_start().starts_with(&format!("{program} ")));
        self.blocks().iter().any(|block| block.kind == "sh" && begins(block.text))
    }
}
