//! What kind of value a text is, by its shape alone, in any language.

#[cfg(test)]
mod tests;

use std::sync::LazyLock;

use regex_automata::meta::Regex;
use utterd_text::{Kind, entities};

/// The longest phrase, in characters.
const PHRASE_CHARS: usize = 64;

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
        _ if value.len() > 4 * PHRASE_CHARS || value.contains('\n') => return Shape::Prose,
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

/// What is left: paths, ids, amounts with their units apart, words. A kind and a pattern on each line of `shapes.tsv`; the
/// first that matches decides.
fn by_marks(value: &str) -> Shape {
    let Some((regex, shapes)) = &*MARKS else { return Shape::Prose };
    match regex.find(value).map_or(Shape::Prose, |found| shapes[found.pattern()]) {
        Shape::Path if !value.contains(char::is_alphabetic) && value.len() > 3 => Shape::Prose,
        Shape::Phrase if value.chars().count() > PHRASE_CHARS => Shape::Prose,
        shape => shape,
    }
}

static MARKS: LazyLock<Option<(Regex, Vec<Shape>)>> = LazyLock::new(|| {
    let rows = include_str!("shapes.tsv").lines().filter_map(|line| line.split_once('\t'));
    let (names, patterns): (Vec<&str>, Vec<&str>) = rows.unzip();
    let shape = |name| match name {
        "path" => Shape::Path,
        "hash" => Shape::Hash,
        "amount" => Shape::Amount,
        "id" => Shape::Id,
        "word" => Shape::Word,
        "phrase" => Shape::Phrase,
        _ => Shape::Prose,
    };
    Some((Regex::new_many(&patterns).ok()?, names.into_iter().map(shape).collect()))
});
