//! Splits content into sentences, each on one line, without markup.

use std::ops::Range;

use crate::extractive::text::{
    clip::{clip, clip_tail, is_blank},
    marks::{Mark, is_code, is_fence, is_markup, strip_mark},
};

/// The longest sentence, in bytes (about 60 tokens of English); longer ones are clipped.
pub(in crate::extractive) const MAX_SENTENCE_BYTES: usize = 240;
/// Of longer content, only the first [`HEAD_BYTES`] and the last [`TAIL_BYTES`] are read.
const HEAD_BYTES: usize = 6 << 10;
/// How much of longer content's end is read, in bytes.
const TAIL_BYTES: usize = 2 << 10;
/// A line at least this long, in bytes, is assumed to be wrapped: the next line continues it.
const WRAPPED_BYTES: usize = 60;
/// List items are joined into one sentence up to this length, in bytes.
const JOINED_BYTES: usize = 160;
/// Precedes what an agent says before it acts.
const THOUGHT: &str = "thought:";
/// How much is kept of content that is only code, in bytes.
const CODE_BYTES: usize = 80;

/// Appends the sentences of `content` to `text` and returns their ranges.
///
/// - A sentence has no line break or other control character, and no white space at either end.
/// - It is at most [`MAX_SENTENCE_BYTES`] long; `…` shows where it was clipped.
/// - Fenced code yields no sentences unless there is nothing else.
/// - The label of a thought, as ReAct has it, is left out.
/// - Of long content, only the first 6 KiB and the last 2 KiB are read.
pub(in crate::extractive) fn split(content: &str, text: &mut String) -> Vec<Range<usize>> {
    let start = text.len();
    let mut splitter = Splitter {
        text,
        start,
        sentences: Vec::new(),
        terminated: None,
        full: false,
        list: false,
        was_list: false,
        bare: false,
        last_line: 0,
    };
    let mut code = None;
    let label = content.get(..THOUGHT.len()).filter(|label| label.eq_ignore_ascii_case(THOUGHT));
    let content = &content[label.map_or(0, str::len)..];
    for (part, mut fenced) in read_parts(content) {
        for line in part.split('\n').map(str::trim) {
            if is_fence(line) {
                fenced = !fenced;
                splitter.close();
            } else if fenced || is_code(line) {
                // the text before code and the text after it are separate sentences
                splitter.close();
                code = code.or((!line.is_empty()).then_some(line));
            } else {
                splitter.line(line);
            }
        }
        splitter.close();
    }
    if let (true, Some(code)) = (splitter.sentences.is_empty(), code) {
        splitter.say(clip(code, CODE_BYTES));
        splitter.close();
    }
    splitter.sentences
}

/// The sentences of `content`, as [`split`] finds them.
pub(in crate::extractive) fn sentences(content: &str) -> Vec<String> {
    let mut text = String::new();
    split(content, &mut text).into_iter().map(|range| text[range].to_owned()).collect()
}

/// The parts of `content` to read (all of it, or its head and tail), each with whether it starts inside
/// fenced code.
fn read_parts(content: &str) -> impl Iterator<Item = (&str, bool)> {
    if content.len() <= HEAD_BYTES + TAIL_BYTES {
        return [Some((content, false)), None].into_iter().flatten();
    }
    let tail = clip_tail(content, TAIL_BYTES);
    // Drop the sentence that the gap cuts in two.
    let tail = tail.split_once(['\n', ' ']).map_or(tail, |(_, whole)| whole);
    // An opening fence usually names a language; a closing one never does.
    let closes =
        tail.lines().map(str::trim).find(|line| is_fence(line)).is_some_and(|fence| fence.len() == 3);
    [Some((clip(content, HEAD_BYTES), false)), Some((tail, closes))].into_iter().flatten()
}

/// How a sentence ended, while no blank has followed yet.
#[derive(Clone, Copy, PartialEq)]
enum End {
    /// A mark that needs a blank after it: `1.5` and `main.rs` do not end a sentence.
    Narrow,
    /// A mark of a script without blanks.
    Wide,
}

struct Splitter<'a> {
    text: &'a mut String,
    /// Where the open sentence starts.
    start: usize,
    sentences: Vec<Range<usize>>,
    terminated: Option<End>,
    /// The open sentence was clipped: skip up to its end.
    full: bool,
    /// The open sentence collects list items.
    list: bool,
    /// The previous sentence collected several list items.
    was_list: bool,
    /// The open sentence is a heading with nothing after it yet.
    bare: bool,
    /// The length of the previous line, in bytes.
    last_line: usize,
}

