//! The bench's definitions of entities and content words.

use std::collections::HashSet;

/// Shorter and longer runs are not entities, in bytes.
const ENTITY_BYTES: std::ops::RangeInclusive<usize> = 2..=80;

/// The distinct entities of `text`.
pub fn entities(text: &str) -> HashSet<&str> {
    let mut found = HashSet::new();
    let mut start = 0;
    let mut chars = text.char_indices().peekable();
    let mut before = ' ';
    while let Some((at, c)) = chars.next() {
        let next = chars.peek().map_or(' ', |(_, next)| *next);
        if is_boundary(before, c, next) {
            let run = trimmed(&text[start..at]);
            if is_entity(run) && !is_key(&text[at..]) {
                found.insert(run);
            }
            // A JSON escape: `\n` ends a run and does not start one.
            if c == '\\' && matches!(next, 'n' | 't' | 'r') {
                chars.next();
            }
            start = chars.peek().map_or(text.len(), |(at, _)| *at);
        }
        before = c;
    }
    let run = trimmed(&text[start..]);
    found.extend(is_entity(run).then_some(run));
    found
}

fn is_boundary(before: char, c: char, next: char) -> bool {
    match c {
        // `15:00`, `Vec::new`
        ':' => !(before.is_ascii_digit() && next.is_ascii_digit() || before == ':' || next == ':'),
        // `1,250`
        ',' => !(before.is_ascii_digit() && next.is_ascii_digit()),
        '.' | '-' | '_' | '/' | '@' | '$' | '€' | '£' | '%' => false,
        _ => !c.is_alphanumeric(),
    }
}

fn trimmed(run: &str) -> &str {
    let run = run
        .trim_end_matches(['.', '-', '/', ':', '@', ',', '$'])
        .trim_start_matches(['-', ':', ',', '@', '%']);
    run.strip_prefix("./").unwrap_or(run).trim_start_matches('.')
}

/// Whether a run is a key, judging from what follows it: `"name": `.
fn is_key(behind: &str) -> bool {
    let after = behind.trim_start_matches('\\');
    after.strip_prefix(['"', '\'']).is_some_and(|after| after.trim_start().starts_with(':'))
}

fn is_entity(run: &str) -> bool {
    if !ENTITY_BYTES.contains(&run.len()) {
        return false;
    }
    let digits = run.bytes().filter(u8::is_ascii_digit).count();
    let has_letters = run.contains(char::is_alphabetic);
    let is_amount = digits > 0 && (run.starts_with(['$', '€', '£']) || run.ends_with('%'));
    let is_ordinal = ["st", "nd", "rd", "th"].iter().any(|end| {
        run.strip_suffix(end).is_some_and(|number| number.bytes().all(|byte| byte.is_ascii_digit()))
    });
    let is_code = digits > 0 && has_letters && run.len() > 2 && !is_ordinal;
    is_amount || is_code || digits > 2 || has_letters && (is_address(run) || is_path(run) || is_name(run))
}

fn is_address(run: &str) -> bool {
    run.split_once('@').is_some_and(|(user, host)| !user.is_empty() && host.contains('.'))
}

/// `/tmp/x`, `a/b/c`, `src/main.rs`, `main.rs`.
fn is_path(run: &str) -> bool {
    let last = run.rsplit('/').next().unwrap_or(run);
    let is_file = last.rsplit_once('.').is_some_and(|(stem, ending)| {
        stem.len() > 1
            && (1..=5).contains(&ending.len())
            && ending.bytes().all(|byte| byte.is_ascii_lowercase())
    });
    is_file || run.matches('/').count() > 1 || run.len() > 2 && run.starts_with('/')
}

/// `snake_case`, `camelCase`, `Vec::new`.
fn is_name(run: &str) -> bool {
    let joined = run.contains("::") || run.trim_matches('_').contains('_');
    let pairs = run.chars().zip(run.chars().skip(1));
    joined || pairs.filter(|(one, next)| one.is_lowercase() && next.is_uppercase()).count() > 0
}

/// The distinct content words of `text`, in lower case.
pub fn content_words(text: &str) -> HashSet<String> {
    let words = text.split(|c: char| !c.is_alphabetic()).filter(|word| word.chars().count() > 3);
    words.map(str::to_lowercase).filter(|word| !COMMON.contains(&&**word)).collect()
}

const COMMON: &[&str] = &[
    "about",
    "after",
    "again",
    "also",
    "another",
    "anything",
    "because",
    "been",
    "before",
    "being",
    "between",
    "both",
    "cannot",
    "could",
    "didn",
    "does",
    "doesn",
    "doing",
    "don",
    "down",
    "each",
    "every",
    "everything",
    "from",
    "further",
    "going",
    "have",
    "haven",
    "having",
    "hello",
    "help",
    "here",
    "into",
    "isn",
    "just",
    "know",
    "like",
    "make",
    "maybe",
    "more",
    "most",
    "much",
    "must",
    "need",
    "only",
    "other",
    "over",
    "please",
    "really",
    "same",
    "should",
    "since",
    "some",
    "something",
    "such",
    "sure",
    "take",
    "than",
    "thank",
    "thanks",
    "that",
    "their",
    "them",
    "then",
    "there",
    "these",
    "they",
    "thing",
    "things",
    "think",
    "this",
    "those",
    "through",
    "under",
    "until",
    "very",
    "want",
    "well",
    "were",
    "what",
    "when",
    "where",
    "which",
    "while",
    "will",
    "with",
    "within",
    "without",
    "would",
    "yeah",
    "your",
    "yours",
];
