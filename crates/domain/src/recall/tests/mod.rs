//! What is found, and what is not.

mod identifiers;
mod prompts;
mod times;
mod words;

use super::{Floor, Hit, Index, Query, Said, Search};
use crate::Role;

/// What is said around the texts of a test.
const OTHERS: [&str; 12] = [
    "The museum was closed when we arrived.",
    "Could you pass me the salt?",
    "We painted the fence last summer.",
    "My cousin plays the trombone in a marching band.",
    "He lost his umbrella on the tram.",
    "The weather was lovely yesterday.",
    "The soup needs more pepper.",
    "Nobody watered the tomatoes.",
    "I prefer the window seat.",
    "She collects stamps from Peru.",
    "Their bakery sells rye bread.",
    "A cat slept on the piano.",
];

/// A user and an assistant who say the texts in turn, with much else between them.
fn talk(texts: &[&str]) -> Index {
    let others = || OTHERS.iter().cycle().take(4 * OTHERS.len());
    let around = texts.iter().flat_map(|text| others().take(3).chain([text]));
    said(&around.chain(others()).copied().collect::<Vec<_>>())
}

/// A user and an assistant who say the texts in turn.
fn said(texts: &[&str]) -> Index {
    let role = |sequence: u64| if sequence % 2 == 1 { Role::User } else { Role::Assistant };
    let mut index = Index::new();
    index.extend((1..).zip(texts).map(|(sequence, content)| Said {
        sequence,
        role: role(sequence),
        name: "",
        minute: 0,
        content,
        calls: Vec::new(),
    }));
    index
}

fn hits(prompt: &str, index: &Index) -> Vec<Hit> {
    Search::new(Query::new(prompt), vec![index.clone()]).hits(|_| true, 0..100)
}

/// The sequences that a caller finds who sets no minimum relevance.
fn found(prompt: &str, index: &Index) -> Vec<u64> {
    let hits = hits(prompt, index);
    let is_answered = Floor::of_search(None).is_reached(&hits);
    hits.iter().filter(|_| is_answered).map(|hit| hit.sequence).collect()
}

/// The place of a text in [`talk`].
fn place(number: u64) -> u64 {
    4 * number
}

/// Whether the prompt finds the text first, within a talk, bare and in a question.
#[track_caller]
fn assert_finds(pairs: &[(&str, &str)]) {
    for (prompt, content) in pairs {
        let index = talk(&[content]);
        for asked in [(*prompt).to_owned(), format!("What did we say about {prompt} again?")] {
            assert_eq!(found(&asked, &index).first(), Some(&place(1)), "{asked}: {content}");
        }
    }
}

/// Whether nothing answers the prompt, although the text was said.
#[track_caller]
fn assert_silent(pairs: &[(&str, &str)]) {
    for (prompt, content) in pairs {
        assert_eq!(found(prompt, &talk(&[content])), [0; 0], "{prompt}: {content}");
    }
}