impl Splitter<'_> {
    /// Adds one line, already trimmed.
    fn line(&mut self, line: &str) {
        let (mark, said) = strip_mark(line);
        if !said.contains(char::is_alphanumeric) {
            // Blank, or a rule. What a colon announces can still follow.
            if !self.announces() {
                self.close();
            }
            return;
        }
        self.was_list &= matches!(mark, Mark::Item);
        match mark {
            Mark::Heading => self.close(),
            Mark::Item => self.item(said),
            Mark::None if self.announces() => self.say(" "),
            Mark::None if !self.list && self.last_line >= WRAPPED_BYTES => self.say(" "),
            Mark::None => self.close(),
        }
        self.say(said);
        self.last_line = line.len();
        self.bare = matches!(mark, Mark::Heading);
        if self.terminated.is_some() {
            self.close();
        } else if self.bare && !self.announces() {
            // The heading announces what follows.
            self.trim();
            self.say(":");
        }
    }

    /// Short items continue the sentence that announces them, and each other.
    fn item(&mut self, said: &str) {
        let joins = self.length() + said.len() <= JOINED_BYTES;
        match () {
            () if self.announces() => self.say(" "),
            () if joins && self.list && self.length() > 0 => self.say("; "),
            () => {
                self.close();
                self.goes_on();
            }
        }
        self.list = true;
    }

    /// Marks the previous list as continuing beyond its sentence.
    fn goes_on(&mut self) {
        let Some(last) =
            self.sentences.last_mut().filter(|last| self.was_list && last.end == self.text.len())
        else {
            return;
        };
        self.text.push_str(if self.text.ends_with(['.', '!', '?', '…']) { " …" } else { "; …" });
        last.end = self.text.len();
        self.start = last.end;
        self.was_list = false;
        // what continues a list says so too
        self.text.push_str("… ");
    }

    fn length(&self) -> usize {
        self.text.len() - self.start
    }

    fn announces(&self) -> bool {
        self.length() > 0 && self.text.ends_with(':')
    }

    /// Appends to the open sentence, closing it wherever it ends.
    fn say(&mut self, said: &str) {
        // The last character other than `*`.
        let mut before = ' ';
        let mut rest = said;
        while let Some(c) = rest.chars().next() {
            let plain = rest.bytes().take_while(u8::is_ascii_alphanumeric).count();
            if plain > 1 && self.has_room(plain) {
                self.push_plain(&rest[..plain]);
                (before, rest) = ('a', &rest[plain..]); // as any letter
                continue;
            }
            rest = &rest[c.len_utf8()..];
            if !is_markup(before, c, rest) {
                self.push(c, rest.is_empty());
            }
            before = if c == '*' { before } else { c };
        }
    }

    /// Whether that many more bytes fit in the open sentence without clipping it.
    fn has_room(&self, bytes: usize) -> bool {
        !self.full && self.length() + bytes <= MAX_SENTENCE_BYTES - '…'.len_utf8()
    }

    /// Appends letters and digits, which end no sentence and are no markup.
    fn push_plain(&mut self, word: &str) {
        if self.terminated == Some(End::Wide) {
            self.close();
        }
        self.terminated = None;
        self.text.push_str(word);
    }

    fn push(&mut self, c: char, last: bool) {
        if is_blank(c) {
            if self.terminated == Some(End::Narrow) && !self.ends_in_abbreviation() {
                self.close();
            }
            if self.length() > 0 && !self.full && !self.text.ends_with(' ') {
                self.text.push(' ');
            }
            return;
        }
        match c {
            '.' | '!' | '?' | '…' | '؟' | '۔' => self.terminated = Some(End::Narrow),
            '。' | '！' | '？' | '｡' | '।' => self.terminated = Some(End::Wide),
            _ if is_closer(c) => {}
            _ => {
                if self.terminated == Some(End::Wide) {
                    self.close();
                }
                self.terminated = None;
            }
        }
        if self.full {
            return;
        }
        let clips = self.length() + c.len_utf8() > MAX_SENTENCE_BYTES - '…'.len_utf8();
        if clips && !last {
            self.trim();
            self.text.push('…');
            self.full = true;
        } else {
            self.text.push(c);
        }
    }

    fn ends_in_abbreviation(&self) -> bool {
        let sentence = &self.text[self.start..];
        let Some(before) = sentence.strip_suffix('.') else { return false };
        let word = before.rsplit([' ', '(', '"']).next().unwrap_or(before);
        let is_number = before.len() == word.len() && word.bytes().all(|b| b.is_ascii_digit());
        let is_initials = word.split('.').all(|part| part.chars().count() == 1 && !is_number);
        is_number
            || is_initials && !word.ends_with(|c: char| c.is_ascii_digit() || c == 'I')
            || ABBREVIATIONS.iter().any(|known| known.eq_ignore_ascii_case(word))
    }

    fn trim(&mut self) {
        let end = self.start + self.text[self.start..].trim_end().len();
        self.text.truncate(end);
    }

    fn close(&mut self) {
        self.trim();
        let sentence = &self.text[self.start..];
        // A heading says little on its own.
        let says = sentence.contains(char::is_alphanumeric) && (!self.bare || self.sentences.is_empty());
        let sentence = if self.bare { sentence.trim_end_matches([':', ' ']) } else { sentence };
        let end = self.start + if says { sentence.len() } else { 0 };
        if !sentence.is_empty() {
            self.was_list = says && self.list && sentence.contains("; ");
        }
        self.text.truncate(end);
        self.sentences.extend(says.then_some(self.start..end));
        self.start = end;
        self.terminated = None;
        self.full = false;
        self.list = false;
        self.bare = false;
        self.last_line = 0;
    }
}

