//! The directory that most paths of a conversation are in: it is told once, and the paths are relative to it.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::{
    Sequence, Utterance,
    extractive::{effects::leaves, text::runs::Runs},
};

/// How many paths are counted.
const MOST_PATHS: usize = 2_000;
/// How much of a text is searched for paths, in bytes.
const READ_BYTES: usize = 2 << 10;
/// A root must be in at least this many paths.
const LEAST_PATHS: u32 = 3;
/// A shorter root, in bytes, is not worth a line.
const LEAST_BYTES: usize = 12;

/// The common directory, without a slash at its end.
#[derive(Debug, Default)]
pub(in crate::extractive) struct Root {
    path: String,
    /// The utterance that names it first.
    pub sequence: Option<Sequence>,
}

impl Root {
    /// The root of what the calls of `live` name.
    pub(in crate::extractive) fn of(live: &[&Utterance]) -> Self {
        let mut counts: FxHashMap<&str, (u32, Sequence)> = FxHashMap::default();
        let calls = live.iter().flat_map(|said| said.tool_calls().iter().map(|call| (said.sequence, call)));
        let texts = calls.flat_map(|(at, call)| leaves(&call.arguments_json).map(move |leaf| (at, leaf.raw)));
        let paths = texts.flat_map(|(at, text)| absolute(text).map(move |path| (at, path)));
        let mut seen = FxHashSet::default();
        // a line names a path once
        for (at, path) in paths.take(MOST_PATHS).filter(|(_, path)| seen.insert(*path)) {
            let is_file = path.rsplit('/').next().is_some_and(|name| name.contains('.'));
            let own = (!is_file).then_some(path);
            let directories = path.match_indices('/').map(|(end, _)| &path[..end]).chain(own);
            for directory in directories.filter(|one| one.len() > 1) {
                counts.entry(directory).or_insert((0, at)).0 += 1;
            }
        }
        let value = |(path, (count, _)): &(&str, (u32, Sequence))| {
            let depth = path.matches('/').count() as u64;
            u64::from(*count - 1) * (2 + depth)
        };
        let named = counts
            .into_iter()
            .filter(|(path, (count, _))| *count >= LEAST_PATHS && path.len() >= LEAST_BYTES);
        let best = named.max_by(|one, other| value(one).cmp(&value(other)).then_with(|| other.0.cmp(one.0)));
        best.map_or_else(Self::default, |(path, (_, at))| Self { path: path.to_owned(), sequence: Some(at) })
    }

    /// The path; empty if there is no root.
    pub(in crate::extractive) fn path(&self) -> &str {
        &self.path
    }

    /// A path without the root.
    pub(in crate::extractive) fn relative<'a>(&self, path: &'a str) -> &'a str {
        let inside = (!self.path.is_empty()).then(|| path.strip_prefix(&*self.path)?.strip_prefix('/'));
        inside.flatten().filter(|inside| !inside.is_empty()).unwrap_or(path)
    }

    /// A text with relative paths.
    pub(in crate::extractive) fn shortened(&self, text: &str) -> String {
        match self.path.is_empty() || !text.contains(&*self.path) {
            true => text.to_owned(),
            false => {
                text.replace(&format!("cd {} && ", self.path), "").replace(&format!("{}/", self.path), "")
            }
        }
    }
}

/// The absolute paths in a text.
fn absolute(text: &str) -> impl Iterator<Item = &str> {
    let text = &text[..text.floor_char_boundary(READ_BYTES)];
    let runs = Runs::of(text).map(move |run| text[run].trim_end_matches(['.', ':', '/', ',']));
    runs.filter(|path| {
        path.starts_with('/') && !path.starts_with("//") && path.matches('/').count() > 2 && path.is_ascii()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_relative_to_the_root() {
        let root = Root { path: "/home/ann/app".into(), sequence: None };
        assert_eq!(root.relative("/home/ann/app/src/a.rs"), "src/a.rs");
        assert_eq!(root.relative("/home/ann/apple/a.rs"), "/home/ann/apple/a.rs");
        assert_eq!(root.shortened("cd /home/ann/app && cat /home/ann/app/a.rs"), "cat a.rs");
        assert_eq!(Root::default().shortened("/a/b"), "/a/b");
    }
}
