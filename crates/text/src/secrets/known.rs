//! Credentials that are known by how they begin, as their providers document it.

use std::{ops::Range, sync::LazyLock};

use aho_corasick::AhoCorasick;

/// A prefix, what the rest consists of, and its least length in bytes.
const TABLE: &str = include_str!("../secrets.tsv");

struct Known {
    prefixes: AhoCorasick,
    rest: Vec<(Class, usize)>,
}

/// What a credential consists of.
#[derive(Clone, Copy, PartialEq)]
enum Class {
    /// Digits, and letters from `a` to `f`.
    Hex,
    /// Digits and capitals.
    Upper,
    /// Letters, digits, `_` and `-`.
    Word,
    /// The same and points.
    Dotted,
    /// A JSON Web Token: three such words with points between, the second one JSON too.
    Jwt,
}

impl Class {
    fn of(name: &str) -> Self {
        match name {
            "hex" => Self::Hex,
            "upper" => Self::Upper,
            "dotted" => Self::Dotted,
            "jwt" => Self::Jwt,
            _ => Self::Word,
        }
    }

    fn has(self, byte: u8) -> bool {
        match self {
            Self::Hex => byte.is_ascii_hexdigit(),
            Self::Upper => byte.is_ascii_uppercase() || byte.is_ascii_digit(),
            Self::Word => byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'),
            Self::Dotted | Self::Jwt => Self::Word.has(byte) || byte == b'.',
        }
    }
}

static KNOWN: LazyLock<Option<Known>> = LazyLock::new(|| {
    let rows = TABLE.lines().filter_map(|row| {
        let mut cells = row.split('\t');
        Some((cells.next()?, Class::of(cells.next()?), cells.next()?.parse().ok()?))
    });
    let (prefixes, rest): (Vec<&str>, _) =
        rows.map(|(prefix, class, least)| (prefix, (class, least))).unzip();
    Some(Known { prefixes: AhoCorasick::new(prefixes).ok()?, rest })
});

/// Adds the places of credentials with a known prefix.
pub(super) fn find(text: &str, found: &mut Vec<Range<usize>>) {
    let Some(known) = &*KNOWN else { return };
    let mut end = 0;
    for prefix in known.prefixes.find_iter(text) {
        let (class, least) = known.rest[prefix.pattern()];
        if prefix.start() < end || !starts_word(text, prefix.start()) {
            continue;
        }
        let rest = run(text, prefix.end(), class);
        if rest.len() >= least && is_random(&text[rest.clone()], class) {
            end = rest.end;
            found.push(prefix.start()..end);
        }
    }
}

/// Whether nothing before `at` belongs to the same word.
fn starts_word(text: &str, at: usize) -> bool {
    let before = at.checked_sub(1).map_or(b' ', |before| text.as_bytes()[before]);
    !before.is_ascii_alphanumeric() && !matches!(before, b'_' | b'-' | b'/' | b'.' | 0x80..)
}

/// What follows of a class, without the full stop of a sentence.
fn run(text: &str, start: usize, class: Class) -> Range<usize> {
    let length = text.as_bytes()[start..].iter().take_while(|byte| class.has(**byte)).count();
    start..start + text[start..start + length].trim_end_matches(['.', '-']).len()
}

/// Words that are joined by dashes are no credential (`sk-learn-style-estimators-are-here`).
fn is_random(rest: &str, class: Class) -> bool {
    match class {
        Class::Jwt => rest.split('.').nth(1).is_some_and(|payload| payload.starts_with("eyJ")),
        _ => rest.bytes().any(|byte| byte.is_ascii_digit()) || super::look::is_jagged(rest),
    }
}
