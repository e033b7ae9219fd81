//! Splits a shell script into its commands: words without quotes, the file written, the input from a here-document.

use std::{ops::Range, sync::LazyLock};

use regex_automata::{Anchored, Input, meta::Regex};

/// How much of a script is read, in bytes.
const SCRIPT_BYTES: usize = 16 << 10;
/// Words that can precede a command and are not part of it.
const KEYWORDS: [&str; 11] = ["if", "then", "elif", "else", "do", "while", "until", "!", "{", "}", "time"];

/// One command, between `&&`, `|`, `;` and the like.
#[derive(Debug, Default)]
pub(super) struct Command {
    /// The words without quotes.
    pub(super) words: Vec<String>,
    /// Where each of the words stands in the script.
    pub(super) places: Vec<Range<usize>>,
    /// The file that its output goes to, and whether it is appended.
    pub(super) writes: Option<(String, bool)>,
    /// Its input, from `<<EOF`.
    pub(super) input: String,
}

/// What a script consists of, in the order in which it is tried.
static TOKENS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let quoted = r#"'[^']*'?|"\$\(cat <<[^\n]*\n(?s:.*?)\n\s*[A-Z_]+\s*\)"|"(?:\\(?s:.)|[^"\\])*"?"#;
    let word = format!(r#"(?:[^\s'"\\;&|()<>`]|\\(?s:.)|{quoted})"#);
    Regex::new_many(&[
        r#"<<[-~]?[ \t]*['"\\]?(\w+)['"]?"#,
        r"[ \t\r]+|\\\n|#[^\n]*|<<<|<\(?",
        &format!(r"(?:([0-9])|&)?>(>?)\|?[ \t]*(&?)({word}*)"),
        r"[;&|\n]+|\$?[()`]",
        &format!("{word}+"),
    ])
    .ok()
});
const DOCUMENT: usize = 0;
const BLANK: usize = 1;
const REDIRECT: usize = 2;
const END: usize = 3;

/// The commands of a script, in order.
pub(super) fn commands(script: &str) -> Vec<Command> {
    let script = &script[..script.floor_char_boundary(SCRIPT_BYTES)];
    let Some(tokens) = &*TOKENS else { return Vec::new() };
    let mut captures = tokens.create_captures();
    let mut done: Vec<Command> = Vec::new();
    let (mut command, mut at) = (Command::default(), 0);
    // the words that end the inputs that begin on the next line
    let mut waits: Vec<&str> = Vec::new();
    while at < script.len() {
        tokens.captures(Input::new(script).range(at..).anchored(Anchored::Yes), &mut captures);
        let group = |group| captures.get_group(group).map_or("", |place| &script[place.range()]);
        let Some((token, place)) = captures.pattern().zip(captures.get_match()) else {
            at += script[at..].chars().next().map_or(1, char::len_utf8);
            continue;
        };
        let place = place.range();
        at = place.end.max(at + 1);
        match token.as_usize() {
            BLANK => {}
            DOCUMENT => waits.push(group(1)),
            REDIRECT => {
                let file = unquoted(group(4));
                let is_file =
                    !file.is_empty() && group(3).is_empty() && group(1) != "2" && !file.starts_with("/dev/");
                command.writes = Some((file, !group(2).is_empty())).filter(|_| is_file).or(command.writes);
            }
            END => {
                done.extend(Some(std::mem::take(&mut command)).filter(|command| command.stands()));
                if script[place.clone()].contains('\n') {
                    for mark in waits.drain(..) {
                        let (text, length) = document(&script[at..], mark);
                        done.last_mut().into_iter().for_each(|last| last.input.push_str(text));
                        at += length;
                    }
                }
            }
            _ => {
                let word = unquoted(&script[place.clone()]);
                if command.stands() || !KEYWORDS.contains(&word.as_str()) {
                    command.words.push(word);
                    command.places.push(place);
                }
            }
        }
    }
    done.extend(Some(command).filter(Command::stands));
    done
}

impl Command {
    fn stands(&self) -> bool {
        !self.words.is_empty() || self.writes.is_some()
    }
}

/// A word as a program gets it.
fn unquoted(word: &str) -> String {
    let document = word.strip_prefix('"').filter(|rest| rest.starts_with("$(cat <<"));
    if let Some(document) = document.and_then(|rest| rest.strip_suffix('"')) {
        return document.to_owned();
    }
    let mut bare = String::with_capacity(word.len());
    let mut open = None;
    let mut chars = word.chars().peekable();
    while let Some(c) = chars.next() {
        match (open, c) {
            (None, '\'' | '"') => open = Some(c),
            (Some(quote), _) if c == quote => open = None,
            (None, '\\') => bare.extend(chars.next().filter(|next| *next != '\n')),
            (Some('"'), '\\') if chars.peek().is_some_and(|next| "\"`$\\".contains(*next)) => {
                bare.extend(chars.next())
            }
            _ => bare.push(c),
        }
    }
    bare
}

/// The text up to the line that a here-document's mark is on, and its length with that line.
fn document<'s>(text: &'s str, mark: &str) -> (&'s str, usize) {
    let mut length = 0;
    for line in text.split_inclusive('\n') {
        if line.trim() == mark {
            return (&text[..length], length + line.len());
        }
        length += line.len();
    }
    (text, text.len())
}
