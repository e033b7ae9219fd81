//! What programs do, by their names and words.

use std::sync::LazyLock;

use rustc_hash::FxHashMap;

use crate::calls::verbs::Does;

/// The programs: names, then subcommands or flags (`*`: any word), then what they do. No subcommand: whatever follows.
pub(super) const PROGRAMS: &str = include_str!("programs.tsv");
/// How many words behind a program's name can be its subcommand.
const TELLING_WORDS: usize = 4;

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

/// What a command does: by its flags, by its subcommand, by its program. A program that nothing is known of runs.
pub(super) fn known(words: &[&str]) -> Known {
    let Some(program) = words.first() else { return Known { does: Does::Reads, at: 0 } };
    let own = table().get(base(program));
    let default = own.and_then(|parts| parts.get("")).copied().unwrap_or(Does::Runs);
    // a launcher's words are those of another program
    let any = table().get("*").filter(|_| default != Does::Launches);
    let listed = |is_flag| [own, any].into_iter().flatten().find_map(|parts| by_part(parts, words, is_flag));
    // of a program that has subcommands, one that is not in the table does what most do
    let has_any = own.is_some_and(|parts| parts.keys().any(|part| part.starts_with(char::is_alphabetic)));
    let is_name = |word: &str| word.starts_with(char::is_alphabetic) && !word.contains(['/', '=', '.', ' ']);
    let unlisted = (1..words.len().min(TELLING_WORDS + 1)).find(|at| has_any && is_name(words[*at]));
    let at = unlisted.filter(|_| default != Does::Runs).unwrap_or(0);
    listed(true).or_else(|| listed(false)).unwrap_or(Known { does: default, at })
}

/// By the first flag, or the first words that are a subcommand: two together before one.
fn by_part(parts: &FxHashMap<&str, Does>, words: &[&str], is_flag: bool) -> Option<Known> {
    let most = if is_flag { words.len() } else { words.len().min(TELLING_WORDS + 1) };
    (1..most).filter(|at| words[*at].starts_with('-') == is_flag).find_map(|at| {
        let word = words[at];
        let with = |next: &str| parts.get(format!("{word} {next}").as_str()).copied();
        if let Some(does) = words.get(at + 1).and_then(|next| with(next)) {
            return Some(Known { does, at: at + usize::from(!is_flag) });
        }
        let names = words[at + 1..].iter().any(|word| !word.starts_with('-'));
        let bare = word.split_once('=').map_or(word, |(bare, _)| bare);
        let does = Some("*").filter(|_| names).and_then(with);
        Some(Known { does: does.or_else(|| parts.get(word).or_else(|| parts.get(bare)).copied())?, at })
    })
}
