//! What kind of value a text is, by its shape alone, in any language.

#[cfg(test)]
mod tests;

use utterd_text::{Kind, entities};

/// The longest identifier, in characters.
const ID_CHARS: usize = 40;
/// The longest phrase, in characters and words.
const PHRASE: (usize, usize) = (64, 9);

/// The kind of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// Nothing, `null`, `n/a`.
    Empty,
    /// `true` or `false`, also as text.
    Bool,
    /// `12`, `-3`.
    Number,
    /// A number with a fraction, a currency or a unit: `12.50`, `€ 9`, `38 kg`.
    Amount,
    /// `2024-05-14`, `14.05.2024`, `2024年5月14日`.
    Date,
    /// `18:45`.
    Time,
    /// A moment with its seconds: `2024-05-14T18:45:03Z`.
    Stamp,
    /// Letters and digits: `HAT136`, `#W12`, `mia_li_3668`.
    Id,
    /// A digest, a UUID, a token: nobody says it aloud.
    Hash,
    /// `ann@example.org`.
    Email,
    /// `https://…`.
    Url,
    /// `src/main.rs`, `/tmp`, `notes.txt`.
    Path,
    /// One word.
    Word,
    /// A few words: a name, a title.
    Phrase,
    /// Sentences, or several lines.
    Prose,
}

/// The kind of `value`.
pub(crate) fn shape(value: &str) -> Shape {
    let value = value.trim();
    let short = if value.len() <= 5 { value.to_ascii_lowercase() } else { "?".to_owned() };
    match &*short {
        "" | "null" | "none" | "n/a" | "-" | "nil" | "—" => return Shape::Empty,
        "true" | "false" => return Shape::Bool,
        _ if value.len() > 4 * PHRASE.0 || value.contains('\n') => return Shape::Prose,
        _ => {}
    }
    match &entities(value)[..] {
        _ if value.trim_start_matches(['-', '+']).bytes().all(|byte| byte.is_ascii_digit()) => Shape::Number,
        [only] if only.text == value => of_entity(value, only.kind),
        [day, time] if (day.kind, time.kind) == (Kind::Date, Kind::Time) => Shape::Stamp,
        _ => by_marks(value),
    }
}

/// What a text is that names one thing.
fn of_entity(value: &str, kind: Kind) -> Shape {
    let digits = value.bytes().filter(u8::is_ascii_digit).count();
    match kind {
        Kind::Path | Kind::File => Shape::Path,
        Kind::Url => Shape::Url,
        Kind::Email => Shape::Email,
        Kind::Date if value.contains(':') => Shape::Stamp,
        Kind::Date => Shape::Date,
        Kind::Time => Shape::Time,
        // a telephone number
        Kind::Number if value.contains('-') && digits > 6 => Shape::Id,
        Kind::Number | Kind::Money => Shape::Amount,
        Kind::Code | Kind::Identifier | Kind::Name => by_marks(value),
    }
}

/// What is left: ids, amounts with their units apart, words.
fn by_marks(value: &str) -> Shape {
    let count = |is: fn(&u8) -> bool| value.bytes().filter(is).count();
    let (digits, letters) = (count(u8::is_ascii_digit), value.chars().filter(|c| c.is_alphabetic()).count());
    let is_hex = value.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
    let is_long = value.len() > ID_CHARS;
    let unit = value.trim_start_matches(|c: char| c.is_ascii_digit() || ".,'’ -+\u{a0}".contains(c));
    let is_marked = letters > 0 || digits > 1 && value.contains(['#', '-', '_', '/']);
    match value.contains(char::is_whitespace) {
        _ if is_path(value) => Shape::Path,
        false if digits > 2 && (is_hex && value.len() >= 16 || is_long && !value.contains('/')) => {
            Shape::Hash
        }
        _ if unit.len() < value.len()
            && value.starts_with(|c: char| c.is_ascii_digit())
            && letters <= 4
            && !unit.contains(|c: char| c.is_ascii_digit() || "_/#-*".contains(c)) =>
        {
            Shape::Amount
        }
        false if digits > 0 && is_marked && !is_long && !value.contains(['(', '=', '"']) => Shape::Id,
        _ => words(value),
    }
}

/// Whether a value is a file or a folder: a slash between names, or a name with an extension.
pub(crate) fn is_path(value: &str) -> bool {
    let words = value.split_whitespace().count();
    let drive = value.as_bytes().get(1..3) == Some(b":\\");
    let anchored = drive || ["/", "~/", "./", "../"].iter().any(|start| value.starts_with(start));
    let has_letter = value.contains(char::is_alphabetic) || matches!(value, "." | ".." | "/");
    let is_plain = !value
        .contains(['\n', '"', '\'', '<', '>', '|', '(', ')', '{', '}', ';', '`', '=', ',', '*', '$'])
        && !value.contains("://")
        && !value.contains("//");
    let slash = value.contains('/') && !value.ends_with('.') || drive;
    // a blank stands within a name, not before the path: `src/a b.rs`, not `see src/a.rs`
    let leads = value.split(' ').next().is_some_and(|first| first.contains('/')) && has_extension(value);
    let is_whole = if words == 1 { slash || has_extension(value) } else { words < 6 && (anchored || leads) };
    has_letter && is_plain && value.len() <= 256 && is_whole
}

/// Whether a name ends in an extension: one to eight letters or digits, with a letter, after a name that is no number.
fn has_extension(value: &str) -> bool {
    let name = value.rsplit(['/', '\\']).next().unwrap_or(value);
    name.rsplit_once('.').is_some_and(|(stem, end)| {
        (1..=8).contains(&end.len())
            && end.bytes().all(|byte| byte.is_ascii_alphanumeric())
            && end.bytes().any(|byte| byte.is_ascii_lowercase())
            && !stem.is_empty()
            && !stem.bytes().all(|byte| byte.is_ascii_digit())
    })
}

/// How long a text is.
fn words(value: &str) -> Shape {
    let (chars, words) = (value.chars().count(), value.split_whitespace().count());
    let is_sentence = words > 3 && value.contains(". ")
        || value.contains('。')
        || words > 4 && value.ends_with(['.', '!', '?']);
    match words {
        1 if chars <= ID_CHARS && !is_sentence => Shape::Word,
        _ if chars <= PHRASE.0 && words <= PHRASE.1 && !is_sentence && words > 1 => Shape::Phrase,
        _ => Shape::Prose,
    }
}
