//! Sentences as people say them, and sentences in which a loose grammar would select too much: each with what
//! it forgets of one conversation.

use crate::conversation::outcome;

const SENTENCES: &str = include_str!("sentences.txt");
const TRAPS: &str = include_str!("traps.txt");

/// The sentences of a file that have another outcome than it says.
fn wrong(file: &str) -> Vec<String> {
    let mut forgotten = "";
    let mut wrong = Vec::new();
    for line in file.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        if let Some(list) = line.strip_prefix("@ forgotten ") {
            forgotten = list;
            continue;
        }
        let (sentence, expected) = line.rsplit_once(" | ").expect("a sentence and its outcome");
        let found = outcome(sentence, forgotten);
        if found != expected {
            wrong.push(format!("{sentence} | {expected}, not {found}"));
        }
    }
    wrong
}

#[test]
fn ordinary_sentences_forget_what_they_say() {
    let wrong = wrong(SENTENCES);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn sentences_never_forget_more_than_they_say() {
    let wrong = wrong(TRAPS);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn most_ordinary_sentences_are_understood() {
    let count = |file: &str| {
        let lines: Vec<_> = file.lines().filter(|line| line.contains(" | ")).collect();
        (lines.iter().filter(|line| !line.ends_with("| refused")).count(), lines.len())
    };
    let ((understood, all), (_, traps)) = (count(SENTENCES), count(TRAPS));
    assert!(all >= 250 && understood * 10 >= all * 9, "{understood} of {all}");
    assert!(traps >= 290, "{traps}");
}
