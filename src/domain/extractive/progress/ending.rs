//! What the end of a talk leaves open: a question or a request without an answer, the next step, pending to-dos.

use crate::domain::{
    Role, Utterance,
    extractive::{
        effects::leaves,
        progress::matter::{AGREED, ASKED, Matter, NEXT, TODO, USER, matter},
        text::{
            cues::Cues,
            marks::asks,
            split::sentences,
            words::{count, has_words},
        },
    },
};

/// A question that names fewer concepts asks nothing: "Anything else?"
const LEAST_ASKED: usize = 2;
/// A longer yes, in words with content, says more than yes.
const YES_CONCEPTS: usize = 4;
/// The sentences of a request that are told.
const MOST_SENTENCES: usize = 2;
/// How many members of a list of to-dos are read.
const MOST_MEMBERS: usize = 400;

/// What the last utterances leave open; `spoken` has no results of tools.
pub(in crate::domain::extractive) fn matters(spoken: &[&Utterance]) -> Vec<Matter> {
    let Some((last, before)) = spoken.split_last() else { return Vec::new() };
    let user = spoken.iter().rposition(|said| said.role == Role::User && !said.content.is_empty());
    let said = spoken.iter().rev().find(|said| said.role == Role::Assistant && !said.content.is_empty());
    let mut found = Vec::new();
    if let Some(said) = said.filter(|said| user.is_none_or(|user| spoken[user].sequence < said.sequence)) {
        found.extend(of_assistant(said));
    }
    if let Some(user) = user
        && !spoken[user + 1..].iter().any(|said| said.tool_calls().is_empty())
        // the first request is the goal
        && before.iter().take(user).any(|said| said.role == Role::User)
    {
        let asked = before
            .iter()
            .rev()
            .find(|said| said.role == Role::Assistant && said.sequence < spoken[user].sequence);
        found.extend(of_user(spoken[user], asked.copied()));
    }
    found.retain(|matter| matter.sequence <= last.sequence);
    found
}

/// A question at the end; with calls, or without a question, the next step.
fn of_assistant(said: &Utterance) -> Option<Matter> {
    let said_all = sentences(&said.content);
    let told = || said_all.iter().rev().filter(|one| !Cues::of_opening(one).has(Cues::COURTESY));
    let asks = |one: &&String| asks(one.trim_end_matches(['*', ')'])) && has_words(one, LEAST_ASKED);
    if said.tool_calls().is_empty()
        && let Some(question) = told().find(asks)
    {
        return Some(matter(said.sequence, ASKED, question));
    }
    let step = told().find(|one| Cues::of_opening(one).has(Cues::STEP) && has_words(one, LEAST_ASKED));
    let is_step = step.is_some() || !said.tool_calls().is_empty();
    let next = step.or_else(|| told().find(|one| has_words(one, LEAST_ASKED + 1))).filter(|_| is_step)?;
    Some(matter(said.sequence, NEXT, next))
}

/// A request without an answer; a bare yes with the question that it answers.
fn of_user(said: &Utterance, asked: Option<&Utterance>) -> Option<Matter> {
    let said_all = sentences(&said.content);
    let words: usize = said_all.iter().map(|one| count(one)).sum();
    let opens = said_all.first().is_some_and(|first| Cues::of_opening(first).has(Cues::YES));
    if opens && words <= YES_CONCEPTS {
        let question = asked
            .and_then(|asked| sentences(&asked.content).into_iter().rev().find(|one| one.ends_with('?')));
        if let (Some(asked), Some(question)) = (asked, question) {
            // it goes with the question, too, when that is forgotten
            let agreed = matter(said.sequence, AGREED, &question);
            return Some(Matter { result: Some(asked.sequence), ..agreed });
        }
    }
    let telling: Vec<&str> = said_all.iter().map(String::as_str).filter(|one| has_words(one, 1)).collect();
    let last = telling[telling.len().saturating_sub(MOST_SENTENCES)..].join(" ");
    (!last.is_empty()).then(|| matter(said.sequence, USER, &last))
}

/// The pending entries of the newest list of to-dos.
pub(in crate::domain::extractive) fn to_do(spoken: &[&Utterance]) -> Option<Matter> {
    let calls =
        spoken.iter().rev().flat_map(|said| said.tool_calls().iter().rev().map(move |call| (said, call)));
    let (said, call) = { calls }.find(|(_, call)| call.name.to_ascii_lowercase().contains("todo"))?;
    let (mut pending, mut content, mut status) = (Vec::new(), None, None);
    for leaf in leaves(&call.arguments_json).take(MOST_MEMBERS) {
        match leaf.key {
            "content" | "title" | "task" => content = Some(leaf.value()),
            "status" | "state" => status = Some(leaf.raw),
            _ => continue,
        }
        if let (Some(text), Some(state)) = (&content, status) {
            if !matches!(state, "completed" | "done" | "cancelled") {
                pending.push(text.to_string());
            }
            (content, status) = (None, None);
        }
    }
    (!pending.is_empty()).then(|| matter(said.sequence, TODO, &pending.join(", ")))
}
