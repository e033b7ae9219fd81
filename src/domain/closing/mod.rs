//! What an ended conversation is called, and what came of it: its title and its closing summary.
//!
//! Pure and deterministic, without a model. Both are taken from the sentences of the summary's
//! segments and of the window's two ends, so that they hold nothing but what is stored and live:
//! after a hard forget they are rebuilt by calling again. Head instructions, soft-forgotten
//! utterances and those kept aside give nothing. Where there is a model, what it tells takes their
//! place ([`told()`]).

mod english;
mod headline;
mod material;
mod pieces;
mod request;
#[cfg(test)]
mod tests;
mod told;

use std::{cmp::Reverse, sync::Arc};

use crate::domain::{
    Conversation, TokenCounter,
    closing::{
        headline::headline,
        material::{Line, Material, Speaker},
        request::{outcome, request},
    },
};

pub use told::{ReplaceClosing, Told, Unfit, give_up_closing, replace_closing, told};

/// A sentence that tells less is no part of a closing summary's middle.
const LEAST_TELLING: u32 = 10;

/// The title: 5 to 8 words of what the user asked for (seed 000); fewer only when less was said.
///
/// - Greetings, politeness ("can you", "please") and the punctuation at the end are left out.
/// - Without a word of the user's it is taken from what the assistant said, or which tool it called.
/// - A word is what stands between blanks; of scripts that write none, two characters.
/// - `None` when nothing was said.
pub fn title(conversation: &Conversation, counter: &dyn TokenCounter) -> Option<Arc<str>> {
    let material = Material::of(conversation, counter);
    let lines = material.lines();
    let by = |speaker| lines.iter().filter(move |line| line.speaker == speaker && !line.is_call);
    let asked = request(lines).map(|at| &lines[at]);
    let rest =
        by(Speaker::User).chain(by(Speaker::Assistant)).chain(lines.iter().filter(|line| line.is_call));
    let sayings = asked.into_iter().chain(rest.filter(|line| asked.is_none_or(|asked| !line.is(asked))));
    let title = headline(sayings.map(|line| line.said.as_str()));
    (!title.is_empty()).then(|| title.into())
}

/// The closing summary: what the user wanted, what weighed most after it, and what came of it, in
/// 2 to 3 sentences (seed 000); one only when no more was said.
///
/// - Each sentence is told with its speaker, unless the one before has the same.
/// - The last is what the assistant said last that tells anything: a statement rather than a
///   question; a tool call and how it ended when it said nothing.
/// - `None` when nothing was said.
pub fn summary(conversation: &Conversation, counter: &dyn TokenCounter) -> Option<Arc<str>> {
    let material = Material::of(conversation, counter);
    let lines = material.lines();
    let first = request(lines).unwrap_or(0);
    let last = outcome(lines, first);
    let between = lines.get(first + 1..last.unwrap_or(lines.len())).unwrap_or_default();
    let middle = weightiest(between, [lines.get(first), last.map(|at| &lines[at])]);
    let told: Vec<&Line> =
        [lines.get(first), middle, last.map(|at| &lines[at])].into_iter().flatten().collect();
    (!told.is_empty()).then(|| tell(&told).into())
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
