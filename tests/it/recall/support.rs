//! Conversations to search.

use std::ops::Range;

use utterd::domain::{
    Role,
    recall::{Hit, Index, Match, Query, Said, Search},
};

/// What a user said.
pub fn said(sequence: u64, content: &str) -> Said<'_> {
    Said { sequence, role: Role::User, name: "", minute: 0, content, calls: Vec::new() }
}

pub fn index(utterances: &[(u64, &str)]) -> Index {
    of(utterances.iter().map(|&(sequence, content)| said(sequence, content)))
}

pub fn of<'a>(utterances: impl IntoIterator<Item = Said<'a>>) -> Index {
    let mut index = Index::new();
    index.extend(utterances);
    index
}

/// The hits of a query in `indexes`, searched as one collection.
pub fn score(
    query: &Query,
    indexes: &[&Index],
    eligible: impl Fn(&Hit) -> bool,
    page: Range<usize>,
) -> Vec<Hit> {
    let indexes = indexes.iter().map(|index| (*index).clone()).collect();
    Search::new(query.clone(), indexes).hits(eligible, page)
}

pub fn search(prompt: &str, indexes: &[&Index]) -> Vec<Hit> {
    score(&Query::new(prompt), indexes, |_| true, 0..100)
}

pub fn places(hits: &[Hit]) -> Vec<(usize, u64)> {
    hits.iter().map(|hit| (hit.index, hit.sequence)).collect()
}

pub fn sequences(hits: &[Hit]) -> Vec<u64> {
    hits.iter().map(|hit| hit.sequence).collect()
}

/// Whether a prompt finds a conversation with one utterance.
pub fn finds(prompt: &str, content: &str) -> bool {
    let matched = matched(prompt, content);
    !matched.terms.is_empty()
}

/// What a prompt and the only utterance of a conversation have in common.
pub fn matched(prompt: &str, content: &str) -> Match {
    let index = index(&[(1, content)]);
    let search = Search::new(Query::new(prompt), vec![index]);
    match search.hits(|_| true, 0..1).is_empty() {
        true => Match::default(),
        false => search.matched().of(content),
    }
}
