//! The short forms: `speaker:user before:turn_5`, `last:3`, `about:the trip to Paris`.
//!
//! Keywords are read in any case, with blanks around the colon. Parts are separated by
//! blanks, a comma or `and`. A value with blanks or commas stands in quotes, in which a
//! backslash precedes a quote or a backslash.

use std::{fmt, ops::RangeInclusive, str::FromStr};

use crate::domain::{
    Role,
    forgetting::{Criterion, Instruction, InstructionError, Take, doubts},
};

/// The words before a colon.
const KEYWORDS: [&str; 14] = [
    "oldest", "newest", "first", "last", "position", "before", "after", "turn", "speaker", "name",
    "sequence", "id", "about", "all",
];

/// The keywords that mean something without a value.
const BARE: [&str; 5] = ["oldest", "newest", "first", "last", "all"];

const MISSING: &str = "the value is missing";

/// Whether `text` is to be read as short forms, and not as English: it begins with a keyword and
/// its colon, or is a keyword that stands alone or before another one.
pub(super) fn is_canonical(text: &str) -> bool {
    let (keyword, after) = split_word(text);
    if has_value(text) {
        return true;
    }
    if !BARE.contains(&&*keyword) {
        return false;
    }
    let next = after.trim_start_matches(|c: char| c.is_whitespace() || c == ',');
    let second = match split_word(next) {
        (word, after) if word == "and" => after.trim_start(),
        _ => next,
    };
    after.is_empty() || has_value(second)
}

/// Reads short forms.
///
/// # Errors
/// A part that is no form, or has a wrong value, is named; so is what the parts together cannot
/// mean, as [`Instruction::new`] has it.
pub(super) fn parse(text: &str) -> Result<Instruction, InstructionError> {
    let mut reader = Reader { rest: text.trim() };
    let (mut criteria, mut take) = (Vec::new(), None);
    loop {
        let before = reader.rest;
        let part = reader.part()?;
        match part {
            Part::Criterion(criterion) => criteria.push(criterion),
            Part::Take(_) if take.is_some() => {
                return Err(InstructionError::part(before, "a second count; send an instruction for each"));
            }
            Part::Take(one) => take = Some(one),
        }
        if reader.rest.is_empty() {
            return Instruction::new(criteria, take);
        }
        reader.separator()?;
    }
}

/// `text` as the value of `name` or `id`: in quotes if it would not be read back bare.
fn value(text: &str) -> impl fmt::Display {
    let bare = !text.starts_with(is_quote) && !text.contains(ends_bare) && !text.is_empty();
    if bare { text.to_owned() } else { quoted(text) }
}

/// `text` as the value of `about`: in quotes if it would not be read back bare.
fn rest_of_line(text: &str) -> impl fmt::Display {
    match read_rest(text) {
        Ok(read) if read == text => read,
        _ => quoted(text),
    }
}

impl fmt::Display for Instruction {
    /// The short form; `about` comes last, for its text takes the rest of the line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let about = self.criteria().iter().filter(|criterion| matches!(criterion, Criterion::About(_)));
        let others = self.criteria().iter().filter(|criterion| !matches!(criterion, Criterion::About(_)));
        let mut separator = "";
        let mut part = |part: &dyn fmt::Display| {
            write!(f, "{separator}{part}")?;
            separator = " ";
            Ok(())
        };
        others.map(|criterion| criterion as &dyn fmt::Display).try_for_each(&mut part)?;
        self.take().iter().map(|take| take as &dyn fmt::Display).try_for_each(&mut part)?;
        about.map(|criterion| criterion as &dyn fmt::Display).try_for_each(&mut part)
    }
}

impl fmt::Display for Criterion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let turns = |count: u32| if count == 1 { "turn" } else { "turns" };
        match self {
            Self::All => f.write_str("all"),
            Self::Id(id) => write!(f, "id:{}", value(id)),
            Self::Sequence(range) => write!(f, "sequence:{}", Span(range, u64::MAX)),
            Self::Position(range) => write!(f, "position:{}", Span(range, u32::MAX)),
            Self::Speaker(role) => write!(f, "speaker:{role}"),
            Self::Name(name) => write!(f, "name:{}", value(name)),
            Self::Turn(range) => write!(f, "turn:{}", Span(range, u32::MAX)),
            Self::FirstTurns(count) => write!(f, "first:{count}_{}", turns(*count)),
            Self::LastTurns(count) => write!(f, "last:{count}_{}", turns(*count)),
            Self::AfterTurn(turn) => write!(f, "after:turn_{turn}"),
            Self::BeforeTurn(turn) => write!(f, "before:turn_{turn}"),
            Self::About(text) => write!(f, "about:{}", rest_of_line(text)),
        }
    }
}

