//! The short forms: `speaker:user before:turn_5`, `last:3`, `turn:2,4`, `about:the trip to Paris`.
//!
//! Keywords are case-insensitive, with optional blanks around the colon. Parts are separated by blanks, a
//! comma or `and`. A value with blanks or commas must be quoted; in quotes, a backslash escapes a quote or a
//! backslash. Commas without blanks list numbers and quoted texts: `about:"Paris","London"`. A text of `about`
//! without quotes takes the rest of the line. `or` joins alternatives, and `except` precedes what stays:
//! `turn:2 or oldest except speaker:tool or last:3`.

use std::{fmt, str::FromStr};

use crate::{
    Role,
    forgetting::{
        Asked, AskedPart, Criterion, Instruction, InstructionError, Numbers, Part, Result, Take,
        table::turns,
        time::{self, Moment, Stretch},
    },
};

/// The words allowed before a colon.
const KEYWORDS: [&str; 16] = [
    "oldest", "newest", "first", "last", "nth", "position", "before", "after", "since", "turn", "speaker",
    "name", "sequence", "id", "about", "all",
];

/// The keywords allowed without a value.
const BARE: [&str; 5] = ["oldest", "newest", "first", "last", "all"];

const MISSING: &str = "the value is missing";
const TURNS: &str = "this turns the meaning; put quotes around the text if it is part of it";
const TIME: &str =
    "write a turn, such as before:turn_5, or a time, such as 2026-11-20 or 2026-11-20T10:00:00Z";
const ORDER: &str = "the times must be in order and of the same kind";
const AFTER: &str = "write after:turn_N, such as after:turn_5, or since:TIME";

/// The words that separate forms.
const SEPARATORS: [&str; 3] = ["and", "or", "except"];

/// Whether `text` is in short form rather than English: it begins with a keyword and its colon, or with a
/// keyword that is alone or followed by another form.
pub(super) fn is_canonical(text: &str) -> bool {
    let mut text = text;
    loop {
        let (keyword, after) = split_word(text);
        if has_value(text) {
            return true;
        }
        if !BARE.contains(&&*keyword) {
            return false;
        }
        let next = after.trim_start_matches(|c: char| c.is_whitespace() || c == ',');
        text = match split_word(next) {
            (word, after) if SEPARATORS.contains(&&*word) => after.trim_start(),
            _ => next,
        };
        if after.is_empty() || text.is_empty() {
            return after.is_empty();
        }
    }
}

/// Parses short forms.
///
/// # Errors
/// Names a part that is not a form or has an invalid value, or a contradiction between the parts, as for
/// [`Instruction::of`].
pub(super) fn parse(text: &str) -> Result<Asked> {
    let (parts, except) = read(text, |text| time::read(text).map(Moment::At))?;
    Asked::in_short(parts, except)
}

/// Parses what a sentence means in the short forms, in which times can be relative to now; `means_one` if the sentence
/// speaks of one utterance without saying which.
///
/// # Errors
/// As for [`parse`].
pub(super) fn translated(text: &str, means_one: bool) -> Result<Asked> {
    let (parts, except) = read(text, Moment::read)?;
    Asked::in_english(parts, except, means_one)
}

/// The parts of an instruction, and its exceptions.
fn read(text: &str, moment: fn(&str) -> Option<Moment>) -> Result<(Vec<AskedPart>, Vec<AskedPart>)> {
    let mut reader = Reader { rest: text.trim(), moment };
    let parts = reader.parts()?;
    let except = if reader.joint("except")? { reader.parts()? } else { Vec::new() };
    match reader.rest.is_empty() {
        true => Ok((parts, except)),
        false => Err(InstructionError::not_understood(reader.rest)),
    }
}

/// `text` as the value of `name` or `id`, quoted if it would not be read back otherwise.
pub(super) fn value(text: &str) -> impl fmt::Display {
    let bare = !text.starts_with(is_quote) && !text.contains(ends_bare) && !text.is_empty();
    if bare { text.to_owned() } else { quoted(text) }
}

/// `texts` as the value of `about`, quoted if there are several or if it would not be read back otherwise.
fn rest_of_line(texts: &[String]) -> impl fmt::Display {
    match texts {
        [text] if read_rest(text).is_ok_and(|(read, rest)| read == texts && rest.is_empty()) => text.clone(),
        _ => quoted_texts(texts),
    }
}

