//! What kind of value a text is, by its shape alone, in any language.

#[cfg(test)]
mod tests;

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
    let is_one = !value.contains(char::is_whitespace);
    numeric(value)
        .or_else(|| is_one.then(|| one_word(value)).flatten())
        .or_else(|| is_path(value).then_some(Shape::Path))
        .unwrap_or_else(|| words(value))
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

/// The kind of a value that digits decide.
fn numeric(value: &str) -> Option<Shape> {
    let digits = value.chars().filter(|c| c.is_numeric()).count();
    let letters = value.chars().filter(|c| c.is_alphabetic()).count();
    if digits == 0 || value.chars().count() > ID_CHARS {
        return None;
    }
    let bare = value.trim_start_matches(['-', '+']);
    let mut numbers = value.split(|c: char| !c.is_ascii_digit()).filter(|part| !part.is_empty());
    let count = numbers.clone().count();
    let is_clock = |text: &str| text.split_once(':').is_some_and(|(hour, _)| hour.trim().len() <= 2);
    let colons = value.matches(':').count();
    let years = numbers.clone().filter(|part| part.len() > 2).count();
    let has_year = years == 1 && numbers.any(|part| part.len() == 4);
    let dated = count >= 3 && value.matches(['-', '/', '.', '年', '月']).count() >= 2 && digits >= 4;
    match () {
        () if bare.bytes().all(|byte| byte.is_ascii_digit()) => Some(Shape::Number),
        () if dated && (has_year || years == 0) && colons >= 2 => Some(Shape::Stamp),
        () if dated && (has_year || years == 0 && letters == 0) && (letters < 4 || value.contains('年')) => {
            Some(Shape::Date)
        }
        // 14 May 2024
        () if count == 2 && letters >= 3 && has_year && ends_in_year(value) => Some(Shape::Date),
        () if colons == 1 && letters <= 4 && is_clock(value) => Some(Shape::Time),
        () if colons == 2 && letters <= 2 && is_clock(value) => Some(Shape::Time),
        () if is_amount(value, letters, count) => Some(Shape::Amount),
        () => None,
    }
}

/// `14 May 2024`, `14 de mayo de 2024`, `May 14, 2024`.
fn ends_in_year(value: &str) -> bool {
    let last = value.rsplit(' ').next().unwrap_or_default();
    last.len() == 4 && value.split(' ').count() <= 5 && last.bytes().all(|byte| byte.is_ascii_digit())
}

/// A number with a fraction, or a sign or a short unit beside it.
fn is_amount(value: &str, letters: usize, numbers: usize) -> bool {
    if value.contains(" + ") || value.contains(" - ") || value.contains('*') {
        return false;
    }
    let symbols = value.chars().any(|c| "$€£¥₹₽₩%°".contains(c));
    let is_number = |c: char| c.is_ascii_digit() || ".,'’ -+\u{a0}".contains(c);
    let rest = value.trim_matches(is_number);
    let inner = rest.contains(|c: char| c.is_ascii_digit());
    // `38 kg`, `EUR 12.50`, but not `ICE 71`
    let is_behind = value.starts_with(|c: char| c.is_ascii_digit());
    let unit = letters <= 4 && !inner && (is_behind || numbers == 2 && value.contains(' '));
    (letters == 0 && (symbols || numbers <= 3 && !value.contains(['/', ':', '-', '#', '_'])))
        || symbols && letters <= 4 && !inner
        || unit && letters > 0 && !value.contains(['_', '/', '#', '-'])
}

/// The kind of a value without blanks.
fn one_word(value: &str) -> Option<Shape> {
    let bytes = value.as_bytes();
    let digits = bytes.iter().filter(|byte| byte.is_ascii_digit()).count();
    let alphabetic = value.chars().filter(|c| c.is_alphabetic()).count();
    let is_hex = bytes.iter().all(|byte| byte.is_ascii_hexdigit() || *byte == b'-');
    let address = value.split_once('@').filter(|(name, host)| !name.is_empty() && host.contains('.'));
    match () {
        () if value.contains("://") || value.starts_with("www.") || value.starts_with("data:") => {
            Some(Shape::Url)
        }
        () if address.is_some_and(|(name, _)| !name.contains(['/', ':'])) => Some(Shape::Email),
        () if is_hex && value.len() >= 16 && digits > 2 => Some(Shape::Hash),
        () if value.len() > ID_CHARS && digits > 3 && !value.contains('/') => Some(Shape::Hash),
        () if is_path(value) => Some(Shape::Path),
        () if digits > 0 && alphabetic > 0 && value.len() <= ID_CHARS && !value.contains(['(', '=', '"']) => {
            Some(Shape::Id)
        }
        () if digits > 1 && value.contains(['#', '-', '_', '/']) && value.len() <= ID_CHARS => {
            Some(Shape::Id)
        }
        () => None,
    }
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
