//! What looks like a credential, and a text without it.
//!
//! Three things show one: how it begins, as its provider documents it; what surrounds it (a block of a private key, the
//! password of an address); its label (`password: …`) together with its look.

mod look;

use std::{borrow::Cow, ops::Range, sync::LazyLock};

use aho_corasick::{AhoCorasick, AhoCorasickBuilder, AhoCorasickKind, MatchKind};
use regex_automata::{Anchored, Input, meta::Regex};

use look::{Kind, PATTERNS, is_plain, is_random, is_secret};

/// Stands for a credential.
pub const MARK: &str = "[secret]";

/// The text with `[secret]` for whatever looks like a credential.
///
/// - What only names one (`token_count: 4096`, `password: required`) stays, and so do hashes, ids and paths.
/// - Of an address with a password (`scheme://user:password@host`), only the password goes.
pub fn redact(text: &str) -> Cow<'_, str> {
    let found = find(text);
    if found.is_empty() {
        return Cow::Borrowed(text);
    }
    let (mut clean, mut at) = (String::with_capacity(text.len()), 0);
    for secret in found {
        if secret.start >= at {
            clean.push_str(&text[at..secret.start]);
            clean.push_str(MARK);
        }
        at = at.max(secret.end);
    }
    clean.push_str(&text[at..]);
    Cow::Owned(clean)
}

/// The places of credentials, by where they start; some can overlap.
pub fn find(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    for place in long_words(text) {
        shaped(text, place.clone(), "prefix", is_word, &mut found);
        if place.len() >= FORM_BYTES {
            shaped(text, place, "word", is_word, &mut found);
        }
    }
    let all = 0..text.len();
    let has_dash = text.contains('-');
    if text.contains('@') && text.contains("://") || has_dash && text.contains("-----BEGIN") {
        shaped(text, all.clone(), "around", |text, place| !is_plain(&text[place.clone()]), &mut found);
    }
    if has_dash && text.contains("-u") && text.contains(':') {
        let is_one =
            |text: &str, place: &Range<usize>| is_secret(&text[place.clone()], Kind::Password, false);
        shaped(text, all, "login", is_one, &mut found);
    }
    if text.len() >= LABELLED_BYTES {
        labelled(text, &mut found);
    }
    found.sort_unstable_by_key(|secret| (secret.start, secret.end));
    found
}

/// The places between blanks of words that are long enough for a credential that shows by how it begins.
fn long_words(text: &str) -> impl Iterator<Item = Range<usize>> {
    let (bytes, mut start) = (text.as_bytes(), 0);
    std::iter::from_fn(move || {
        loop {
            let beginning = bytes.get(start..start + PREFIX_BYTES)?;
            if let Some(blank) = beginning.iter().rposition(u8::is_ascii_whitespace) {
                start += blank + 1;
                continue;
            }
            let rest = &bytes[start + PREFIX_BYTES..];
            let more = rest.iter().position(u8::is_ascii_whitespace).unwrap_or(rest.len());
            let word = start..start + PREFIX_BYTES + more;
            start = word.end;
            return Some(word);
        }
    })
}

/// No credential that shows by how it begins is shorter.
const PREFIX_BYTES: usize = 16;
/// No credential with its label is.
const LABELLED_BYTES: usize = 12;
/// No credential that shows by its form is.
const FORM_BYTES: usize = 44;

/// Adds what patterns find between two places, where `is_one` says that it is a credential.
fn shaped(
    text: &str,
    between: Range<usize>,
    kind: &str,
    is_one: impl Fn(&str, &Range<usize>) -> bool,
    found: &mut Vec<Range<usize>>,
) {
    let Some(shapes) = PATTERNS.get(kind) else { return };
    // seldom, and then where exactly
    if !shapes.is_match(Input::new(text).range(between.clone())) {
        return;
    }
    for captures in shapes.captures_iter(Input::new(text).range(between)) {
        let Some(place) = captures.get_group(1).or(captures.get_group(0)) else { continue };
        // the full stop of a sentence
        let end = place.start + text[place.range()].trim_end_matches('.').len();
        found.extend(Some(place.start..end).filter(|place| is_one(text, place)));
    }
}

/// Whether it is a word of its own, and random. Words that are joined by dashes are not:
/// `sk-learn-style-estimators-are-here`.
fn is_word(text: &str, place: &Range<usize>) -> bool {
    let joins = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '/');
    let is_joined =
        text[..place.start].ends_with(|c| joins(c) || c == '.') || text[place.end..].starts_with(joins);
    !is_joined && is_random(&text[place.clone()])
}

static LABELS: LazyLock<Option<(AhoCorasick, Vec<Kind>)>> = LazyLock::new(|| {
    let kinds = [("password", Kind::Password), ("key", Kind::Key), ("session", Kind::Session)];
    let labels = kinds
        .into_iter()
        .flat_map(|(name, kind)| PATTERNS.listed(name).iter().map(move |label| (*label, kind)));
    let (labels, kinds): (Vec<_>, Vec<_>) = labels.unzip();
    let mut builder = AhoCorasickBuilder::new();
    let builder = builder.ascii_case_insensitive(true).match_kind(MatchKind::LeftmostLongest);
    // large, and twice as fast
    let builder = builder.kind(Some(AhoCorasickKind::DFA));
    Some((builder.build(labels).ok()?, kinds))
});

