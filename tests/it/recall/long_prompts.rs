//! Prompts of hundreds of words, such as a pasted e-mail, over the project's documentation.

use std::{fs, path::Path, sync::LazyLock};

use utterd::domain::{
    limits::{DEFAULT_MIN_RELEVANCE, MAX_PROMPT_BYTES},
    recall::{Hit, Index, Query, Search},
};

use crate::recall::support::{of, said};

/// What the conversation contains besides the documentation.
const KEY: &str = "The ferry to Hirtshals leaves at seven; our booking code is QX-4711-B.";
/// What a long prompt says of it.
const ABOUT_KEY: &str = "By the way, which ferry to Hirtshals has our booking code QX-4711-B?";

static PARAGRAPHS: LazyLock<Vec<String>> = LazyLock::new(|| {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs");
    let mut pages: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    pages.retain(|page| page.extension().is_some_and(|extension| extension == "md"));
    pages.sort();
    let text: String = pages.iter().map(|page| fs::read_to_string(page).unwrap()).collect();
    text.split("\n\n").filter(|it| it.len() > 60).take(600).map(str::to_owned).collect()
});

/// The documentation, a paragraph an utterance, with [`KEY`] in its middle.
fn conversation() -> (Index, Vec<&'static str>) {
    let mut texts: Vec<&str> = PARAGRAPHS.iter().map(String::as_str).collect();
    assert!(texts.len() > 100, "the documentation is there");
    texts.insert(texts.len() / 2, KEY);
    (of((1..).zip(&texts).map(|(sequence, text)| said(sequence, text))), texts)
}

/// The first hits of a prompt, after each was matched with its text.
fn found(prompt: &str, index: &Index, texts: &[&str]) -> Vec<Hit> {
    let search = Search::new(Query::new(prompt), vec![index.clone()]);
    let hits = search.hits(|_| true, 0..20);
    let mut matched = search.matched();
    for hit in &hits {
        let text = texts[hit.sequence as usize - 1];
        let common = matched.of(text);
        assert!(common.ranges.iter().all(|range| text.get(range.clone()).is_some()));
        assert!(common.terms.iter().all(|term| !term.is_empty()));
    }
    hits
}

/// Words that the conversation does not have.
fn foreign(words: usize) -> String {
    let word = |n: usize| format!("{}{}zu ", ["bra", "kel", "mof", "nid"][n % 4], to_letters(n));
    (0..words).map(word).collect()
}

fn to_letters(mut n: usize) -> String {
    let mut letters = String::new();
    while n > 0 {
        letters.push(char::from(b'a' + (n % 26) as u8));
        n /= 26;
    }
    letters
}

#[test]
fn what_they_have_in_common_with_a_text_is_told() {
    let (index, texts) = conversation();
    let all = texts.join("\n");
    let words: Vec<&str> = all.split_whitespace().collect();
    for size in [100, 130, 150, 300, 600, 1_500, 6_000] {
        for start in (0..words.len().saturating_sub(size)).step_by(4_003) {
            let prompt = words[start..start + size].join(" ");
            assert!(!found(&prompt, &index, &texts).is_empty(), "{size} words");
        }
    }
}

#[test]
fn identifiers_and_their_parts_are_kept_together() {
    let names: Vec<String> = (0..300).map(|n| format!("read_{}_{}", to_letters(n + 30), n % 7)).collect();
    let index = of((1..).zip(&names).map(|(sequence, name)| said(sequence, name)));
    let texts: Vec<&str> = names.iter().map(String::as_str).collect();
    for from in [0, 100, 200] {
        let prompt = names[from..from + 100].join(" ");
        let hits = found(&prompt, &index, &texts);
        assert!(hits.iter().any(|hit| (from..from + 101).contains(&(hit.sequence as usize))));
    }
}

#[test]
fn the_one_sentence_that_matters_is_found_wherever_it_stands() {
    let (index, texts) = conversation();
    let key = texts.iter().position(|text| *text == KEY).map_or(0, |place| place as u64 + 1);
    let known = PARAGRAPHS[..30].join(" ");
    for (about, text) in [("known", known), ("foreign", foreign(800))] {
        let words: Vec<&str> = text.split_whitespace().collect();
        for place in [0, 100, 400, words.len()] {
            let (before, behind) = words.split_at(place.min(words.len()));
            let prompt = format!("{} {ABOUT_KEY} {}", before.join(" "), behind.join(" "));
            let hits = found(&prompt, &index, &texts);
            let hit = hits.iter().find(|hit| hit.sequence == key);
            let relevance = hit.map(|hit| hit.relevance);
            assert!(relevance >= Some(DEFAULT_MIN_RELEVANCE), "{about} at {place}: {relevance:?}");
        }
    }
}

#[test]
fn a_text_about_what_was_never_said_finds_nothing_relevant() {
    let (index, texts) = conversation();
    for words in [10, 127, 129, 1_000] {
        let hits = found(&format!("{} ferry", foreign(words)), &index, &texts);
        assert!(hits.iter().all(|hit| hit.relevance < DEFAULT_MIN_RELEVANCE), "{words} words");
    }
}

/// The longest ones that Remember accepts, made of what costs the most to read.
#[test]
fn the_longest_are_searched() {
    let (index, texts) = conversation();
    let all = texts.join("\n");
    for one in ["today ", "may 1 ", "1 ", "a_b ", "читал ", "東京", "é", &foreign(900), &all] {
        let mut prompt = one.repeat(MAX_PROMPT_BYTES / one.len() + 1);
        let end = (0..=MAX_PROMPT_BYTES).rev().find(|at| prompt.is_char_boundary(*at));
        prompt.truncate(end.unwrap_or(0));
        found(&prompt, &index, &texts);
    }
}
