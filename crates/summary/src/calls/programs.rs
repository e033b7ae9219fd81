//! What programs do, by their names and words.

use std::sync::LazyLock;

use rustc_hash::FxHashMap;

use crate::{
    calls::{
        signs::is_statement,
        verbs::{Does, Verb, of_words, words},
    },
    shapes::is_path,
};

/// The programs: names, then subcommands or flags (`*`: any word), then what they do. No subcommand: whatever follows.
pub(super) const PROGRAMS: &str = include_str!("programs.tsv");
/// How many words behind a program's name can be its subcommand.
const TELLING_WORDS: usize = 4;
/// The most letters of a cluster of flags, as in `-lc`.
const CLUSTER: usize = 4;

/// What a command does, and the place of the last word that says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Known {
    pub(super) does: Does,
    pub(super) at: usize,
}

type Table = FxHashMap<&'static str, FxHashMap<&'static str, Does>>;

fn table() -> &'static Table {
    static TABLE: LazyLock<Table> = LazyLock::new(|| {
        let mut table = Table::default();
        for (program, part, does) in PROGRAMS.lines().flat_map(entries) {
            table.entry(program).or_default().insert(part, does);
        }
        table
    });
    &TABLE
}

/// Every program of a line with every part.
pub(super) fn entries(line: &'static str) -> Vec<(&'static str, &'static str, Does)> {
    let mut fields = line.split('\t');
    let (Some(programs), Some(parts), Some(does)) =
        (fields.next(), fields.next(), fields.next().and_then(Does::of))
    else {
        return Vec::new();
    };
    programs.split(' ').flat_map(|program| parts.split('|').map(move |part| (program, part, does))).collect()
}

/// A program's name without its folder and `.exe`.
pub(super) fn base(program: &str) -> &str {
    let name = program.rsplit(['/', '\\']).next().unwrap_or(program);
    name.strip_suffix(".exe").unwrap_or(name)
}

/// Whether the table has a program of this name.
pub(super) fn is_program(word: &str) -> bool {
    table().contains_key(base(word)) && word != "*"
}

/// What a command does: by its flags, by its subcommand, by its program, and else by a verb among its words. A program
/// that nothing is known of runs.
pub(super) fn known(words: &[&str]) -> Known {
    let Some(program) = words.first() else { return Known { does: Does::Reads, at: 0 } };
    let own = table().get(base(program));
    let default = own.and_then(|parts| parts.get("")).copied();
    // a launcher's words are those of another program
    let any = table().get("*").filter(|_| default != Some(Does::Launches));
    let listed = |is_flag| [own, any].into_iter().flatten().find_map(|parts| by_part(parts, words, is_flag));
    match (listed(true).or_else(|| listed(false)), default) {
        (Some(found), _) if found.does == Does::Runs => target(words, found.at).unwrap_or(found),
        (Some(found), _) => found,
        (None, Some(Does::Runs)) if names_file(words) => Known { does: Does::Runs, at: 0 },
        (None, Some(does)) if does != Does::Runs => {
            Known { does, at: own.map_or(0, |parts| unlisted(parts, words)) }
        }
        _ => target(words, 0).unwrap_or(Known { does: Does::Runs, at: 0 }),
    }
}

/// A word that can name a target: neither code nor a file.
fn is_target(word: &str) -> bool {
    !is_path(word) && word.chars().all(|c| c.is_alphanumeric() || "-_:.@+".contains(c))
}

/// The place of a subcommand that is not in the table, of a program that has some.
fn unlisted(parts: &FxHashMap<&str, Does>, words: &[&str]) -> usize {
    let has_any = parts.keys().any(|part| part.starts_with(|c: char| c.is_ascii_alphabetic()));
    let is_name = |word: &&str| {
        word.starts_with(|c: char| c.is_ascii_alphabetic()) && !word.contains(['/', '=', '.', ' '])
    };
    let place = words.iter().skip(1).take(TELLING_WORDS).position(is_name);
    place.filter(|_| has_any).map_or(0, |at| at + 1)
}

/// Whether what an interpreter runs is a file.
fn names_file(words: &[&str]) -> bool {
    words[1..].iter().find(|word| !word.starts_with('-')).is_some_and(|word| is_path(word))
}

/// By the first flag, or the first words that are a subcommand: two together before one.
fn by_part(parts: &FxHashMap<&str, Does>, words: &[&str], is_flag: bool) -> Option<Known> {
    let most = if is_flag { words.len() } else { words.len().min(TELLING_WORDS + 1) };
    (1..most).filter(|at| words[*at].starts_with('-') == is_flag).find_map(|at| {
        let word = words[at];
        let with = |next: &str| parts.get(format!("{word} {next}").as_str());
        if let Some(does) = words.get(at + 1).and_then(|next| with(next)) {
            return Some(Known { does: *does, at: at + usize::from(!is_flag) });
        }
        let names = !is_flag && words[at + 1..].iter().any(|word| !word.starts_with('-'));
        let bare = word.split_once('=').map_or(word, |(bare, _)| bare);
        let any = Some("*").filter(|_| names).and_then(with);
        let does = any.or_else(|| parts.get(word)).or_else(|| parts.get(bare).filter(|_| is_flag));
        Some(Known { does: *does.or_else(|| cluster(parts, word))?, at })
    })
}

/// One of the letters of `-lc`, or the one before a value: `-i.bak`.
fn cluster<'t>(parts: &'t FxHashMap<&str, Does>, word: &str) -> Option<&'t Does> {
    let letters = word.strip_prefix('-')?.trim_start_matches(|c: char| c.is_ascii_digit());
    let count = letters.chars().take_while(char::is_ascii_alphabetic).count();
    let most = if count <= CLUSTER { count } else { 1 };
    letters.chars().take(most).find_map(|letter| parts.get(format!("-{letter}").as_str()))
}

/// What is run, by a verb among its words: a target (`npm run deploy`), or a statement (`delete from a`). A verb that
/// changes something decides before one that only reads: `gcloud compute instances delete`.
fn target(words: &[&str], after: usize) -> Option<Known> {
    let plain = words.iter().enumerate().skip(after + 1).filter(|(_, word)| !word.starts_with('-'));
    let verbs: Vec<(Verb, usize)> =
        plain.take(TELLING_WORDS).filter_map(|(at, word)| told(word, at, after)).collect();
    let decides = verbs.iter().find(|(verb, _)| verb.does == Does::Changes && !verb.weak);
    let (verb, at) = decides.or(verbs.first())?;
    let is_check = verb.does == Does::Reads && after > 0 && *at > after;
    Some(Known { does: if is_check { Does::Checks } else { verb.does }, at: *at })
}

/// What a word says, and the place of the word that the command is named by.
fn told(word: &str, at: usize, after: usize) -> Option<(Verb, usize)> {
    if word.contains(char::is_whitespace) {
        let first = word.split_whitespace().next().unwrap_or_default().to_lowercase();
        return of_words(&[first]).filter(|_| is_statement(word)).map(|verb| (verb, after));
    }
    of_words(&self::words(word)).filter(|_| is_target(word)).map(|verb| (verb, at))
}