fn quoted_texts(texts: &[String]) -> String {
    texts.iter().map(|text| quoted(text)).collect::<Vec<_>>().join(",")
}

impl fmt::Display for Instruction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let first = self.parts().iter().map(|part| (" or ", part));
        let except = self.except().iter().enumerate();
        let except = except.map(|(at, part)| (if at == 0 { " except " } else { " or " }, part));
        let mut all = first.chain(except).enumerate().peekable();
        while let Some((at, (separator, part))) = all.next() {
            f.write_str(if at == 0 { "" } else { separator })?;
            part.write(f, all.peek().is_none())?;
        }
        Ok(())
    }
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f, true)
    }
}

impl Part {
    /// Writes the short form, with `about` last because its text takes the rest of the line; that text is
    /// quoted unless `ends_line`.
    fn write(&self, f: &mut fmt::Formatter<'_>, ends_line: bool) -> fmt::Result {
        let mut separator = "";
        let mut part = |part: &dyn fmt::Display| {
            write!(f, "{separator}{part}")?;
            separator = " ";
            Ok(())
        };
        let others = self.criteria().iter().filter(|criterion| !matches!(criterion, Criterion::About(_)));
        others.map(|criterion| criterion as &dyn fmt::Display).try_for_each(&mut part)?;
        self.take().into_iter().map(|take| take as &dyn fmt::Display).try_for_each(&mut part)?;
        self.criteria().iter().try_for_each(|criterion| match criterion {
            Criterion::About(texts) if !ends_line => part(&format_args!("about:{}", quoted_texts(texts))),
            about @ Criterion::About(_) => part(about),
            _ => Ok(()),
        })
    }
}

impl fmt::Display for Criterion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let turns = |count: u32| if count == 1 { "turn" } else { "turns" };
        match self {
            Self::All => f.write_str("all"),
            Self::Id(id) => write!(f, "id:{}", value(id)),
            Self::Sequence(numbers) => write!(f, "sequence:{numbers}"),
            Self::Position(numbers) => write!(f, "position:{numbers}"),
            Self::Speaker(role) => write!(f, "speaker:{role}"),
            Self::Name(name) => write!(f, "name:{}", value(name)),
            Self::Turn(numbers) => write!(f, "turn:{numbers}"),
            Self::FirstTurns(count) => write!(f, "first:{count}_{}", turns(*count)),
            Self::LastTurns(count) => write!(f, "last:{count}_{}", turns(*count)),
            Self::AfterTurn(turn) => write!(f, "after:turn_{turn}"),
            Self::BeforeTurn(turn) => write!(f, "before:turn_{turn}"),
            Self::Since(time) => write!(f, "since:{}", time::write(*time)),
            Self::Before(time) => write!(f, "before:{}", time::write(*time)),
            Self::About(texts) => write!(f, "about:{}", rest_of_line(texts)),
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
            Self::Nth(numbers) => write!(f, "nth:{numbers}"),
        }
    }
}

/// The meaning of one form.
enum Form {
    Criterion(Criterion),
    Take(Take),
    Time(Stretch),
}

/// What remains to be read.
struct Reader<'a> {
    rest: &'a str,
    /// Reads a time.
    moment: fn(&str) -> Option<Moment>,
}

impl<'a> Reader<'a> {
    /// Consumes parts joined by "or".
    fn parts(&mut self) -> Result<Vec<AskedPart>> {
        let mut parts = vec![self.part()?];
        while self.joint("or")? {
            parts.push(self.part()?);
        }
        Ok(parts)
    }

    /// Consumes forms up to the next joint.
    fn part(&mut self) -> Result<AskedPart> {
        let mut part = AskedPart::default();
        loop {
            let before = self.rest;
            match self.form()? {
                Form::Criterion(criterion) => part.criteria.push(criterion),
                Form::Take(_) if part.take.is_some() => {
                    return Err(InstructionError::part(before, "a second count; join two counts with or"));
                }
                Form::Take(one) => part.take = Some(one),
                Form::Time(stretch) => {
                    let both = part.stretch.and(stretch);
                    part.stretch = both.ok_or_else(|| InstructionError::part(before, ORDER))?;
                }
            }
            if self.rest.is_empty() || self.peeks("or") || self.peeks("except") {
                return Ok(part);
            }
            self.separator()?;
        }
    }

