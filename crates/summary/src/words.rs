//! Sentences of a message, with what their words say of them.

use std::sync::Arc;

use utterd_text::{Cues, End, Language, Sentence, cues_and_votes, one_line, sentences, words_in};

use crate::{
    item::Marks,
    read::{Read, Words, label},
};

/// A sentence, on one line.
#[derive(Debug)]
pub struct Said {
    /// The words, without bullets and line breaks.
    pub text: Arc<str>,
    /// What its cues mark.
    pub marks: Marks,
    /// All its words.
    pub words: usize,
    /// Those that carry meaning.
    pub content: usize,
    /// What they are.
    pub read: Read,
    /// It is a courtesy, and says nothing.
    pub courtesy: bool,
    /// It says yes, and nothing else.
    pub affirms_only: bool,
    /// It says that something cannot be done.
    pub refuses: bool,
    /// It stands behind a label in capitals: "RULE: ", "IMPORTANT: ".
    pub stressed: bool,
    /// It only announces what follows it: "Here it is:", "I'll look it up..."
    pub announces: bool,
}

/// With more content words, what begins with thanks says something as well.
const COURTESY_WORDS: usize = 2;
/// A constraint of no more content words says what it is of next.
const LEAD_WORDS: usize = 2;
/// A longer sentence is a pasted text.
const MOST_BYTES: usize = 2_000;

/// The sentences of a text, and apart from them code, tables and what is too long.
pub fn said(text: &str) -> (Vec<Said>, Vec<&str>) {
    let is_spoken = |sentence: &Sentence<'_>| {
        !sentence.code && !sentence.text.starts_with('|') && sentence.text.len() <= MOST_BYTES
    };
    let (spoken, others): (Vec<_>, Vec<_>) = sentences(text).into_iter().partition(is_spoken);
    let mut said: Vec<Said> = Vec::with_capacity(spoken.len());
    for sentence in spoken.into_iter().filter_map(|sentence| of(&sentence)) {
        match said.last_mut().filter(|before| before.leads_to(&sentence)) {
            Some(before) => before.append(&sentence),
            None => said.push(sentence),
        }
    }
    (said, others.into_iter().map(|sentence| sentence.text).collect())
}

impl Said {
    /// Whether it only leads to the next one: "For the rest of this session."
    fn leads_to(&self, next: &Self) -> bool {
        let alone = Marks::QUESTION.with(Marks::LISTED).with(Marks::PROMISE);
        let says = |said: &Self| !said.courtesy && !said.marks.has_any(alone);
        let is_lead = self.marks.has(Marks::CONSTRAINT) && self.content <= LEAD_WORDS;
        is_lead && says(self) && says(next) && !self.announces
    }

    fn append(&mut self, next: &Self) {
        self.text = format!("{} {}", self.text, next.text).into();
        self.marks = self.marks.with(next.marks);
        self.words += next.words;
        self.content += next.content;
        self.read = Read::default();
    }
}

fn of(sentence: &Sentence<'_>) -> Option<Said> {
    let (text, ends) = (plain(sentence.text), sentence.ends);
    let (cues, votes) = cues_and_votes(&text);
    let language = votes.language(Language::English);
    let (mut all, mut concepts) = (0, Vec::with_capacity(text.len() / 8 + 1));
    for word in words_in(&text, language) {
        all += 1;
        concepts.extend((!word.is_stop).then_some(word.concept));
    }
    if all == 0 {
        return None;
    }
    let content = concepts.len();
    let has = |cue| cues.has(cue);
    let courtesy = has(Cues::COURTESY) && content <= COURTESY_WORDS && !text.chars().any(char::is_numeric);
    let marks = Marks::default()
        .with_if(ends == End::Question, Marks::QUESTION)
        .with_if(sentence.listed, Marks::LISTED)
        .with_if(has(Cues::CONSTRAINT), Marks::CONSTRAINT)
        .with_if(has(Cues::REQUEST), Marks::REQUEST)
        .with_if(has(Cues::CORRECTION), Marks::CORRECTION)
        .with_if(has(Cues::UPDATE), Marks::UPDATE)
        .with_if(has(Cues::DENIES) && content > 0, Marks::DENIAL)
        .with_if(has(Cues::DECISION), Marks::DECISION)
        .with_if(has(Cues::PROMISE), Marks::PROMISE);
    Some(Said {
        marks,
        courtesy,
        words: all,
        content,
        read: Words::new(language, concepts).into(),
        affirms_only: has(Cues::AFFIRMS) && content <= COURTESY_WORDS,
        refuses: has(Cues::REFUSAL),
        stressed: label(&text).is_some(),
        announces: ends == End::Colon || text.ends_with('…') || text.ends_with("..."),
        text: text.into(),
    })
}

/// On one line, without the marks of lists, headings and emphasis.
fn plain(text: &str) -> String {
    let text = text.trim_start_matches(['#', '>', '-', '*', '•', ' ', '\t']);
    if text.contains("**") { one_line(&text.replace("**", "")) } else { one_line(text) }
}
