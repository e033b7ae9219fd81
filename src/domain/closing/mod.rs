//! What an ended conversation is called, and what came of it: its title and its closing summary.
//!
//! Pure and deterministic, without a model. Both are taken from the sentences of the summary's
//! segments and of the window's two ends, so that they hold nothing but what is stored and live:
//! after a hard forget they are rebuilt by calling again. Head instructions, soft-forgotten
//! utterances and those kept aside give nothing. Where there is a model, what it tells takes their
//! place ([`told()`]).

mod done;
mod english;
mod headline;
mod material;
mod pieces;
mod request;
mod talk;
#[cfg(test)]
mod tests;
mod told;

use std::{cmp::Reverse, sync::Arc};

use crate::domain::{
    Conversation, TokenCounter,
    closing::{
        done::last_done,
        headline::{headline, wholeness},
        material::{Line, Material, Speaker},
        request::{openings, outcome, request},
        talk::{is_long_talk, is_talk, topics, turning_points},
    },
};

pub use told::{ReplaceClosing, Told, Unfit, give_up_closing, replace_closing, told};

/// A sentence that tells less is no part of a closing summary's middle.
const LEAST_TELLING: u32 = 10;

/// A talk of people is told by so many of its sentences.
const TALK_SENTENCES: usize = 3;
/// The title of a talk that comes back to nothing is taken from one of so many.
const TITLE_SENTENCES: usize = 8;

/// The title: 5 to 8 words of what the user asked for (seed 000); fewer only when less was said.
///
/// - Greetings, politeness ("can you", "please") and the punctuation at the end are left out.
/// - Of what was asked first, what makes a whole phrase goes before what has to be cut.
/// - Without a word of the user's it is taken from what the assistant said, or which tool it called.
/// - A long talk of people is called by what they name again and again, and by the two who talk.
/// - A word is what stands between blanks; of scripts that write none, two characters.
/// - `None` when nothing was said.
pub fn title(conversation: &Conversation, counter: &dyn TokenCounter) -> Option<Arc<str>> {
    let material = Material::of(conversation, counter);
    let lines = material.lines();
    if let Some(topics) = is_long_talk(lines).then(|| topics(lines)).flatten() {
        return Some(topics.into());
    }
    let asked = if is_long_talk(lines) { turning_points(lines, TITLE_SENTENCES) } else { openings(lines) };
    let asked = asked.into_iter().rev().max_by_key(|line| wholeness(&line.said));
    let by = |speaker| lines.iter().filter(move |line| line.speaker == speaker && !line.is_call);
    let rest =
        by(Speaker::User).chain(by(Speaker::Assistant)).chain(lines.iter().filter(|line| line.is_call));
    let sayings = asked.into_iter().chain(rest.filter(|line| asked.is_none_or(|asked| !line.is(asked))));
    let title = headline(sayings.map(|line| line.said.as_str()));
    (!title.is_empty()).then(|| title.into())
}

/// The closing summary: what the user wanted, and what came of it, in 2 to 3 sentences (seed 000); one only
/// when no more was said.
///
/// - Each sentence is told with its speaker, unless the one before has the same.
/// - Where something was done, the last call that changed something is told; else what weighed most.
/// - With it comes what the assistant said last, after it or else before, that tells anything: that something
///   is done or cannot be, rather than a courtesy, a question or a plan; a tool call and how it ended when it
///   said nothing.
/// - A talk of people is told by the sentences that hold most of what it came back to.
/// - `None` when nothing was said.
pub fn summary(conversation: &Conversation, counter: &dyn TokenCounter) -> Option<Arc<str>> {
    let material = Material::of(conversation, counter);
    let lines = material.lines();
    if is_talk(lines) {
        return Some(tell(&turning_points(lines, TALK_SENTENCES)).into());
    }
    let first = request(lines).unwrap_or(0);
    let done = last_done(lines).filter(|(at, _)| *at > first);
    let told = match &done {
        Some((at, line)) => around(lines, first, *at, line),
        None => settled(lines, first),
    };
    (!told.is_empty()).then(|| tell(&told).into())
}

/// What was asked, what was done at `at`, and what the assistant said of it.
fn around<'a>(lines: &'a [Line], first: usize, at: usize, done: &'a Line) -> Vec<&'a Line> {
    let after = outcome(lines, at).map(|at| &lines[at]).filter(|line| states(line));
    let before = || outcome(&lines[..at], first).map(|at| &lines[at]).filter(|line| states(line));
    let before = if after.is_none() { before() } else { None };
    [lines.get(first), before, Some(done), after].into_iter().flatten().collect()
}

/// What was asked, what weighed most, and what came of it.
fn settled(lines: &[Line], first: usize) -> Vec<&Line> {
    let last = outcome(lines, first);
    let between = lines.get(first + 1..last.unwrap_or(lines.len())).unwrap_or_default();
    let ends = [lines.get(first), last.map(|at| &lines[at])];
    [ends[0], weightiest(between, ends), ends[1]].into_iter().flatten().collect()
}

/// Whether the assistant says something in it, besides calling.
fn states(line: &Line) -> bool {
    line.speaker == Speaker::Assistant && !line.is_call
}

/// What weighs most of `lines` and is none of `others`.
fn weightiest<'a>(lines: &'a [Line], others: [Option<&Line>; 2]) -> Option<&'a Line> {
    let is_told =
        |line: &Line| others.iter().flatten().any(|other| other.said.eq_ignore_ascii_case(&line.said));
    let fresh = lines.iter().filter(|line| !line.is_call && line.speaker != Speaker::Other && !is_told(line));
    let best = fresh.max_by_key(|line| (line.telling(), Reverse(line.sequence)));
    best.filter(|line| line.telling() >= LEAST_TELLING)
}

/// The lines as sentences, one after another.
fn tell(lines: &[&Line]) -> String {
    let mut text = String::new();
    let mut before: Option<&Line> = None;
    for line in lines {
        text.push_str(if text.is_empty() { "" } else { " " });
        if line.is_call || before.is_none_or(|before| before.is_call || before.name != line.name) {
            text.push_str(&line.name);
            text.push_str(if line.is_call { " called " } else { ": " });
        }
        let (said, stop) = line.sentence();
        text.push_str(said);
        text.push_str(stop);
        before = Some(line);
    }
    text
}
