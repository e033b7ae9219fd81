//! Splits a shell script into its commands: words without quotes, the file written, the input from a here-document.

use std::ops::Range;

/// How much of a script is read, in bytes.
const SCRIPT_BYTES: usize = 16 << 10;
/// Words that can precede a command and are not part of it.
const KEYWORDS: [&str; 11] = ["if", "then", "elif", "else", "do", "while", "until", "!", "{", "}", "time"];

/// One command, between `&&`, `|`, `;` and the like.
#[derive(Debug, Default)]
pub(super) struct Command {
    /// The words without quotes.
    pub(super) words: Vec<String>,
    /// Where each of the words starts.
    pub(super) starts: Vec<usize>,
    /// The file that its output goes to, and whether it is appended.
    pub(super) writes: Option<(String, bool)>,
    /// Its input, from `<<EOF`.
    pub(super) input: String,
    /// Where it ends in the script, without redirections.
    pub(super) end: usize,
    /// Whether its exit code is that of the script: nothing but `&&` follows.
    pub(super) tells: bool,
}

/// The commands of a script, in order.
pub(super) fn commands(script: &str) -> Vec<Command> {
    let script = &script[..script.floor_char_boundary(SCRIPT_BYTES)];
    let mut reader = Reader {
        script,
        at: 0,
        word: None,
        word_end: 0,
        command: Command::default(),
        waits: Vec::new(),
        done: Vec::new(),
        broken: 0,
    };
    reader.read();
    let broken = reader.broken;
    reader.done.iter_mut().skip(broken).for_each(|command| command.tells = true);
    reader.done
}

struct Reader<'a> {
    script: &'a str,
    at: usize,
    /// The word that is being read, with its start.
    word: Option<(usize, String)>,
    word_end: usize,
    command: Command,
    /// The words that end the inputs that begin on the next line.
    waits: Vec<String>,
    done: Vec<Command>,
    /// How many of them are before the last mark that hides an exit code.
    broken: usize,
}

impl<'a> Reader<'a> {
    fn read(&mut self) {
        while let Some(c) = self.rest().chars().next() {
            let start = self.at;
            self.at += c.len_utf8();
            match c {
                '\\' => self.escaped(start),
                '\'' | '"' => self.quoted(start, c),
                '\n' => self.end_line(),
                '#' if self.word.is_none() => self.at += self.rest().find('\n').unwrap_or(self.rest().len()),
                '>' => self.redirect(start),
                '<' if self.rest().starts_with("<<") => self.here_string(),
                '<' if self.rest().starts_with('<') => self.await_input(start),
                '<' => self.end_word(),
                '&' if self.rest().starts_with('>') => self.end_word(),
                '&' if self.rest().starts_with('&') => {
                    self.at += 1;
                    self.end_command(true);
                }
                ';' | '&' | '|' | '(' | ')' | '`' => self.end_command(matches!(c, '(' | ')' | '`')),
                '$' if self.rest().starts_with('(') => {}
                c if c.is_whitespace() => self.end_word(),
                c => self.push(start, c),
            }
        }
        self.end_command(true);
    }

