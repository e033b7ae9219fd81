//! What the words of a tool's name say that it does.

use std::sync::LazyLock;

use rustc_hash::FxHashMap;

/// What a call or a command does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Does {
    Reads,
    Changes,
    /// Tests, builds or lints.
    Checks,
    /// Runs a program of the conversation's own.
    Runs,
    /// Runs the command that follows in its words.
    Launches,
}

impl Does {
    pub(super) fn of(name: &str) -> Option<Self> {
        Some(match name {
            "reads" => Self::Reads,
            "changes" => Self::Changes,
            "checks" => Self::Checks,
            "runs" => Self::Runs,
            "launches" => Self::Launches,
            _ => return None,
        })
    }
}

/// The verbs, one a line: the word or words, what they do, and `weak` if a noun is as likely (`order`, `status`).
pub(super) const VERBS: &str = include_str!("verbs.tsv");
/// The most words that a verb has.
const MOST_WORDS: usize = 4;
/// How much of a name is read, in bytes.
const NAME_BYTES: usize = 128;

/// A verb's meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Verb {
    pub(super) does: Does,
    pub(super) weak: bool,
}

/// The meaning of one or several words, in lower case.
pub(super) fn verb(words: &str) -> Option<Verb> {
    static TABLE: LazyLock<FxHashMap<&str, Verb>> =
        LazyLock::new(|| VERBS.lines().filter_map(entry).collect());
    TABLE.get(words).copied()
}

fn entry(line: &'static str) -> Option<(&'static str, Verb)> {
    let mut fields = line.split('\t');
    let (words, does) = (fields.next()?, Does::of(fields.next()?)?);
    Some((words, Verb { does, weak: fields.next().is_some() }))
}

/// What a tool does by its name: its own words decide, and without a verb among them, those before, which name its
/// origin (`mcp__server__tool`, `namespace.tool`). `None` if no word is a verb.
pub(super) fn named(tool: &str) -> Option<Verb> {
    let own = tool.rsplit(['.', '/', ':']).next().unwrap_or(tool);
    let own = own.rsplit("__").next().unwrap_or(own);
    of_words(&words(own)).or_else(|| of_words(&words(tool)))
}

/// What words together say. The first verb decides; one that can be a noun yields to a later one that cannot, and to a
/// last word that looks something up (`order_status`, but `order_pizza`).
pub(super) fn of_words(words: &[String]) -> Option<Verb> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < words.len() {
        let lengths = (1..=MOST_WORDS.min(words.len() - at)).rev();
        let known =
            lengths.into_iter().find_map(|count| Some((verb(&words[at..at + count].join(" "))?, count)));
        let (verb, count) = known.map_or((None, 1), |(verb, count)| (Some(verb), count));
        found.extend(verb);
        at += count;
    }
    let last = found.last().filter(|last| last.weak && last.does == Does::Reads);
    found.iter().find(|verb| !verb.weak).or(last).or(found.first()).copied()
}

/// The words of a name in lower case: `createIssue`, `create_issue`, `create-issue`, `HTTPRequest`.
pub(crate) fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut before = ['\0'; 2];
    let mut chars = name[..name.floor_char_boundary(NAME_BYTES)].chars().peekable();
    while let Some(c) = chars.next() {
        let ends_acronym =
            before[1].is_uppercase() && c.is_uppercase() && chars.peek().is_some_and(|c| c.is_lowercase());
        if !c.is_alphanumeric() || before[1].is_lowercase() && c.is_uppercase() || ends_acronym {
            words.push(String::new());
        }
        if let (true, Some(word)) = (c.is_alphanumeric(), words.last_mut()) {
            word.extend(c.to_lowercase());
        }
        before = [before[1], c];
    }
    words.retain(|word| !word.is_empty());
    words
}