impl fmt::Display for Take {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Oldest(1) => f.write_str("oldest"),
            Self::Newest(1) => f.write_str("newest"),
            Self::Oldest(count) => write!(f, "first:{count}"),
            Self::Newest(count) => write!(f, "last:{count}"),
        }
    }
}

/// A range and the greatest number of its type: `N`, `N-M`, or `N-` for an open one.
struct Span<'a, T>(&'a RangeInclusive<T>, T);

impl<T: fmt::Display + PartialEq> fmt::Display for Span<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.0.start(), self.0.end()) {
            (start, end) if start == end => write!(f, "{start}"),
            (start, end) if *end == self.1 => write!(f, "{start}-"),
            (start, end) => write!(f, "{start}-{end}"),
        }
    }
}

/// What one form says.
enum Part {
    Criterion(Criterion),
    Take(Take),
}

/// What is left to read.
struct Reader<'a> {
    rest: &'a str,
}

impl Reader<'_> {
    /// Consumes one form.
    fn part(&mut self) -> Result<Part, InstructionError> {
        let start = self.rest;
        let (keyword, after) = split_word(start);
        if !KEYWORDS.contains(&&*keyword) {
            return Err(InstructionError::not_understood(start));
        }
        let Some(value) = after.trim_start().strip_prefix(':') else {
            self.rest = after;
            return bare(&keyword).ok_or_else(|| InstructionError::part(&keyword, MISSING));
        };
        let value = value.trim_start();
        if keyword == "about" {
            self.rest = "";
            return read_rest(value).map(|text| Part::Criterion(Criterion::About(text)));
        }
        let (value, rest) = split_value(value).map_err(|why| InstructionError::part(start, why))?;
        self.rest = rest;
        let written = &start[..start.len() - rest.len()];
        valued(&keyword, &value).map_err(|why| InstructionError::part(written, why))
    }

    /// Passes over blanks, and a comma or an `and` among them, before another part.
    fn separator(&mut self) -> Result<(), InstructionError> {
        let start = self.rest;
        let mut rest = start.trim_start();
        rest = rest.strip_prefix(',').unwrap_or(rest).trim_start();
        if let (word, after) = split_word(rest)
            && word == "and"
        {
            rest = after.trim_start();
        }
        if rest.is_empty() || rest.len() == start.len() {
            return Err(InstructionError::not_understood(start));
        }
        self.rest = rest;
        Ok(())
    }
}

/// What a keyword means without a value.
fn bare(keyword: &str) -> Option<Part> {
    match keyword {
        "oldest" | "first" => Some(Part::Take(Take::Oldest(1))),
        "newest" | "last" => Some(Part::Take(Take::Newest(1))),
        "all" => Some(Part::Criterion(Criterion::All)),
        _ => None,
    }
}

/// What a keyword and its value mean.
fn valued(keyword: &str, value: &str) -> Result<Part, &'static str> {
    if value.is_empty() {
        return Err(MISSING);
    }
    Ok(Part::Criterion(match keyword {
        "oldest" | "first" | "newest" | "last" => return counted(keyword, value),
        "position" => Criterion::Position(range(value, u32::MAX)?),
        "turn" => Criterion::Turn(range(value, u32::MAX)?),
        "sequence" => Criterion::Sequence(range(value, u64::MAX)?),
        "before" => Criterion::BeforeTurn(turn(value)?),
        "after" => Criterion::AfterTurn(turn(value)?),
        "speaker" => Criterion::Speaker(
            Role::named(value).ok_or("no such role; the roles are system, user, assistant and tool")?,
        ),
        "name" => Criterion::Name(value.to_owned()),
        "id" => Criterion::Id(value.to_owned()),
        _ => return Err("takes no value"),
    }))
}

