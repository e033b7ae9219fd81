//! What the end of a talk leaves open: a question or a request without an answer, the next step, pending to-dos.

use crate::{
    Role, Utterance,
    extractive::{
        effects::leaves,
        progress::matter::{AGREED, ASKED, Matter, NEXT, TODO, USER, matter},
        text::{
            clip::folded,
            cues::Cues,
            marks::{Mark, asks, strip_mark},
            split::sentences,
            words::{count, has_words},
        },
    },
};

/// An announcement with fewer words with content says nothing: "Let me see."
const LEAST_ASKED: usize = 2;
/// A longer yes, in words with content, says more than yes.
const YES_CONCEPTS: usize = 4;
/// A sentence with fewer words with content is not clear without the one before it.
const LEAST_CLEAR: usize = 4;
/// The most that both may have, in bytes.
const CLEAR_BYTES: usize = 180;
/// How much is told of what was chosen, in bytes.
const CHOSEN_BYTES: usize = 110;
/// The sentences of a request that are told.
const MOST_SENTENCES: usize = 2;
/// How many members of a list of to-dos are read.
const MOST_MEMBERS: usize = 400;

/// What the last utterances leave open; `spoken` has no results of tools.
pub(in crate::extractive) fn matters(spoken: &[&Utterance]) -> Vec<Matter> {
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

/// Whether a matter is a user's assent, which asks for nothing of its own.
pub(in crate::extractive) fn agrees(matter: &Matter) -> bool {
    let is_assent = |said: &str| {
        let most = if Cues::of_opening(said).has(Cues::YES) { YES_CONCEPTS } else { 1 };
        count(said) <= most && !asks(said)
    };
    matter.text.starts_with(AGREED) || matter.text.strip_prefix(USER).is_some_and(is_assent)
}

/// Whether a message in a user's name is what a terminal printed: its last line is a prompt, such as `bash-$`.
fn is_printed(content: &str) -> bool {
    let last = content.trim_end().rsplit_once('\n').map_or("", |(_, last)| last);
    last.ends_with(['$', '#', '%']) && !last.trim().contains(' ')
}

/// A question at the end; with calls, or without a question, the next step.
fn of_assistant(said: &Utterance) -> Option<Matter> {
    let said_all = sentences(&said.content);
    let calls = !said.tool_calls().is_empty();
    if let Some(at) = question(&said_all).filter(|_| !calls) {
        return Some(matter(said.sequence, ASKED, &with_what_it_means(&said_all, at)));
    }
    let last = |cues: Cues, least: usize| {
        said_all.iter().rposition(|one| {
            let own = Cues::of_opening(one);
            !own.has(Cues::COURTESY) && (cues == Cues::default() || own.has(cues)) && has_words(one, least)
        })
    };
    let any = || last(Cues::default(), LEAST_ASKED + 1).filter(|_| calls);
    let next = last(Cues::STEP, LEAST_ASKED).or_else(any)?;
    Some(matter(said.sequence, NEXT, &with_what_it_means(&said_all, next)))
}

/// The place of the last sentence that asks for an answer: a question, or else "Please confirm …".
fn question(said: &[String]) -> Option<usize> {
    let asks = |one: &String| {
        asks(one.trim_end_matches(['*', ')']))
            && has_words(one, 1)
            && !Cues::of_opening(one).has(Cues::COURTESY)
    };
    said.iter().rposition(asks).or_else(|| said.iter().rposition(|one| Cues::of(one).has(Cues::ASKS)))
}

/// A sentence; a short one, such as "Let me add those methods", with the sentence before it.
fn with_what_it_means(said: &[String], at: usize) -> String {
    let before = at.checked_sub(1).filter(|_| count(&said[at]) < LEAST_CLEAR).map(|before| &said[before]);
    let both = before.map(|before| format!("{before} {}", said[at]));
    both.filter(|both| both.len() <= CLEAR_BYTES).unwrap_or_else(|| said[at].clone())
}

/// What a bare yes agrees to, and the offer that "the second one" means.
pub(in crate::extractive) fn agreed(said: &[String], user: &Utterance, asked: &Utterance) -> Option<Matter> {
    let mut words = 0;
    let is_long = |one: &String| {
        words += count(one);
        words > YES_CONCEPTS
    };
    let is_more = |one: &String| asks(one) || has_words(one, YES_CONCEPTS + 1);
    if said.iter().any(is_more) || said.iter().any(is_long) {
        return None;
    }
    // it goes with the question, too, when that is forgotten
    let to =
        |text: &str| Some(Matter { result: Some(asked.sequence), ..matter(user.sequence, AGREED, text) });
    let names = |one: &String| {
        let is_code = |word: &str| word.len() > 2 && word.contains(|c: char| c.is_ascii_digit());
        one.split(' ').any(is_code)
    };
    let choice = |one: &String| Some((one.clone(), chosen(one, &asked.content).filter(|_| !names(one))?));
    if let Some((said, item)) = said.iter().find_map(choice) {
        return to(&format!("{said} {}", folded(&item, CHOSEN_BYTES)));
    }
    let opens = said.first().is_some_and(|first| Cues::of_opening(first).has(Cues::YES));
    if !opens || said.iter().any(names) {
        return None;
    }
    let offered = sentences(&asked.content);
    to(&with_what_it_means(&offered, question(&offered)?))
}

/// The item of a list that an ordinal number chooses.
fn chosen(said: &str, offered: &str) -> Option<String> {
    let lower = said.to_lowercase();
    let words: Vec<&str> =
        lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let of = |word: &&str| ORDINALS.iter().position(|names| names.contains(word));
    // "commit first" chooses nothing
    let chooses = |pair: &[&str]| of(&pair[1]).filter(|_| BEFORE_ORDINALS.contains(&pair[0]));
    let alone = || words.first().filter(|_| words.len() == 1).and_then(of);
    let place = words.windows(2).find_map(chooses).or_else(alone)?;
    let indent = |line: &str| line.len() - line.trim_start().len();
    let is_item = |line: &str| matches!(strip_mark(line.trim()).0, Mark::Item);
    let least = offered.lines().filter(|line| is_item(line)).map(indent).min()?;
    let starts = |line: &str| is_item(line) && indent(line) == least;
    let mut items = offered.lines().skip_while(|line| !starts(line));
    for _ in 0..place {
        items.next();
        while !starts(items.clone().next()?) {
            items.next();
        }
    }
    let first = strip_mark(items.next()?.trim()).1;
    let details = items.take_while(|line| indent(line) > least).map(|line| strip_mark(line.trim()).1);
    let item: Vec<&str> = std::iter::once(first).chain(details).collect();
    Some(sentences(&item.join("\n")).join(" "))
}

/// What precedes an ordinal number that chooses.
const BEFORE_ORDINALS: [&str; 14] =
    ["the", "option", "number", "choice", "variant", "der", "die", "das", "den", "le", "la", "el", "il", "o"];
/// The ordinal numbers.
const ORDINALS: [&[&str]; 5] = [
    &["1", "first", "1st", "erste", "ersten", "premier", "première", "primero", "primera", "primeiro"],
    &["2", "second", "2nd", "zweite", "zweiten", "deuxième", "segundo", "segunda", "secondo"],
    &["3", "third", "3rd", "dritte", "dritten", "troisième", "tercero", "tercera", "terzo"],
    &["4", "fourth", "4th", "vierte", "vierten", "quatrième", "cuarto", "cuarta", "quarto"],
    &["5", "fifth", "5th", "fünfte", "fünften", "cinquième", "quinto", "quinta"],
];

/// A request without an answer; a bare yes or a choice with what was offered.
fn of_user(said: &Utterance, asked: Option<&Utterance>) -> Option<Matter> {
    if is_printed(&said.content) {
        return None;
    }
    let said_all = sentences(&said.content);
    let agreed = asked.and_then(|asked| agreed(&said_all, said, asked));
    if agreed.is_some() {
        return agreed;
    }
    let telling: Vec<&str> = said_all.iter().map(String::as_str).filter(|one| has_words(one, 1)).collect();
    let last = telling[telling.len().saturating_sub(MOST_SENTENCES)..].join(" ");
    (!last.is_empty()).then(|| matter(said.sequence, USER, &last))
}

/// The pending entries of the newest list of to-dos, or that none is left: it takes the place of an earlier list.
pub(in crate::extractive) fn to_do(spoken: &[&Utterance]) -> Option<Matter> {
    let calls =
        spoken.iter().rev().flat_map(|said| said.tool_calls().iter().rev().map(move |call| (said, call)));
    let (said, call) = { calls }.find(|(_, call)| call.name.to_ascii_lowercase().contains("todo"))?;
    let (mut list, mut content, mut status) = (None::<Vec<String>>, None, None);
    for leaf in leaves(&call.arguments_json).take(MOST_MEMBERS) {
        match leaf.key {
            "content" | "title" | "task" => content = Some(leaf.value()),
            "status" | "state" => status = Some(leaf.raw),
            _ => continue,
        }
        if let (Some(text), Some(state)) = (&content, status) {
            let pending = list.get_or_insert_default();
            if !matches!(state, "completed" | "done" | "cancelled") {
                pending.push(text.to_string());
            }
            (content, status) = (None, None);
        }
    }
    let pending = list?;
    let told = if pending.is_empty() { "nothing left" } else { &pending.join(", ") };
    Some(matter(said.sequence, TODO, told))
}