/// Words whose full stop does not end a sentence.
const ABBREVIATIONS: &[&str] = &[
    "approx", "cf", "corp", "dr", "fig", "inc", "jr", "ltd", "mr", "mrs", "ms", "no", "prof", "sr", "st",
    "vs",
];

fn is_closer(c: char) -> bool {
    matches!(c, '"' | '\'' | ')' | ']' | '}' | '”' | '’' | '»' | '」' | '』' | '）' | '】' | '*')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sentences(content: &str) -> Vec<String> {
        let mut text = String::from("before");
        let found = split(content, &mut text);
        found.into_iter().map(|range| text[range].to_string()).collect()
    }

    #[test]
    fn prose_is_cut_where_sentences_end() {
        assert_eq!(
            sentences(
                "Mr. Smith paid $3.50 at 5 p.m. on May 2. \"Why?\" he asked. See main.rs, e.g. line 3!"
            ),
            [
                "Mr. Smith paid $3.50 at 5 p.m. on May 2.",
                "\"Why?\"",
                "he asked.",
                "See main.rs, e.g. line 3!"
            ]
        );
        assert_eq!(
            sentences("今天天气怎么样？明天呢。「好。」他说"),
            ["今天天气怎么样？", "明天呢。", "「好。」", "他说"]
        );
    }

    #[test]
    fn marks_of_markdown_go_and_short_items_join() {
        let content =
            "# Keys\n## Plan\n\nWe need **three** things:\n- a `key`\n- a lock\n* 2**3 doors\n\n---\nDone";
        assert_eq!(
            sentences(content),
            ["Keys", "Plan: We need three things: a key; a lock; 2**3 doors", "Done"]
        );
    }

    #[test]
    fn wrapped_lines_are_one_sentence_and_short_lines_are_several() {
        let wrapped = "This is the first line of a paragraph that was wrapped by hand,\nand its second line.";
        assert_eq!(sentences(wrapped).len(), 1);
        assert_eq!(sentences("do this\nthen that"), ["do this", "then that"]);
    }

    #[test]
    fn unfenced_statements_and_prompts_are_code() {
        let code = "import os\nfrom os import path\n>>> x = 1\n$ make all\nqs = rows.all()\nname = \"a\"\nrun(\n\
            1 from a import b\n2 class A(B):\n3  n = 'b'\n";
        assert_eq!(sentences(&format!("It fails.\n{code}Why?")), ["It fails.", "Why?"]);
        let prose = ["It comes from a tool.", "limit = 5 is too low", "Is x = 1, or = \"2\" right?"];
        prose.iter().for_each(|said| assert_eq!(sentences(said), [*said]));
    }

    #[test]
    fn code_is_left_out_unless_there_is_nothing_else() {
        assert_eq!(sentences("Try this:\n```rust\nfn main() {}\n```"), ["Try this:"]);
        assert_eq!(sentences("<note>\nRun it\n</note>\nlet x = 1;\n}"), ["Run it"]);
        assert_eq!(sentences("```\n\nfn main() {}\n}\n```"), ["fn main() {}"]);
    }

    #[test]
    fn marks_of_comments_and_labels_are_left_out() {
        assert_eq!(sentences("<!-- Say how to\nreproduce it. -->"), ["Say how to", "reproduce it."]);
        assert_eq!(sentences("THOUGHT: I run it."), ["I run it."]);
    }

    #[test]
    fn long_content_is_read_at_both_ends_only() {
        let content = format!("First. {} Last one.", "x".repeat(1 << 20));
        let found = sentences(&content);
        assert_eq!(found.first().map(String::as_str), Some("First."));
        assert_eq!(found.last().map(String::as_str), Some("Last one."));
        assert!(found.iter().all(|sentence| sentence.len() <= MAX_SENTENCE_BYTES));
    }
}
