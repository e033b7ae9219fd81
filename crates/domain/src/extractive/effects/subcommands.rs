//! Programs that read or change something depending on their words and flags.

use crate::extractive::effects::{
    effect::Effect,
    program_names::{GIT_CHANGES, is_in},
    statements::method,
};
use crate::phrases::phrases;

/// Whether the flags include `-i`, `-pi`, `-i.bak`.
pub(super) fn has_short(arguments: &[&str], flag: char) -> bool {
    arguments.iter().any(|word| {
        let letters = word.strip_prefix('-').filter(|rest| !rest.starts_with('-')).unwrap_or_default();
        letters.chars().take_while(|c| c.is_ascii_lowercase()).take(3).any(|c| c == flag)
    })
}

/// Whether a git command changes something.
pub(super) fn git(arguments: &[&str]) -> bool {
    let mut words = arguments.iter().copied();
    let mut verb = "";
    while let Some(word) = words.next() {
        match word {
            "-C" | "-c" | "--git-dir" | "--work-tree" => drop(words.next()),
            _ if word.starts_with('-') => {}
            _ => {
                verb = word;
                break;
            }
        }
    }
    let rest: Vec<&str> = words.collect();
    let has = |any: &[&str]| rest.iter().any(|word| any.contains(word));
    let names = rest.iter().filter(|word| !word.starts_with('-')).count();
    match verb {
        "branch" | "tag" => {
            const LISTS: [&str; 10] =
                phrases("-a|-r|-l|--list|--contains|--merged|--no-merged|--show-current|-v|-vv");
            names > 0 && !has(&LISTS)
        }
        "stash" => !has(&["list", "show"]),
        "remote" | "worktree" | "submodule" | "notes" => {
            has(&["add", "remove", "rm", "rename", "set-url", "update", "prune", "move"])
        }
        "config" => names > 1 && !has(&["--get", "--list", "-l", "--get-all"]) || has(&["--unset"]),
        _ => is_in(verb, GIT_CHANGES),
    }
}

/// Whether there are targets other than tests and checks.
pub(super) fn make(arguments: &[&str]) -> bool {
    const CHECKS: &[&str] = &["test", "tests", "check", "lint", "help", "typecheck", "coverage"];
    if has_short(arguments, 'n') {
        return false;
    }
    let mut targets =
        arguments.iter().filter(|word| !word.starts_with('-') && !word.contains('=')).peekable();
    targets.peek().is_none() || targets.any(|target| !CHECKS.contains(target))
}

/// The effect of a request, by its method, by whether it carries data, and by whether the response is saved
/// to a file.
pub(super) fn request(name: &str, arguments: &[&str]) -> Effect {
    let given = arguments.windows(2).find(|two| matches!(two[0], "-X" | "--request" | "--method"));
    let joined =
        arguments.iter().find_map(|word| word.strip_prefix("-X").or(word.strip_prefix("--request=")));
    let bare =
        arguments.iter().find_map(|word| method(word).filter(|_| word.chars().all(char::is_uppercase)));
    if let Some(told) = given.and_then(|two| method(two[1])).or(joined.and_then(method)).or(bare) {
        return told;
    }
    let carries = arguments.iter().any(|word| {
        matches!(*word, "-d" | "-F" | "-T" | "--json" | "--form" | "--upload-file" | "--post-file")
            || word.starts_with("--data")
            || word.starts_with("--post-data")
    });
    let asks = arguments.iter().any(|word| matches!(*word, "-G" | "--get" | "--spider"));
    let is_null = |word: &&str| matches!(*word, "/dev/null" | "-");
    let output = arguments
        .windows(2)
        .find(|two| matches!(two[0], "-o" | "-O" | "--output" | "-qO" | "--output-document"));
    let keeps = match name {
        "wget" => {
            !asks
                && !output.is_some_and(|two| is_null(&two[1]))
                && !arguments.iter().any(|word| word.ends_with("O-"))
        }
        _ => output.is_some_and(|two| !is_null(&two[1])) || arguments.contains(&"-O"),
    };
    if carries && !asks || keeps { Effect::Changes } else { Effect::Reads }
}
