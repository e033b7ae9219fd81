//! The table of what shows a credential.

use regex_automata::meta::Regex;

/// A kind and a pattern or word of that kind on each line:
///
/// | `prefix`, `word` | a credential that is a word of its own, by how it begins or by its form |
/// |---|---|
/// | `around`, `login` | what surrounds the credential, which is the group of the pattern if it has one |
/// | `password`, `key`, `session` | how the label of a credential ends |
/// | `before` | before `token`: what says where a list goes on, which opens nothing |
/// | `plain` | a variable, a placeholder, a path, code: what only stands where a credential could |
pub(super) const TABLE: &str = include_str!("../secrets.tsv");

/// What the table has of a kind.
pub(super) fn listed(kind: &str) -> impl Iterator<Item = &'static str> {
    TABLE.lines().filter_map(move |line| line.strip_prefix(kind)?.strip_prefix('\t'))
}

/// The patterns of a kind as one.
pub(super) fn regex(kind: &str) -> Option<Regex> {
    Regex::new_many(&listed(kind).collect::<Vec<_>>()).ok()
}