/// A longer value is judged by its beginning, so that many labels on a long line take no long time.
const VALUE_BYTES: usize = 512;
/// No name of an option is longer.
const OPTION_BYTES: usize = 32;

/// What follows a label: a mark or a verb, the scheme of the header `Authorization`, and the value, between quotes or up
/// to a blank.
static VALUE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let mark =
        r"[ \t（(]*(?:=>|:=|=|：|:|\|)[ \t*]*| (?:is|was|are|to|it's|ist|lautet|es|est|é|è):? +|[是は][ :]*";
    let scheme = "(?i:bearer|basic|token|apikey|digest|negotiate) +";
    let value = r#"\\*["'`“«「]([^"'`”»」\n]*)|([^\s;"'`<&\\，。；]+)"#;
    Regex::new(&format!(r#"(?:["'`*\]\\]*(?:{mark})|>|([ \t]+))({scheme})?(?:{value})"#)).ok()
});

/// Adds the places of values whose labels say that they are credentials.
fn labelled(text: &str, found: &mut Vec<Range<usize>>) {
    let (Some((labels, kinds)), Some(value)) = (&*LABELS, &*VALUE) else { return };
    let mut end = 0;
    for label in labels.find_iter(text).filter(|label| is_label(text, &label.range())) {
        let mut captures = value.create_captures();
        let near = text.floor_char_boundary(label.end() + VALUE_BYTES);
        let behind = Input::new(text).span(label.end()..near).anchored(Anchored::Yes);
        value.captures(behind, &mut captures);
        let [blank, scheme, quoted, bare] = [1, 2, 3, 4].map(|group| captures.get_group(group));
        let Some(place) = quoted.or(bare).filter(|_| label.start() >= end) else { continue };
        let head = &text[text.floor_char_boundary(label.start().saturating_sub(OPTION_BYTES))..label.start()];
        let is_option = head.rsplit(char::is_whitespace).next().is_some_and(|word| word.starts_with("--"));
        let name = text[label.range()].to_ascii_lowercase();
        let is_tag = text[label.end()..].starts_with('>');
        if blank.is_some() && !is_option && name != "bearer" || is_tag && !text[place.end..].starts_with("</")
        {
            continue;
        }
        let said = &text[place.range()];
        let said = if quoted.is_some() { said.trim_end_matches('\\') } else { without_ends(said) };
        // in the environment and between quotes, nothing but a value can stand
        let is_bound = quoted.is_some() || is_option || text[label.end()..place.start] == *"=";
        let kind = if scheme.is_some() { Kind::Password } else { kinds[label.pattern()] };
        let is_phrase = name.ends_with("phrase") && said.split(' ').count() > 3;
        if is_secret(said, kind, is_bound) || quoted.is_some() && is_phrase {
            let goes_on = if place.end < near {
                0
            } else {
                text[near..].find(char::is_whitespace).unwrap_or(text.len() - near)
            };
            end = place.start + said.len() + goes_on;
            found.push(place.start..end);
        }
    }
}

/// Whether a label ends here and nothing else (not `token_count`, `secretary` or `tokens`), and is a word of its own or the
/// end of a name: `DB_PASSWORD`, `clientSecret`, `dbpassword`. Short ones are not the end of another word (`inside`).
fn is_label(text: &str, label: &Range<usize>) -> bool {
    let (before, name, behind) = (&text[..label.start], &text[label.clone()], &text[label.end..]);
    let joins = |c: char| name.is_ascii() && c.is_alphanumeric() || matches!(c, '_' | '-');
    let is_hump = name.starts_with(|c: char| c.is_ascii_uppercase()) && before.ends_with(char::is_lowercase);
    let is_own = match name.len() {
        // alone, `pass` is a verb
        4 if name.eq_ignore_ascii_case("pass") => before.ends_with(['_', '-']),
        0..6 if name.is_ascii() => is_hump || !before.ends_with(char::is_alphanumeric),
        _ => true,
    };
    let lead = before[before.floor_char_boundary(before.len().saturating_sub(16))..].to_ascii_lowercase();
    let lead = lead.trim_end_matches(['_', '-', ' ', '.']);
    is_own && !behind.starts_with(joins) && !PATTERNS.listed("before").iter().any(|word| lead.ends_with(word))
}

/// A value without the punctuation of the sentence around it.
fn without_ends(value: &str) -> &str {
    let is_open = value.contains(['(', '[', '{']);
    value.trim_end_matches(|c| matches!(c, '.' | ',' | ':' | '?') || matches!(c, ')' | ']' | '}') && !is_open)
}

#[cfg(test)]
mod tests;