    /// Consumes one form.
    fn form(&mut self) -> Result<Form> {
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
            let (texts, rest) = read_rest(value)?;
            self.rest = rest;
            return Ok(Form::Criterion(Criterion::About(texts)));
        }
        let (value, rest) = split_value(value).map_err(|why| InstructionError::part(start, why))?;
        self.rest = rest;
        let written = &start[..start.len() - rest.len()];
        self.valued(&keyword, &value).map_err(|why| InstructionError::part(written, why))
    }

    /// Whether a joint follows.
    fn peeks(&self, joint: &str) -> bool {
        begins_with_word(self.rest, joint)
    }

    /// Consumes a joint, which something must follow.
    fn joint(&mut self, joint: &str) -> Result<bool> {
        let found = self.peeks(joint);
        if found {
            let start = self.rest;
            self.rest = split_word(start.trim_start()).1.trim_start();
            if self.rest.is_empty() {
                return Err(InstructionError::not_understood(start));
            }
        }
        Ok(found)
    }

    /// Skips the separator before another form: blanks, with at most a comma and an `and`.
    fn separator(&mut self) -> Result<()> {
        let start = self.rest;
        let mut rest = start.trim_start();
        rest = rest.strip_prefix(',').unwrap_or(rest).trim_start();
        if begins_with_word(rest, "and") {
            rest = split_word(rest).1.trim_start();
        }
        if rest.is_empty() || rest.len() == start.len() {
            return Err(InstructionError::not_understood(start));
        }
        self.rest = rest;
        Ok(())
    }

    /// The meaning of a keyword with its value.
    fn valued(&self, keyword: &str, value: &str) -> Result<Form, &'static str> {
        if value.is_empty() {
            return Err(MISSING);
        }
        Ok(Form::Criterion(match keyword {
            "oldest" | "first" | "newest" | "last" => return counted(keyword, value),
            "nth" => return numbers(value).map(|numbers| Form::Take(Take::Nth(numbers))),
            "position" => Criterion::Position(numbers(value)?),
            "turn" => Criterion::Turn(numbers(value)?),
            "sequence" => Criterion::Sequence(numbers(value)?),
            "before" => match turn(value)? {
                Some(turn) => Criterion::BeforeTurn(turn),
                None => return self.time(value, Stretch::before),
            },
            "after" => Criterion::AfterTurn(turn(value)?.ok_or(AFTER)?),
            "since" => return self.time(value, Stretch::since),
            "speaker" => Criterion::Speaker(
                Role::named(value).ok_or("no such role; the roles are system, user, assistant and tool")?,
            ),
            "name" => Criterion::Name(value.to_owned()),
            "id" => Criterion::Id(value.to_owned()),
            _ => return Err("takes no value"),
        }))
    }

    /// What is on one side of a time.
    fn time(&self, value: &str, side: fn(Moment) -> Stretch) -> Result<Form, &'static str> {
        (self.moment)(value).map(|moment| Form::Time(side(moment))).ok_or(TIME)
    }
}

/// The meaning of a keyword without a value.
fn bare(keyword: &str) -> Option<Form> {
    match keyword {
        "oldest" | "first" => Some(Form::Take(Take::Oldest(1))),
        "newest" | "last" => Some(Form::Take(Take::Newest(1))),
        "all" => Some(Form::Criterion(Criterion::All)),
        _ => None,
    }
}

/// The meaning of a count from one end, of utterances or of turns.
fn counted(keyword: &str, value: &str) -> Result<Form, &'static str> {
    let oldest = matches!(keyword, "oldest" | "first");
    let value = value.to_ascii_lowercase();
    if let Some(count) = value.strip_suffix("_turns").or_else(|| value.strip_suffix("_turn")) {
        let count = number(count)?;
        return Ok(Form::Criterion(if oldest {
            Criterion::FirstTurns(count)
        } else {
            Criterion::LastTurns(count)
        }));
    }
    let count = number(&value)?;
    Ok(Form::Take(if oldest { Take::Oldest(count) } else { Take::Newest(count) }))
}

/// The number in `turn_N`, if the value has that form.
fn turn(value: &str) -> Result<Option<u32>, &'static str> {
    value.to_ascii_lowercase().strip_prefix("turn_").map(number).transpose()
}

