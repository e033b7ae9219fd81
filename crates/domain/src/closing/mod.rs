//! The title and the closing summary of an ended conversation.
//!
//! Pure and deterministic, without a model. Both are made from the sentences of the summary's segments and of
//! the window's two ends, so they contain only what is stored and live: after a hard forget, calling again
//! rebuilds them. Head instructions, soft-forgotten utterances and results without a call contribute nothing.
//! If there is a model, its text replaces them ([`told()`]).

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
mod unspaced;

use std::{cmp::Reverse, sync::Arc};

use crate::{
    Conversation, Role, TokenCounter,
    closing::{
        done::last_done,
        headline::{headline, of_issue, wholeness},
        material::{Line, Material, Speaker},
        request::{openings, outcome, request},
        talk::{is_long_talk, is_talk, topics, turning_points},
    },
    extractive::{self, Sentence},
};

pub use told::{ReplaceClosing, Told, Unfit, give_up_closing, replace_closing, told};

/// A line with less worth is left out of a closing summary's middle.
const LEAST_TELLING: u32 = 10;

/// How many sentences summarise a talk between people.
const TALK_SENTENCES: usize = 3;
/// How many sentences compete for the title of a talk without a recurring topic.
const TITLE_SENTENCES: usize = 8;

/// The title: 5 to 8 words of what the user asked for (seed 000), or fewer if less was said.
///
/// - An issue or a task that a program hands over gives its own title.
/// - Greetings, politeness ("can you", "please") and final punctuation are left out.
/// - Of the first requests, one that makes a whole phrase wins over one that must be cut.
/// - If the user said nothing, the title comes from what the assistant said or which tool it called.
/// - A long talk between people is named after its recurring topics, and after the speakers if there are two.
/// - A word is what is between blanks; in scripts without blanks, two characters.
/// - `None` if nothing was said.
pub fn title(conversation: &Conversation, counter: &dyn TokenCounter) -> Option<Arc<str>> {
    if let Some(issue) = issue(conversation) {
        return Some(of_issue(&issue).into());
    }
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

/// The title of the issue or task that the conversation began with.
fn issue(conversation: &Conversation) -> Option<String> {
    let told = conversation.summary.segments().first().filter(|first| first.imported.is_none());
    let goal = told.and_then(|segment| segment.sentences.iter().find_map(Sentence::issue)).map(str::to_owned);
    let first = || conversation.window.iter().find(|said| said.role == Role::User && said.is_live());
    let issue = goal.or_else(|| {
        first().filter(|said| said.turn <= 1).and_then(|said| extractive::issue(&said.content))
    })?;
    // "[Bug]: ", "Feature request: "
    let bare = issue.trim_start_matches(|c: char| !c.is_alphanumeric());
    let kind = bare
        .split_once(':')
        .filter(|(kind, _)| KINDS.iter().any(|known| kind.trim_end_matches(']').eq_ignore_ascii_case(known)));
    let title = kind.map_or(bare, |(_, title)| title).trim();
    (!title.is_empty()).then(|| title.to_owned())
}

/// What an issue's title can begin with.
const KINDS: [&str; 6] = ["bug", "feature", "feature request", "issue", "enhancement", "task"];

/// The closing summary: what the user wanted and what came of it, in 2 to 3 sentences (seed 000), or one if
/// no more was said.
///
/// - Each sentence names its speaker, unless the previous one has the same.
/// - If something was done, the last call that changed something is included; otherwise the line with the
///   most worth.
/// - The assistant's last informative statement is added, preferably one made after that call: that something
///   is done or cannot be, rather than a courtesy, a question or a plan. If the assistant said nothing, a
///   tool call and its outcome take its place.
/// - A talk between people is summarised by the sentences with most of its recurring topics.
/// - `None` if nothing was said.
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

/// The request, the call at `at`, and what the assistant said about it.
fn around<'a>(lines: &'a [Line], first: usize, at: usize, done: &'a Line) -> Vec<&'a Line> {
    let after = outcome(lines, at).map(|at| &lines[at]).filter(|line| states(line));
    let before = || outcome(&lines[..at], first).map(|at| &lines[at]).filter(|line| states(line));
    let before = if after.is_none() { before() } else { None };
    [lines.get(first), before, Some(done), after].into_iter().flatten().collect()
}

/// The request, the line with the most worth, and the outcome.
fn settled(lines: &[Line], first: usize) -> Vec<&Line> {
    let last = outcome(lines, first);
    let between = lines.get(first + 1..last.unwrap_or(lines.len())).unwrap_or_default();
    let ends = [lines.get(first), last.map(|at| &lines[at])];
    [ends[0], weightiest(between, ends), ends[1]].into_iter().flatten().collect()
}

/// Whether the line is a statement of the assistant, not a call.
fn states(line: &Line) -> bool {
    line.speaker == Speaker::Assistant && !line.is_call
}

/// The line of `lines` with the most worth that differs from `others`.
fn weightiest<'a>(lines: &'a [Line], others: [Option<&Line>; 2]) -> Option<&'a Line> {
    let is_told =
        |line: &Line| others.iter().flatten().any(|other| other.said.eq_ignore_ascii_case(&line.said));
    let fresh = lines.iter().filter(|line| !line.is_call && line.speaker != Speaker::Other && !is_told(line));
    let best = fresh.max_by_key(|line| (line.telling(), Reverse(line.sequence)));
    best.filter(|line| line.telling() >= LEAST_TELLING)
}

/// Joins the lines into sentences.
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
