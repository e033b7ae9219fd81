//! Talks between people, and their recurring topics.

use std::cmp::Reverse;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::{
    closing::{
        english::{Word, takes_leave},
        headline::{LEAST_WORDS, MOST_WORDS},
        material::Line,
    },
    extractive::concepts,
};

/// A talk of fewer lines is named after what was said first.
const LEAST_LINES: usize = 24;
/// A pair of words is a topic if at least this many lines contain it.
const LEAST_MENTIONS: usize = 2;
/// The right length for a sentence, in bytes: shorter ones say nothing, longer ones too much.
const SENTENCE_BYTES: std::ops::RangeInclusive<usize> = 40..=240;

/// Whether people talk with one another, without an assistant.
pub(super) fn is_talk(lines: &[Line]) -> bool {
    const ROLES: [&str; 4] = ["User", "Assistant", "System", "Tool"];
    let is_role = |name: &str| ROLES.contains(&name.split(" (").next().unwrap_or(name));
    let people = lines.iter().all(|line| !line.is_call && !is_role(&line.name));
    people && speakers(lines).len() > 1
}

/// Whether a talk is long enough to have recurring topics.
pub(super) fn is_long_talk(lines: &[Line]) -> bool {
    lines.len() >= LEAST_LINES && is_talk(lines)
}

/// The speakers, in the order of their first words.
fn speakers(lines: &[Line]) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for line in lines {
        if !names.contains(&line.name.as_str()) {
            names.push(&line.name);
        }
    }
    names
}

/// The title of a long talk: the two speakers, and the pairs of words that most lines contain.
pub(super) fn topics(lines: &[Line]) -> Option<String> {
    let pairs = pairs(lines);
    let names = match speakers(lines)[..] {
        [one, other] if !one.contains(' ') && !other.contains(' ') => format!("{one} and {other}: "),
        _ => String::new(),
    };
    let mut words = names.split_whitespace().count();
    let mut taken: Vec<&str> = Vec::new();
    for pair in &pairs {
        let is_new = |word: &str| taken.iter().all(|other| !other.contains(word));
        if words + 2 <= MOST_WORDS && pair.split(' ').all(is_new) {
            words += 2;
            taken.push(pair);
        }
    }
    let title = names + &taken.join(", ");
    let is_title = !taken.is_empty() && words >= LEAST_WORDS;
    is_title.then(|| capital(title))
}

fn capital(title: String) -> String {
    let mut chars = title.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

/// The words in the speakers' names.
fn names(lines: &[Line]) -> FxHashSet<String> {
    lines.iter().flat_map(|line| line.name.split_whitespace().map(str::to_lowercase)).collect()
}

/// The words of a sentence, without sounds and transcribers' marks.
fn words(said: &str) -> impl Iterator<Item = &str> {
    said.split_whitespace().filter(|word| !word.starts_with('{') && !Word::of(word).hesitates())
}

/// Whether a lower-case word says what a talk is about.
fn tells(word: &str, names: &FxHashSet<String>) -> bool {
    let is_plain = word.chars().count() > 3 && word.chars().all(char::is_alphabetic);
    is_plain && is_telling(word) && !names.contains(word)
}

/// Pairs of neighbouring words that enough lines contain, as first said; the most frequent first.
fn pairs(lines: &[Line]) -> Vec<String> {
    let names = names(lines);
    let mut counts: FxHashMap<String, (usize, usize, String)> = FxHashMap::default();
    for (at, line) in lines.iter().enumerate() {
        let words: Vec<&str> = words(&line.said).collect();
        for two in words.windows(2) {
            let Some((key, said)) = pair(two, &names) else { continue };
            let count = counts.entry(key).or_insert((0, usize::MAX, said));
            if count.1 != at {
                (count.0, count.1) = (count.0 + 1, at);
            }
        }
    }
    let mut found: Vec<_> = counts.into_iter().filter(|(_, count)| count.0 >= LEAST_MENTIONS).collect();
    found.sort_by(|one, other| (Reverse(one.1.0), &one.0).cmp(&(Reverse(other.1.0), &other.0)));
    found.into_iter().map(|(_, (_, _, said))| said).collect()
}

/// Two meaningful words with no mark between them.
fn pair(two: &[&str], names: &FxHashSet<String>) -> Option<(String, String)> {
    let &[first, second] = two else { return None };
    let is_edge = |c: char| !c.is_alphanumeric();
    let said = (first.trim_start_matches(is_edge), second.trim_end_matches(is_edge));
    let key = (said.0.to_lowercase(), said.1.to_lowercase());
    let is_pair = tells(&key.0, names) && tells(&key.1, names);
    is_pair.then(|| (format!("{} {}", key.0, key.1), format!("{} {}", said.0, said.1)))
}

fn is_telling(word: &str) -> bool {
    let mut tells = false;
    concepts(word, |_| tells = true);
    tells && !Word::of(word).chats() && !Word::of(word).leads_on() && !Word::of(word).hesitates()
}

/// The `count` sentences with most of what the talk comes back to, in the order said; not all by one speaker.
pub(super) fn turning_points(lines: &[Line], count: usize) -> Vec<&Line> {
    let mut mentions: FxHashMap<u32, u32> = FxHashMap::default();
    let held: Vec<FxHashSet<u32>> = lines.iter().map(|line| held(&line.said)).collect();
    held.iter().flatten().for_each(|concept| *mentions.entry(*concept).or_default() += 1);
    let mut told: FxHashSet<u32> = FxHashSet::default();
    let mut taken: Vec<usize> = Vec::new();
    while taken.len() < count {
        let worth = |at: usize| worth(&lines[at], &held[at], &mentions, &told);
        let is_free = |at: &usize| {
            let is_last = taken.len() + 1 == count;
            let is_new_voice = taken.iter().all(|other| lines[*other].name != lines[*at].name);
            let one_voice = taken.windows(2).all(|two| lines[two[0]].name == lines[two[1]].name);
            !taken.contains(at) && (!is_last || !one_voice || is_new_voice)
        };
        let Some(best) = (0..lines.len()).filter(is_free).max_by_key(|at| (worth(*at), Reverse(*at))) else {
            break;
        };
        told.extend(&held[best]);
        taken.push(best);
    }
    taken.sort_unstable();
    taken.into_iter().map(|at| &lines[at]).collect()
}

fn held(said: &str) -> FxHashSet<u32> {
    let mut held = FxHashSet::default();
    for word in said.split_whitespace().filter(|word| !Word::of(word).chats()) {
        concepts(word, |concept| held.extend([concept]));
    }
    held
}

/// How much of what recurs a sentence adds, for its length.
fn worth(line: &Line, held: &FxHashSet<u32>, mentions: &FxHashMap<u32, u32>, told: &FxHashSet<u32>) -> u32 {
    let fresh = held.iter().filter(|concept| !told.contains(concept));
    let recurs: u32 =
        fresh.filter_map(|concept| mentions.get(concept)).map(|times| times.saturating_sub(1).min(12)).sum();
    let fits = SENTENCE_BYTES.contains(&line.said.len());
    let is_clean = line.said.starts_with(char::is_uppercase)
        && !line.said.contains(['{', '[', '…'])
        && !takes_leave(&line.said)
        && !line.asks();
    let worth = 64 * recurs / (6 + held.len() as u32);
    match (fits, is_clean) {
        (true, true) => worth,
        (true, false) | (false, true) => worth / 3,
        (false, false) => worth / 9,
    }
}
