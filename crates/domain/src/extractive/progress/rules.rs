//! The rules around a request that a template holds: how to hand in the work, and what is forbidden.

use rustc_hash::FxHashSet;

use crate::{
    extractive::{
        progress::goal::{LEAST_RULE, READ_BYTES, Request, repeats, section, tagged},
        text::{
            clip::{clip, clip_tail},
            cues::Cues,
            split::sentences,
            words::has_words,
        },
    },
    phrases::phrases,
};

/// A rule with more of its words in another one, in percent, repeats it.
const REPEATED_RULE: usize = 60;
/// How many words behind `do not` can say what must not be done.
const BAN_WORDS: usize = 4;
/// How much around a command says what it is for, in bytes.
const ABOUT_BYTES: usize = 200;
/// A clause of an announcement with fewer bytes says little.
const CLAUSE_BYTES: usize = 16;

/// Of all that the message says, the sentences outside the request on how to hand in the work, with the command;
/// those on what must not be changed; and those that otherwise restrict what may be done.
pub(in crate::extractive) fn rules(request: &Request, content: &str) -> [Vec<String>; 3] {
    let known: FxHashSet<&String> = request.sentences.iter().collect();
    let content = clip(content, READ_BYTES);
    let commands: Vec<(String, &str)> = commands(content).collect();
    let said = sentences(&around(content));
    let is_new = |one: &&String| !known.contains(one) && !commands.iter().any(|(about, _)| about == *one);
    let new = || said.iter().filter(is_new);
    let restricts = |one: &&String| Cues::of(one).has(Cues::CONSTRAINT) && has_words(one, LEAST_RULE);
    let mut told: Vec<FxHashSet<u32>> = Vec::new();
    let (bans, rules) = new()
        .filter(restricts)
        .filter(|one| !hands_in(one) && !repeats(one, &mut told, REPEATED_RULE))
        .cloned()
        .partition(|one| bans(one));
    let ends = match commands.is_empty() {
        true => new().filter(|one| hands_in(one)).cloned().collect(),
        false => commands.iter().map(|(about, command)| format!("{} {command}", briefly(about))).collect(),
    };
    [ends, bans, rules]
}

/// A message without the description or the issue that it hands over, and without its examples.
fn around(content: &str) -> String {
    let mut text = section(content).map_or_else(|| content.to_owned(), |inside| content.replace(inside, ""));
    let example = |text: &str| tagged(text, &["example"]).find(|range| !range.is_empty());
    while let Some(example) = example(&text) {
        text.replace_range(example, "");
    }
    text
}

/// Whether a sentence says what must not be changed.
fn bans(said: &str) -> bool {
    const CHANGES: [&str; 8] = phrases("alter|change|delete|edit|modify|remove|rename|touch");
    const DENIALS: [&str; 4] = phrases("do not|don't|never|must not");
    let lower = said.to_lowercase();
    DENIALS.iter().filter_map(|denial| lower.split_once(denial)).any(|(_, behind)| {
        behind.split(|c: char| !c.is_alphabetic()).take(BAN_WORDS).any(|word| CHANGES.contains(&word))
    })
}

/// Whether a sentence is about handing in the work.
fn hands_in(said: &str) -> bool {
    said.split(|c: char| !c.is_alphabetic()).any(|word| {
        word.get(..5).is_some_and(|head| head.eq_ignore_ascii_case("submi"))
            || word.eq_ignore_ascii_case("finish")
    })
}

/// The sentences that announce a command to hand in the work, each with the command: a fenced line.
fn commands(content: &str) -> impl Iterator<Item = (String, &str)> {
    let mut parts = content.split("```");
    let mut text = parts.next().unwrap_or_default();
    std::iter::from_fn(move || {
        let (code, next) = (parts.next()?, parts.next()?);
        let before = std::mem::replace(&mut text, next);
        let mut lines = code.lines().skip(1).filter(|line| !line.trim().is_empty());
        let command = lines.next().filter(|_| lines.next().is_none());
        let about = hands_in(clip_tail(before, ABOUT_BYTES)) || hands_in(clip(next, ABOUT_BYTES));
        let last = || sentences(clip_tail(before.trim_end(), 2 * ABOUT_BYTES)).pop();
        let told = command
            .filter(|_| about)
            .and_then(|command| Some((command, last()?)))
            .filter(|(_, last)| last.ends_with(':'));
        Some(told.map(|(command, last)| (last, command.trim())))
    })
    .flatten()
}

/// The first clause of a sentence that announces a command, if it is long.
fn briefly(announcement: &str) -> String {
    let clause =
        |at: &usize| (CLAUSE_BYTES..announcement.len().saturating_sub(2 * CLAUSE_BYTES)).contains(at);
    let end = announcement.match_indices([',', '(', ';']).map(|(at, _)| at).find(clause);
    end.map_or_else(|| announcement.to_owned(), |end| format!("{}…:", announcement[..end].trim_end()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_stand_around_the_request_and_its_examples() {
        let text = "<issue>\nRows are lost\n<!-- You must give it a title. -->\nThe last row is lost.\n</issue>\n\
            You must run one command at a time.\nDo not modify tests or configuration.\n<example_response>\nI must read it \
            first.\n</example_response>\nSubmission: When you have completed your work (or have no idea), issue \
            exactly the following command:\n```\ngit add -A && git diff\n```\n";
        let [ends, bans, rules] = rules(&Request::of(text), text);
        assert_eq!(ends, ["Submission: When you have completed your work…: git add -A && git diff"]);
        assert_eq!(bans, ["Do not modify tests or configuration."]);
        assert_eq!(rules, ["You must run one command at a time."]);
    }
}