/// Parses `N`, `N-M`, `N-` for an open range, or several of these separated by commas.
pub(super) fn numbers(value: &str) -> Result<Numbers, &'static str> {
    let mut ranges = value.split(',').map(range);
    let first = ranges.next().unwrap_or(Err(MISSING))?;
    ranges.try_fold(first, |numbers, range| Ok(numbers.and(&range?)))
}

fn range(value: &str) -> Result<Numbers, &'static str> {
    match value.split_once(['-', '–']) {
        None => number(value).and_then(|one| Numbers::range(one, one)),
        Some((first, "")) => Numbers::from(number(first)?),
        Some((first, last)) => Numbers::range(number(first)?, number(last)?),
    }
}

/// Parses a number in digits, without a sign.
fn number<T: FromStr>(digits: &str) -> Result<T, &'static str> {
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err("not a whole number; numbers are written in digits and count from 1");
    }
    digits.parse().map_err(|_| "the number is too large")
}

/// The texts of `about`, and what follows them: one unquoted that takes the rest of the line, or several in
/// quotes.
fn read_rest(rest: &str) -> Result<(Vec<String>, &str)> {
    let rest = rest.trim();
    if let Some(found) = quoted_list(rest) {
        return Ok(found);
    }
    if rest.is_empty() {
        return Err(InstructionError::part("about:", MISSING));
    }
    for word in rest.split_whitespace() {
        let bare = word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase().replace('’', "'");
        if turns(&bare) {
            return Err(InstructionError::part(word, TURNS));
        }
        if KEYWORDS.iter().any(|keyword| word_is_form(word, keyword)) {
            return Err(InstructionError::part(
                word,
                "about comes last; put quotes around the text if this is part of it",
            ));
        }
    }
    Ok((vec![rest.to_owned()], ""))
}

/// The texts in `list`, if it consists of quoted texts separated by commas; and the joint or form that follows them.
fn quoted_list(mut list: &str) -> Option<(Vec<String>, &str)> {
    let mut texts = Vec::new();
    while list.starts_with(is_quote) {
        let (text, rest) = split_value(list).ok()?;
        texts.push(text);
        list = rest.trim_start();
        let joint = begins_with_word(list, "or") || begins_with_word(list, "except");
        if joint || list.is_empty() || KEYWORDS.iter().any(|keyword| word_is_form(list, keyword)) {
            return Some((texts, rest));
        }
        list = list.strip_prefix(',')?.trim_start();
    }
    None
}

/// Whether `word` is a form of `keyword`, such as `speaker:user`.
fn word_is_form(word: &str, keyword: &str) -> bool {
    let (first, after) = split_word(word);
    first == keyword && after.starts_with(':')
}

/// Splits off a value: a quoted one, or up to a blank or to a comma not followed by a digit.
fn split_value(text: &str) -> Result<(String, &str), &'static str> {
    let Some(open) = text.chars().next().filter(|&c| is_quote(c)) else {
        let lists = |at: usize| {
            text[at..].starts_with(',') && text[at + 1..].starts_with(|c: char| c.is_ascii_digit())
        };
        let end =
            text.match_indices(ends_bare).map(|(at, _)| at).find(|at| !lists(*at)).unwrap_or(text.len());
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

/// `text` in double quotes, in the form that [`split_value`] reads.
pub(super) fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

fn is_quote(c: char) -> bool {
    matches!(c, '"' | '“' | '\'')
}

fn ends_bare(c: char) -> bool {
    c.is_whitespace() || c == ','
}

/// Whether `text` starts with a keyword and its colon, or with another word and a colon directly followed by
/// a value.
fn has_value(text: &str) -> bool {
    let (word, after) = split_word(text);
    let known = KEYWORDS.contains(&&*word) && after.trim_start().starts_with(':');
    let other = after.strip_prefix(':').is_some_and(|value| value.starts_with(|c: char| !c.is_whitespace()));
    known || !word.is_empty() && other
}

/// Whether the first word of `text` is `word`, and does not begin a form.
fn begins_with_word(text: &str, word: &str) -> bool {
    let (first, after) = split_word(text.trim_start());
    first == word && (after.is_empty() || after.starts_with(char::is_whitespace))
}

/// The letters at the start of `text`, in lower case, and what follows them.
fn split_word(text: &str) -> (String, &str) {
    let end = text.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(text.len());
    (text[..end].to_ascii_lowercase(), &text[end..])
}
