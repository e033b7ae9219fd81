//! What was said, and what of a line was not.

use std::{collections::HashSet, sync::Arc};

use serde_json::Value;
use utterd::domain::{Utterance, extract::Line};

/// The summariser's own words of four letters and more, in lower case.
const OWN: &str = "answer asked assistant before change check committed error failed files goal last named next open \
                   progress root said secret solved steps user";
/// How the line ends that counts what is not told.
const COUNTED: &str = " that changed something";
/// Who says sentences, apart from speakers with a name.
const SPEAKERS: [&str; 5] = ["Goal", "User", "Assistant", "Steps", "Open"];
/// Shorter words can be the summariser's, unless they are numbers.
const LEAST_LETTERS: usize = 4;
/// A shorter sentence is often part of another one by chance, in bytes.
const LEAST_BYTES: usize = 16;

/// What was said.
pub struct Source {
    words: HashSet<String>,
    speakers: HashSet<String>,
    contents: Vec<String>,
}

impl Source {
    /// Contents, names of speakers and tools, arguments and results.
    pub fn of(said: &[Arc<Utterance>]) -> Self {
        let names = said.iter().filter_map(|utterance| utterance.name());
        let speakers: HashSet<String> = names.chain(SPEAKERS).map(str::to_owned).collect();
        let calls = said.iter().flat_map(|utterance| utterance.tool_calls());
        let calls = calls.flat_map(|call| [&*call.name, &*call.arguments_json]);
        let contents = said.iter().map(|utterance| &*utterance.content);
        let mut words = speakers.iter().flat_map(|name| words(name)).collect();
        contents.clone().chain(calls).for_each(|text| read(text, &mut words));
        Self { words, speakers, contents: contents.map(spaced).collect() }
    }

    /// What is wrong with the lines of a summary.
    pub fn wrong(&self, lines: &[Line]) -> Vec<String> {
        let of_line = |line: &Line| {
            let line = line.text.trim_end();
            let unsaid = self.unsaid(line).map(|word| format!("not said: {word:?} of {line:?}"));
            let cut = self.cut(line).map(|end| format!("cut without saying so, {end:?}: {line:?}"));
            unsaid.into_iter().chain(cut)
        };
        // windows get the days of a talk from the clock
        let is_day = |line: &Line| jiff::civil::Date::strptime("On %d %B %Y:", line.text.trim_end()).is_ok();
        lines.iter().filter(|line| !is_day(line)).flat_map(of_line).collect()
    }

    /// A word or number of a line that nobody said.
    fn unsaid(&self, line: &str) -> Option<String> {
        let is_known = |word: &str| OWN.split(' ').any(|own| own == word) || self.words.contains(word);
        let told = if line.ends_with(COUNTED) { "" } else { line };
        words(told).find(|word| !is_known(word) && !self.begins(word, line))
    }

    /// Whether a word begins one of a script without blanks, which `…` can cut between any two characters.
    fn begins(&self, word: &str, line: &str) -> bool {
        !word.is_ascii()
            && line.to_lowercase().contains(&format!("{word}…"))
            && self.words.iter().any(|said| said.starts_with(word))
    }

    /// A sentence of a line that goes on wherever it was said.
    fn cut<'a>(&self, line: &'a str) -> Option<&'a str> {
        let (_, said) = line.split_once(": ").filter(|(speaker, _)| self.speakers.contains(*speaker))?;
        let sentences = said.split_inclusive(['.', '!', '?', '…', ':', ';', '(', ')']).map(str::trim);
        let whole = sentences.filter(|sentence| !sentence.ends_with('…'));
        let bare = whole.map(|sentence| sentence.trim_end_matches(|c: char| !c.is_alphanumeric()));
        { bare }
            .find(|said| said.len() >= LEAST_BYTES && !self.speakers.contains(*said) && self.goes_on(said))
    }

    fn goes_on(&self, sentence: &str) -> bool {
        let goes_on = |rest: &str| rest.trim_start_matches([' ', ',']).starts_with(char::is_alphanumeric);
        let mut rests = self.contents.iter().flat_map(|content| content.split(sentence).skip(1)).peekable();
        rests.peek().is_some() && rests.all(goes_on)
    }
}

/// Without blanks at the ends of lines, and with one between two words.
fn spaced(content: &str) -> String {
    let lines = content.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "));
    lines.filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n")
}

/// Adds the words of `text` as it is, and of the values that it contains if it is JSON.
fn read(text: &str, into: &mut HashSet<String>) {
    into.extend(words(text));
    match serde_json::from_str(text) {
        Ok(Value::String(text)) => read(&text, into),
        Ok(Value::Array(list)) => list.iter().for_each(|value| read(&value.to_string(), into)),
        Ok(Value::Object(object)) => object.values().for_each(|value| read(&value.to_string(), into)),
        _ => {}
    }
}

/// The words and numbers of a text, in lower case.
fn words(text: &str) -> impl Iterator<Item = String> {
    let words = text.split(|c: char| !c.is_alphanumeric());
    let tells = |word: &&str| word.chars().count() >= LEAST_LETTERS || word.contains(char::is_numeric);
    words.filter(tells).map(str::to_lowercase)
}
