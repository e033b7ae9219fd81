//! The table of credentials, and whether a value looks like one, given that its label says so.

use std::sync::LazyLock;

use crate::Patterns;

/// A kind and a pattern or word of that kind on each line:
///
/// | `prefix`, `word` | a credential that is a word of its own, by how it begins or by its form |
/// |---|---|
/// | `around`, `login` | what surrounds the credential, which is the group of the pattern if it has one |
/// | `password`, `key`, `session` | how the label of a credential ends |
/// | `before` | before `token`: what says where a list goes on, which opens nothing |
/// | `plain` | a variable, a placeholder, a path, code: what only stands where a credential could |
pub(super) const TABLE: &str = include_str!("../secrets.tsv");
pub(super) static PATTERNS: LazyLock<Patterns> = LazyLock::new(|| Patterns::of(TABLE));

/// What a label promises.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// People choose it.
    Password,
    /// Programs generate it.
    Key,
    /// Programs generate it for a visitor; a UUID only names one.
    Session,
}

impl Kind {
    /// No shorter value is one, in bytes.
    fn least(self) -> usize {
        match self {
            Self::Password => 8,
            Self::Key => 12,
            Self::Session => 16,
        }
    }
}

/// Whether a value is a credential of a kind; `is_bound` if nothing but a value can stand where it does.
pub(super) fn is_secret(value: &str, kind: Kind, is_bound: bool) -> bool {
    if value.len() < kind.least() || value.contains(' ') || is_plain(value) {
        return false;
    }
    let is_uuid = value.len() == 36 && value.matches('-').count() == 4;
    match kind {
        // a digit or a mark that words do not have
        Kind::Password => {
            let is_mark = |byte: u8| byte.is_ascii_punctuation() && !b"-_./:,'\\".contains(&byte);
            let body = value.trim_end_matches(['!', '?', '*']);
            let is_word = value.bytes().all(|byte| byte.is_ascii_alphabetic());
            value.bytes().any(|byte| byte.is_ascii_digit())
                || body.bytes().any(is_mark)
                || is_bound && is_word
        }
        Kind::Session if is_uuid => false,
        Kind::Key | Kind::Session => value.split(|c: char| !c.is_ascii_alphanumeric()).any(is_mixed),
    }
}

/// A long part that mixes letters and digits, or small and capital letters irregularly.
fn is_mixed(part: &str) -> bool {
    let digits = part.bytes().filter(u8::is_ascii_digit).count();
    part.len() >= 8 && (digits > 1 && part.len() > digits + 1 || is_jagged(part))
}

/// Whether it has digits, or letters that no words have together.
pub(super) fn is_random(text: &str) -> bool {
    text.bytes().any(|byte| byte.is_ascii_digit()) || is_jagged(text)
}

/// Whether letters change between small ones, capitals and digits more often than in names of programs.
fn is_jagged(text: &str) -> bool {
    let class = |byte: u8| (byte.is_ascii_uppercase(), byte.is_ascii_digit());
    let turns = text.as_bytes().windows(2).filter(|pair| class(pair[0]) != class(pair[1])).count();
    turns >= 4 && turns * 4 >= text.len()
}

/// Whether it only stands where a credential could.
pub(super) fn is_plain(value: &str) -> bool {
    PATTERNS.has("plain", value)
}
