//! Finds what a text names: files, addresses, identifiers, amounts, dates, names.

mod kind;
mod names;

pub use kind::{Entity, Kind};

use std::{ops::Range, sync::LazyLock};

use regex_automata::{Anchored, Input, meta::Regex};
use rustc_hash::FxHashSet;

use crate::{
    chars::{is_unspaced, span},
    language::Language,
};
use names::Names;

/// A pattern on each line: of what is found in a text (`in`), and of what a token `is`, each behind its kind; `{month}`
/// stands for what the line `list month` says. The first that matches decides.
const TABLE: &str = include_str!("../entities.tsv");
/// Longer tokens are data.
const TOKEN_BYTES: usize = 256;
/// Of digits with letters, and of digits from 0 to f, what is shorter says little.
const CODE_BYTES: usize = 4;
const HEX_BYTES: usize = 7;

/// What a text names, in order, by shape only.
///
/// - The first word of a sentence is part of a name only if the next one has a capital too, and never if it is a
///   function word or asks for something.
/// - In German, where every noun has a capital, a name has two words.
/// - Scripts without capitals have no names.
pub fn entities(text: &str) -> Vec<Entity<'_>> {
    found(text, &Names::new(text, None))
}

/// What a text in `language` names.
pub fn entities_in(text: &str, language: Language) -> Vec<Entity<'_>> {
    found(text, &Names::new(text, Some(language)))
}

fn found<'a>(text: &'a str, names: &Names<'a>) -> Vec<Entity<'a>> {
    let Some(patterns) = &*IN else { return Vec::new() };
    let (mut found, mut read, mut at) = (Vec::new(), 0, 0);
    loop {
        at += plain(&text[at..]);
        // it most often begins here, and where it does, it is found in one pass
        let here = patterns.regex.find(Input::new(text).range(at..).anchored(Anchored::Yes));
        let Some(matched) = here.or_else(|| patterns.regex.find(Input::new(text).range(at..))) else { break };
        at = matched.end();
        let Some((kind, end)) = kind_of(text, matched.range(), patterns.kinds[matched.pattern()]) else {
            continue;
        };
        names.read(read..matched.start(), &mut found);
        read = end;
        found.push(Entity { text: &text[matched.start()..end], start: matched.start(), kind });
    }
    names.read(read..text.len(), &mut found);
    found
}

/// The length of the words that a text begins with in which no pattern finds anything: words without capitals inside,
/// digits and marks, which no date or amount begins with.
fn plain(text: &str) -> usize {
    let mut at = 0;
    loop {
        at += span(&text[at..], opens_nothing);
        let word = &text[at..];
        let first = word.chars().next().filter(|c| c.is_alphabetic() && !is_unspaced(*c));
        let Some(first) = first.map(char::len_utf8) else { return at };
        let end = first + span(&word[first..], char::is_lowercase);
        if word.as_bytes().get(end) == Some(&b' ') && !opens_more(&word[..end]) {
            at += end;
            continue;
        }
        let joined = end + span(&word[end..], |c| c.is_lowercase() || matches!(c, '\'' | '-'));
        let behind = joined + span(&word[joined..], |c| matches!(c, '.' | ',' | ':' | '!' | '?' | ')'));
        let is_whole = word[behind..].chars().next().is_none_or(|c| c.is_ascii_whitespace());
        if !is_whole || opens_more(&word[..end]) {
            return at;
        }
        at += behind;
    }
}

/// Whether no pattern begins with a character.
fn opens_nothing(c: char) -> bool {
    matches!(c, '!' | '"' | '\'' | '(' | ')' | ',' | ':'..='?' | '[' | ']' | '^' | '`' | '{'..='}')
        || c.is_ascii_whitespace()
}

/// Whether a word can be the beginning of a date or an amount.
fn opens_more(word: &str) -> bool {
    static OPENING: LazyLock<FxHashSet<&str>> = LazyLock::new(|| {
        let lists = ["month", "longmonth", "weekday", "currency"].into_iter().flat_map(|name| {
            let list = rows("list").into_iter().find(|(of, _)| *of == name).map_or("", |(_, list)| list);
            list.trim_start_matches("(?i:").trim_end_matches(')').split('|')
        });
        lists.collect()
    });
    match word.starts_with(char::is_uppercase) {
        true => OPENING.contains(&*word.to_lowercase()),
        false => OPENING.contains(word),
    }
}

