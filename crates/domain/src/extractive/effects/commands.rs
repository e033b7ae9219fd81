//! Parses shell commands: where each begins and ends, its words, and whether it writes a file.

use std::ops::Range;

/// How much of a script is read, in bytes.
const SCRIPT_BYTES: usize = 8 << 10;
/// Words that can precede a command and are not part of it.
const KEYWORDS: &[&str] = &["if", "then", "elif", "else", "do", "while", "until", "!", "{", "}"];

/// One command, between `&&`, `|`, `;` and the like.
#[derive(Debug, Default)]
pub(super) struct Command {
    /// The words, without quotes.
    pub words: Vec<String>,
    /// The file that its output goes to.
    pub writes: Option<String>,
    /// The command's input, from `<<EOF`.
    pub input: String,
    /// The command's place in the script.
    pub place: Range<usize>,
}

/// Returns the commands of a script, in order.
pub(super) fn commands(script: &str) -> Vec<Command> {
    let mut reader = Reader {
        script: &script[..script.floor_char_boundary(SCRIPT_BYTES)],
        at: 0,
        word: None,
        command: Command::default(),
        waits: Vec::new(),
        commands: Vec::new(),
    };
    reader.read();
    reader.commands
}

struct Reader<'a> {
    script: &'a str,
    at: usize,
    word: Option<String>,
    command: Command,
    /// The words that end the inputs beginning on the next line.
    waits: Vec<String>,
    commands: Vec<Command>,
}

impl<'a> Reader<'a> {
    fn read(&mut self) {
        while let Some(c) = self.rest().chars().next() {
            self.at += c.len_utf8();
            match c {
                '\\' => self.escaped(),
                '\'' | '"' => self.quoted(c),
                '\n' => self.end_line(),
                '#' if self.word.is_none() => self.comment(),
                '>' => self.redirect(),
                '<' if self.rest().starts_with("<<") => self.at += 2,
                '<' if self.rest().starts_with('<') => self.await_input(),
                '<' => self.end_word(),
                '&' if self.rest().starts_with('>') => self.end_word(),
                ';' | '&' | '|' | '(' | ')' | '`' => self.end_command(c.len_utf8()),
                c if c.is_whitespace() => self.end_word(),
                c => self.push(c),
            }
        }
        self.end_command(0);
    }

    fn rest(&self) -> &'a str {
        &self.script[self.at..]
    }

    fn push(&mut self, c: char) {
        if self.word.is_none() && self.command.words.is_empty() {
            self.command.place.start = self.at - c.len_utf8();
        }
        self.word.get_or_insert_default().push(c);
    }

    fn escaped(&mut self) {
        if let Some(c) = self.rest().chars().next() {
            self.at += c.len_utf8();
            if c != '\n' {
                self.push(c);
            }
        }
    }

    /// Reads up to the closing quote; within double quotes a backslash escapes one.
    fn quoted(&mut self, quote: char) {
        let start = self.at - 1;
        let mut hidden = false;
        let end = self.rest().find(|c: char| {
            let ends = c == quote && !hidden;
            hidden = c == '\\' && !hidden && quote == '"';
            ends
        });
        let end = end.map_or(self.script.len(), |end| self.at + end);
        if self.word.is_none() && self.command.words.is_empty() {
            self.command.place.start = start;
        }
        self.word.get_or_insert_default().push_str(&self.script[self.at..end]);
        self.at = (end + 1).min(self.script.len());
    }

    fn comment(&mut self) {
        self.at += self.rest().find('\n').unwrap_or(self.rest().len());
    }

    /// `> file`, `>> file`; not `2>&1`, `> /dev/null`, `>(…)`.
    fn redirect(&mut self) {
        if self.word.as_deref().is_some_and(|word| word.bytes().all(|byte| byte.is_ascii_digit())) {
            self.word = None;
        }
        self.end_word();
        let target = self.rest().trim_start_matches(['>', '|']).trim_start_matches([' ', '\t']);
        self.at = self.script.len() - target.len();
        let stream = target.strip_prefix('&').unwrap_or(target);
        let ends = |c: char| c.is_whitespace() || matches!(c, ';' | '|' | '&' | ')' | '\'' | '"');
        let file = &stream[..stream.find(ends).unwrap_or(stream.len())];
        let is_stream = stream.len() < target.len() || file.starts_with("/dev/") || file.starts_with('(');
        if !is_stream && let Some(quoted) = stream.strip_prefix(['\'', '"']) {
            let file = &quoted[..quoted.find(['\'', '"']).unwrap_or(quoted.len())];
            self.command.writes = Some(file.to_owned());
        } else if !is_stream && !file.is_empty() {
            self.command.writes = Some(file.to_owned());
        }
        self.at += target.len() - stream.len() + file.len();
    }

    /// `<<EOF`: the following lines, up to `EOF`, are input.
    fn await_input(&mut self) {
        self.at += 1;
        let rest = self.rest();
        let word = rest.trim_start_matches(['-', ' ']).trim_start_matches(['\'', '"', '\\']);
        let from = self.script.len() - word.len();
        let length = word.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(word.len());
        let end = word[..length].to_owned();
        self.at = from + length;
        if self.rest().starts_with(['\'', '"']) {
            self.at += 1;
        }
        if !end.is_empty() {
            self.waits.push(end);
        }
    }

    fn end_line(&mut self) {
        for end in std::mem::take(&mut self.waits) {
            let rest = &self.script[self.at..];
            let mut length = 0;
            for line in rest.split_inclusive('\n') {
                length += line.len();
                if line.trim() == end {
                    break;
                }
            }
            self.command.input.push_str(&rest[..length]);
            self.at += length;
        }
        self.end_command(1);
    }

    fn end_word(&mut self) {
        match self.word.take() {
            Some(word) if self.command.words.is_empty() && KEYWORDS.contains(&&*word) => {}
            Some(word) => self.command.words.push(word),
            None => {}
        }
    }

    /// Ends the command before the separator just read, `mark` bytes long.
    fn end_command(&mut self, mark: usize) {
        self.end_word();
        let mut command = std::mem::take(&mut self.command);
        if !command.words.is_empty() || command.writes.is_some() {
            let end = (self.at - mark.min(self.at)).max(command.place.start);
            let text = &self.script[command.place.start..end];
            command.place.end = command.place.start + text.trim_end().len();
            self.commands.push(command);
        }
    }
}