    fn rest(&self) -> &'a str {
        &self.script[self.at..]
    }

    fn push(&mut self, start: usize, c: char) {
        self.word.get_or_insert_with(|| (start, String::new())).1.push(c);
        self.word_end = self.at;
    }

    fn escaped(&mut self, start: usize) {
        if let Some(c) = self.rest().chars().next() {
            self.at += c.len_utf8();
            if c != '\n' {
                self.push(start, c);
            }
        }
    }

    /// Reads up to the closing quote. Within double quotes, a backslash escapes one, and the text of a here-document has
    /// its own quotes.
    fn quoted(&mut self, start: usize, quote: char) {
        let text = self.rest();
        let (mut length, mut substitutes) = (0, false);
        while let Some(c) = text[length..].chars().next().filter(|c| *c != quote) {
            substitutes |= text[length..].starts_with("$(");
            let skipped = if quote == '\'' { 0 } else { inner(&text[length..], substitutes) };
            length += c.len_utf8().max(skipped);
        }
        let read = &text[..length];
        self.at = (self.at + length + 1).min(self.script.len());
        let word = &mut self.word.get_or_insert_with(|| (start, String::new())).1;
        match quote {
            '"' => word.push_str(&read.replace("\\\"", "\"").replace("\\`", "`").replace("\\$", "$")),
            _ => word.push_str(read),
        }
        self.word_end = self.at;
    }

    /// `> file`, `>> file`; not `2>&1`, `> /dev/null`, `>(…)`.
    fn redirect(&mut self, start: usize) {
        let is_stream = |word: &(usize, String)| {
            word.0 + word.1.len() == start && word.1.bytes().all(|byte| byte.is_ascii_digit())
        };
        let stream = self.word.take_if(|word| is_stream(word)).is_some_and(|(_, number)| number == "2");
        self.end_word();
        let appends = self.rest().starts_with('>');
        let target = self.rest().trim_start_matches(['>', '|']).trim_start_matches([' ', '\t']);
        self.at = self.script.len() - target.len();
        let ends = |c: char| c.is_whitespace() || matches!(c, ';' | '|' | '&' | ')' | '\'' | '"' | '`');
        let (from, quote) = (target.trim_start_matches(['&', '\'', '"']), target.starts_with(['\'', '"']));
        let file = &from
            [..from.find(|c| if quote { matches!(c, '\'' | '"') } else { ends(c) }).unwrap_or(from.len())];
        self.at += target.len() - from.len() + file.len();
        self.at += usize::from(quote && self.at < self.script.len());
        let is_file =
            !target.starts_with('&') && !file.starts_with("/dev/") && !file.starts_with('(') && !stream;
        if is_file && !file.is_empty() {
            self.command.writes = Some((file.to_owned(), appends));
        }
    }

    fn here_string(&mut self) {
        self.end_word();
        self.at += 2;
    }

    /// `<<EOF`: the following lines, up to `EOF`, are input.
    fn await_input(&mut self, start: usize) {
        self.end_word();
        let (mark, length) = mark(&self.script[start..]);
        self.at = (start + length).max(self.at + 1);
        self.waits.extend(mark.map(str::to_owned));
    }

    fn end_line(&mut self) {
        for mark in std::mem::take(&mut self.waits) {
            let body = body(self.rest(), &mark);
            let text = &self.rest()[..body.start];
            self.at += body.end;
            match self.done.last_mut().filter(|_| self.command.words.is_empty() && self.word.is_none()) {
                Some(last) => last.input.push_str(text),
                None => self.command.input.push_str(text),
            }
        }
        self.end_command(false);
    }

    fn end_word(&mut self) {
        let Some((start, word)) = self.word.take() else { return };
        if !self.command.words.is_empty() || !KEYWORDS.contains(&&*word) {
            self.command.words.push(word);
            self.command.starts.push(start);
            self.command.end = self.word_end;
        }
    }

    /// Ends the command; `goes_on` if what follows is only reached after a success.
    fn end_command(&mut self, goes_on: bool) {
        self.end_word();
        let command = std::mem::take(&mut self.command);
        if !command.words.is_empty() || command.writes.is_some() {
            self.done.push(command);
        }
        if !goes_on && !self.rest().trim().is_empty() {
            self.broken = self.done.len();
        }
    }
}

/// Within double quotes, how much is passed at once: an escaped character, or a here-document.
fn inner(text: &str, substitutes: bool) -> usize {
    if let Some(escaped) = text.strip_prefix('\\') {
        return 1 + escaped.chars().next().map_or(0, char::len_utf8);
    }
    let (Some(mark), length) = mark(text) else { return 0 };
    if !substitutes {
        return 0;
    }
    let line = text[length..].find('\n').map_or(text.len(), |at| length + at + 1);
    line + body(&text[line..], mark).end
}

/// The word after `<<` at the start of `text`, and how long both are.
fn mark(text: &str) -> (Option<&str>, usize) {
    let Some(rest) = text.strip_prefix("<<").filter(|rest| !rest.starts_with('<')) else { return (None, 0) };
    let word = rest.trim_start_matches(['-', '~', ' ']).trim_start_matches(['\'', '"', '\\']);
    let from = text.len() - word.len();
    let length = word.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(word.len());
    let quote = usize::from(word[length..].starts_with(['\'', '"']));
    ((length > 0).then_some(&word[..length]), from + length + quote)
}

/// Where a here-document's text ends, and where the line of its mark does.
fn body(text: &str, mark: &str) -> Range<usize> {
    let mut length = 0;
    for line in text.split_inclusive('\n') {
        let start = length;
        length += line.len();
        let bare = line.trim();
        // a quote or a parenthesis closes what the document is in
        if bare == mark || bare.strip_prefix(mark).is_some_and(|rest| rest.starts_with([')', '"', '\''])) {
            return start..if bare == mark {
                length
            } else {
                start + line.find(mark).unwrap_or(0) + mark.len()
            };
        }
    }
    text.len()..text.len()
}
