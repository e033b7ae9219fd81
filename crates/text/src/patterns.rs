//! Tables of patterns: a kind, a tab and a pattern or a word of that kind on each line.

use std::sync::OnceLock;

use regex_automata::meta::Regex;
use rustc_hash::FxHashMap;

/// The patterns of a table by their kinds; those of a kind are made when they are needed first.
pub struct Patterns(FxHashMap<&'static str, Kind>);

#[derive(Default)]
struct Kind {
    listed: Vec<&'static str>,
    regex: OnceLock<Option<Regex>>,
}

impl Patterns {
    /// The patterns of a table.
    pub fn of(table: &'static str) -> Self {
        let mut kinds: FxHashMap<&str, Kind> = FxHashMap::default();
        for (kind, pattern) in table.lines().filter_map(|line| line.split_once('\t')) {
            kinds.entry(kind).or_default().listed.push(pattern);
        }
        Self(kinds)
    }

    /// What the table has of a kind.
    pub fn listed(&self, kind: &str) -> &[&'static str] {
        self.0.get(kind).map_or(&[], |kind| &kind.listed)
    }

    /// The patterns of a kind as one.
    pub fn get(&self, kind: &str) -> Option<&Regex> {
        let kind = self.0.get(kind)?;
        kind.regex.get_or_init(|| Regex::new_many(&kind.listed).ok()).as_ref()
    }

    /// Whether a text has a pattern of a kind.
    pub fn has(&self, kind: &str, text: &str) -> bool {
        self.get(kind).is_some_and(|patterns| patterns.is_match(text))
    }
}