/// What a count from one end means: of utterances, or of turns.
fn counted(keyword: &str, value: &str) -> Result<Part, &'static str> {
    let oldest = matches!(keyword, "oldest" | "first");
    let value = value.to_ascii_lowercase();
    if let Some(count) = value.strip_suffix("_turns").or_else(|| value.strip_suffix("_turn")) {
        let count = number(count)?;
        return Ok(Part::Criterion(if oldest {
            Criterion::FirstTurns(count)
        } else {
            Criterion::LastTurns(count)
        }));
    }
    let count = number(&value)?;
    Ok(Part::Take(if oldest { Take::Oldest(count) } else { Take::Newest(count) }))
}

/// `turn_N`.
fn turn(value: &str) -> Result<u32, &'static str> {
    let value = value.to_ascii_lowercase();
    number(value.strip_prefix("turn_").ok_or("write turn_N, such as before:turn_5")?)
}

/// `N`, `N-M`, or `N-` for an open range, which ends at `greatest`.
fn range<T: FromStr + Clone>(value: &str, greatest: T) -> Result<RangeInclusive<T>, &'static str> {
    let Some((start, end)) = value.split_once(['-', '–']) else {
        let one: T = number(value)?;
        return Ok(one.clone()..=one);
    };
    Ok(number(start)?..=if end.is_empty() { greatest } else { number(end)? })
}

/// A number in digits, without a sign.
fn number<T: FromStr>(digits: &str) -> Result<T, &'static str> {
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err("not a whole number; numbers are written in digits and count from 1");
    }
    digits.parse().map_err(|_| "the number is too large")
}

/// The text of `about` from the rest of the line: raw, or all of it in quotes.
fn read_rest(rest: &str) -> Result<String, InstructionError> {
    let rest = rest.trim();
    if rest.starts_with(is_quote)
        && let Ok((text, "")) = split_value(rest)
    {
        return Ok(text);
    }
    if rest.is_empty() {
        return Err(InstructionError::part("about:", MISSING));
    }
    for word in rest.split_whitespace() {
        let bare = word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase().replace('’', "'");
        if let Some(why) = doubts::refused(&bare) {
            return Err(InstructionError::part(word, why));
        }
        if KEYWORDS.iter().any(|keyword| word_is_form(word, keyword)) {
            return Err(InstructionError::part(
                word,
                "about comes last; put quotes around the text if this is part of it",
            ));
        }
    }
    Ok(rest.to_owned())
}

/// Whether `word` is a form of `keyword`, such as `speaker:user`.
fn word_is_form(word: &str, keyword: &str) -> bool {
    let (first, after) = split_word(word);
    first == keyword && after.starts_with(':')
}

/// A value, quoted or up to a blank or comma, and what follows it.
fn split_value(text: &str) -> Result<(String, &str), &'static str> {
    let Some(open) = text.chars().next().filter(|&c| is_quote(c)) else {
        let end = text.find(ends_bare).unwrap_or(text.len());
        return Ok((text[..end].to_owned(), &text[end..]));
    };
    let close = if open == '“' { '”' } else { open };
    let mut value = String::new();
    let mut chars = text[open.len_utf8()..].char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        if c == '\\'
            && let Some((_, escaped)) = chars.next_if(|&(_, next)| next == close || next == '\\')
        {
            value.push(escaped);
        } else if c == close {
            let rest = &text[open.len_utf8() + at + c.len_utf8()..];
            return match rest.is_empty() || rest.starts_with(ends_bare) {
                true => Ok((value, rest)),
                false => Err("something follows the closing quote"),
            };
        } else {
            value.push(c);
        }
    }
    Err("the closing quote is missing")
}

/// `text` in double quotes, as [`split_value`] reads it.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

fn is_quote(c: char) -> bool {
    matches!(c, '"' | '“' | '\'')
}

fn ends_bare(c: char) -> bool {
    c.is_whitespace() || c == ','
}

/// A keyword with its colon, or another word whose colon a value follows at once.
fn has_value(text: &str) -> bool {
    let (word, after) = split_word(text);
    let known = KEYWORDS.contains(&&*word) && after.trim_start().starts_with(':');
    let other = after.strip_prefix(':').is_some_and(|value| value.starts_with(|c: char| !c.is_whitespace()));
    known || !word.is_empty() && other
}

/// The letters that `text` starts with, in lower case, and what follows them.
fn split_word(text: &str) -> (String, &str) {
    let end = text.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(text.len());
    (text[..end].to_ascii_lowercase(), &text[end..])
}