/// The kind of what was found, if it is an entity, and where it ends.
fn kind_of(text: &str, place: Range<usize>, kind: Option<Kind>) -> Option<(Kind, usize)> {
    let said = text[place.clone()]
        .trim_end_matches(['.', ',', ':', '!', '?', '\'', '*', '/', '-', '\\', '&', '=', ';']);
    let said = if matches!(kind, Some(Kind::Path | Kind::File)) { without_line(said) } else { said };
    let (before, behind) = (text[..place.start].chars().next_back(), &text[place.start + said.len()..]);
    let is_apart = |c: char| c.is_whitespace() || is_unspaced(c) || "\"'`([{=:,|>“«".contains(c);
    let is_rooted = said.starts_with(['/', '.', '~', '@']);
    let kind = match kind {
        _ if said.len() > TOKEN_BYTES => return None,
        None => of_token(said)?,
        // a closing tag, the method of a string, `and/or`
        Some(Kind::Path | Kind::File) if is_rooted && !before.is_none_or(is_apart) || said.len() < 3 => {
            return None;
        }
        Some(Kind::Path | Kind::File) if !said.contains(char::is_alphabetic) => return None,
        Some(Kind::File) if behind.starts_with('(') => {
            // `console.log(`
            return (!is_rooted).then_some((Kind::Identifier, place.start + said.len()));
        }
        Some(kind) => kind,
    };
    Some((kind, place.start + said.len()))
}

/// A file's name without the line that is told behind it: `a.rs:42`, `a.rs:42:7`.
fn without_line(said: &str) -> &str {
    let name = said.trim_end_matches(|c: char| c.is_ascii_digit() || c == ':');
    if said[name.len()..].starts_with(':') { name } else { said }
}

/// What a token is by its characters, if it is not just a word.
fn of_token(said: &str) -> Option<Kind> {
    // a name of a program has a capital inside, and everything else a mark or a digit
    let mut letters = said.bytes();
    if letters.next().is_some_and(|first| first.is_ascii_alphabetic())
        && letters.all(|c| c.is_ascii_lowercase())
    {
        return None;
    }
    let patterns = IS.as_ref()?;
    let kind = patterns.kinds[patterns.regex.find(said)?.pattern()]?;
    let count = |is: fn(&u8) -> bool| said.bytes().filter(is).count();
    let (digits, small) = (count(u8::is_ascii_digit), count(u8::is_ascii_lowercase));
    match kind {
        Kind::Code if said.starts_with(['#', 'v']) || said.contains('.') => Some(kind),
        Kind::Code if small == 0 => (said.len() >= CODE_BYTES).then_some(kind),
        Kind::Code if said.len() >= HEX_BYTES => Some(kind),
        Kind::Code => (said.len() >= CODE_BYTES).then_some(Kind::Identifier),
        Kind::Identifier if digits > 0 => (said.len() >= CODE_BYTES).then_some(kind),
        _ => Some(kind),
    }
}

struct Patterns {
    regex: Regex,
    /// `None` for a token, or for what is nothing.
    kinds: Vec<Option<Kind>>,
}

static IN: LazyLock<Option<Patterns>> = LazyLock::new(|| patterns("in"));
static IS: LazyLock<Option<Patterns>> = LazyLock::new(|| patterns("is"));

/// The lines of a section, without its name.
fn rows(section: &str) -> Vec<(&'static str, &'static str)> {
    let cells = |line: &'static str| line.strip_prefix(section)?.strip_prefix('\t')?.split_once('\t');
    TABLE.lines().filter_map(cells).collect()
}

fn patterns(section: &str) -> Option<Patterns> {
    // a list can have earlier ones in it
    let fill = |text: &str| {
        let lists = rows("list").into_iter().rev();
        lists.fold(text.to_owned(), |text, (name, list)| text.replace(&format!("{{{name}}}"), list))
    };
    let regex = rows(section).into_iter().map(|(_, pattern)| fill(pattern)).collect::<Vec<_>>();
    let kinds = rows(section).into_iter().map(|(kind, _)| Kind::of(kind)).collect();
    Some(Patterns { regex: Regex::new_many(&regex).ok()?, kinds })
}

#[cfg(test)]
mod tests;
