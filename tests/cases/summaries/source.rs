//! What was said, and whether it contains given words.

use std::sync::Arc;

use utterd::domain::Utterance;

/// Words without content; a summary can omit them from a sentence.
const FILLERS: &[&str] = &[
    "ah",
    "actually",
    "alright",
    "and",
    "basically",
    "but",
    "eh",
    "er",
    "erm",
    "hm",
    "hmm",
    "huh",
    "i",
    "just",
    "kind",
    "know",
    "like",
    "mean",
    "mhm",
    "mm",
    "mmm",
    "of",
    "oh",
    "ok",
    "okay",
    "really",
    "right",
    "so",
    "sort",
    "the",
    "then",
    "think",
    "uh",
    "um",
    "vocalsound",
    "disfmarker",
    "pause",
    "gap",
    "well",
    "yeah",
    "yep",
    "yes",
    "you",
    "hmmm",
    "ooh",
    "a",
    "to",
    "it",
];
/// A phrase that is repeated is repeated within this many words.
const REPEATED_WORDS: usize = 8;

/// What was said, with words in lower case and surrounded by blanks.
pub struct Source {
    all: String,
    /// The contents of each speaker.
    contents: Vec<Vec<String>>,
}

impl Source {
    /// Contents, names of speakers and tools, arguments and results.
    pub fn of(said: &[Arc<Utterance>]) -> Self {
        let mut all = String::from(" ");
        for utterance in said {
            let calls = utterance.tool_calls().iter();
            let calls = calls.flat_map(|call| [&*call.name, &*call.arguments_json]);
            let texts = [utterance.name().unwrap_or_default(), &utterance.content];
            texts.into_iter().chain(calls).for_each(|text| add(text, &mut all));
        }
        let words =
            |content: &str| folded(&without_tags(content)).split_whitespace().map(str::to_owned).collect();
        Self { all, contents: said.iter().map(|utterance| words(&utterance.content)).collect() }
    }

    /// Whether these words occur in succession, apart from fillers and what is cut at `…`.
    pub fn holds(&self, part: &str) -> bool {
        let mut words = folded(part);
        if words.trim().is_empty() {
            return true;
        }
        if part.trim_end().ends_with('…') {
            words.pop();
        }
        let words = if part.trim_start().starts_with('…') { &words[1..] } else { &words };
        memchr::memmem::find(self.all.as_bytes(), words.as_bytes()).is_some()
            || self.contents.iter().any(|content| holds_but_fillers(content, words))
    }
}

fn holds_but_fillers(content: &[String], words: &str) -> bool {
    let words: Vec<&str> = words.split_whitespace().collect();
    let starts = (0..content.len()).filter(|start| content[*start] == words[0]);
    starts.into_iter().any(|start| follows(&content[start..], &words))
}

/// Whether `words` occur in this order, the last possibly truncated, with only fillers and repetitions
/// between them.
fn follows(content: &[String], words: &[&str]) -> bool {
    let mut rest = words;
    for (at, word) in content.iter().enumerate() {
        let [next, behind @ ..] = rest else { return true };
        if word == next || behind.is_empty() && word.starts_with(next) {
            rest = behind;
            continue;
        }
        let later = content[at + 1..].iter().take(REPEATED_WORDS);
        let before = content[..at].iter().rev().take(REPEATED_WORDS);
        let again = later.chain(before).any(|other| other.starts_with(&**word));
        if !again && !FILLERS.contains(&&**word) {
            return false;
        }
    }
    rest.is_empty()
}

/// Without a transcriber's notes: `{vocalsound}`.
fn without_tags(content: &str) -> String {
    let parts = content.split('{').zip(0..);
    parts
        .map(|(part, at)| if at == 0 { part } else { part.split_once('}').map_or(part, |(_, rest)| rest) })
        .collect()
}

/// The words of `text`, with blanks before, between and after them: letters, digits, and what is between two
/// digits.
fn folded(text: &str) -> String {
    let mut folded = String::from(" ");
    add(text, &mut folded);
    folded
}

fn add(text: &str, folded: &mut String) {
    let mut before = ' ';
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let next = chars.peek().copied().unwrap_or(' ');
        let joins = match c {
            '.' | ':' => next.is_ascii_digit(),
            ',' => is_thousand(chars.clone()),
            _ => false,
        };
        let joins = joins && before.is_ascii_digit();
        if c.is_alphanumeric() || joins {
            folded.extend(c.to_lowercase());
        } else if !folded.ends_with(' ') {
            folded.push(' ');
        }
        if c == '\\' && matches!(next, 'n' | 't' | 'r') {
            chars.next();
        }
        before = c;
    }
    if !folded.ends_with(' ') {
        folded.push(' ');
    }
}

/// Three digits, and no fourth.
fn is_thousand(behind: impl Iterator<Item = char>) -> bool {
    behind.take_while(char::is_ascii_digit).take(4).count() == 3
}
