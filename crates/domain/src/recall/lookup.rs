//! Looks up a prompt's terms in the indexes to search.

use std::ops::Range;

use rustc_hash::FxHashSet;
use smallvec::SmallVec;
use utterd_text::{Language, Languages};

use super::{
    block::IndexBlock,
    covering::{cover_by_words, leave_out_frame, make_certain, stands_for},
    index::Index,
    query::Query,
    similar::{begun, halves, longer, related, similar},
    sought::{Sought, rarity},
    term::TermKind,
    times::When,
    wanted::Wanted,
};

/// The most terms looked up; of a longer prompt, those of [`keep_telling`].
const MAX_TERMS: usize = 128;
/// The most words that no utterance has for which similar ones are looked up: the prompt's first ones.
const MAX_RESEMBLED: usize = 32;

/// Looks up a query's terms in the indexes; `times` are the times it names, and their ranges.
pub(super) fn look_up(query: &Query, times: &[(Range<usize>, When)], indexes: &[Index]) -> Vec<Sought> {
    let languages = indexes.iter().fold(Languages::default(), |all, index| all.union(index.languages()));
    let is_time = |wanted: &Wanted| {
        times.iter().any(|(time, _)| time.start <= wanted.range.start && wanted.range.end <= time.end)
    };
    let mut wanted = query.wanted(languages);
    keep_telling(&mut wanted, indexes);
    let sought = wanted.into_iter().map(|wanted| Sought::of(is_time(&wanted), wanted));
    let mut sought: Vec<Sought> = sought.collect();
    leave_out_frame(&mut sought, query);
    find(&mut sought, indexes, |_| true);
    add_longer(&mut sought, indexes);
    divide(&mut sought, indexes);
    resemble(&mut sought, indexes, languages);
    cover_by_words(&mut sought);
    if sought.iter().all(|one| !one.covers || one.wanted.share == 0.0) {
        sought.iter_mut().for_each(|one| one.wanted.share = 1.0);
    }
    let count: usize = indexes.iter().map(|index| index.len()).sum();
    let mut having = Vec::with_capacity(sought.len());
    for one in &mut sought {
        having.push(one.documents(indexes));
        one.rarity = rarity(count, having[having.len() - 1]);
        one.asked = if one.resembles.is_some() { rarity(count, 0) } else { one.rarity };
        one.rarity = (one.rarity + one.asked) / 2.0;
    }
    for place in 0..sought.len() {
        sought[place].stands_for = stands_for(&sought, place);
    }
    make_certain(&mut sought, &having, query.prompt());
    sought
}

/// Keeps [`MAX_TERMS`] terms: those that some utterance has, the rarest first, then the prompt's first ones.
/// A part of an identifier is kept only with its whole, and an unknown whole as long as one of its parts.
fn keep_telling(wanted: &mut Vec<Wanted>, indexes: &[Index]) {
    if wanted.len() <= MAX_TERMS {
        return;
    }
    let mut having = passages(wanted, indexes);
    having.iter_mut().filter(|having| **having == 0).for_each(|having| *having = usize::MAX);
    for (place, one) in wanted.iter().enumerate() {
        if let Some(whole) = one.whole {
            having[whole] = having[whole].min(having[place]);
        }
    }
    let mut kept: Vec<usize> = (0..wanted.len()).collect();
    kept.sort_by_key(|&place| having[place]);
    kept.truncate(MAX_TERMS);
    kept.sort_unstable();
    let mut place = 0..;
    wanted.retain(|_| place.next().is_some_and(|place| kept.binary_search(&place).is_ok()));
    for one in wanted {
        one.whole = one.whole.and_then(|whole| kept.binary_search(&whole).ok());
    }
}

/// The number of passages with each of the terms.
fn passages(wanted: &[Wanted], indexes: &[Index]) -> Vec<usize> {
    let mut having = vec![0; wanted.len()];
    for block in indexes.iter().flat_map(|index| index.blocks()) {
        let (mut numbers, mut places) = (Vec::new(), Vec::new());
        for (place, one) in wanted.iter().enumerate() {
            let known = one.alternatives.iter().filter_map(|term| block.dictionary.find(term));
            for number in known {
                numbers.push(number);
                places.push(place);
            }
        }
        block.postings.count_of(&numbers, |number, count| having[places[number]] += count);
    }
    having
}

/// Finds the postings of the terms that `which` accepts.
fn find(sought: &mut [Sought], indexes: &[Index], which: impl Fn(&Sought) -> bool) {
    let places: Vec<usize> = (0..sought.len()).filter(|&place| which(&sought[place])).collect();
    let (mut numbers, mut of) = (Vec::new(), Vec::new());
    for (index, blocks) in indexes.iter().map(|index| index.blocks()).enumerate() {
        for (at, block) in blocks.iter().enumerate() {
            numbers.clear();
            of.clear();
            for &place in &places {
                for (term, nearness) in &sought[place].alternatives {
                    if let Some(number) = block.dictionary.find(term) {
                        numbers.push(number);
                        of.push((place, *nearness));
                    }
                }
            }
            block.postings.each_of(&numbers, |number, posting| {
                let (place, nearness) = of[number];
                sought[place].push(index as u32, at as u32, (posting, nearness));
            });
            for same in of.chunk_by(|one, other| one.0 == other.0).filter(|same| same.len() > 1) {
                if let Some(found) = sought[same[0].0].found.last_mut() {
                    found.postings.sort_by_key(|(posting, _)| posting.passage);
                }
            }
        }
    }
}

/// Lets words match longer ones too: inflections that the language's stemmer leaves, and compounds. Longer
/// words that the English stemmer leaves are different words.
fn add_longer(sought: &mut [Sought], indexes: &[Index]) {
    let blocks = indexes.iter().flat_map(|index| index.blocks()).map(|block| &**block);
    let inflects = |block: &&IndexBlock| block.languages.iter().any(|language| language != Language::English);
    let blocks: Vec<&IndexBlock> = blocks.filter(inflects).collect();
    if blocks.is_empty() {
        return;
    }
    let is_known_word = |one: &Sought| one.wanted.kind == TermKind::Word && !one.found.is_empty();
    for one in sought.iter_mut().filter(|one| is_known_word(one)) {
        let more = longer(&one.alternatives[0].0, &blocks);
        one.again(more);
    }
    find(sought, indexes, |one| one.wanted.kind == TermKind::Word && one.found.is_empty());
}

/// Whether the word has no digits: a different number is not a typing error.
fn is_written(one: &Sought) -> bool {
    !one.wanted.word.contains(|c: char| c.is_numeric())
}

/// Whether no utterance has it, though it would cover something.
fn is_unknown(one: &Sought) -> bool {
    one.covers && !one.is_timely && one.found.is_empty()
}

/// Lets an unknown word stand for two that some utterance has: `username`.
fn divide(sought: &mut Vec<Sought>, indexes: &[Index]) {
    let known = sought.len();
    let unknown = (0..known).filter(|place| is_unknown(&sought[*place])).take(MAX_RESEMBLED);
    for place in unknown.collect::<Vec<_>>() {
        let whole = &sought[place].wanted;
        if whole.kind != TermKind::Word || !is_written(&sought[place]) {
            continue;
        }
        let Some(halves) = halves(&whole.written, indexes) else { continue };
        let part = |half: String| Wanted {
            alternatives: SmallVec::from_iter([half]),
            kind: TermKind::Part,
            whole: Some(place),
            ..whole.clone()
        };
        let parts = halves.map(|half| Sought::of(false, part(half)));
        sought.extend(parts);
    }
    if sought.len() > known {
        find(sought, indexes, |one| one.wanted.kind == TermKind::Part && one.found.is_empty());
    }
}

/// Lets words that no utterance has match one of their family or, without any, similar ones; and a hash its beginning.
fn resemble(sought: &mut [Sought], indexes: &[Index], languages: Languages) {
    let mut some = false;
    let divided: FxHashSet<usize> = sought.iter().filter_map(|one| one.wanted.whole).collect();
    for (place, one) in sought.iter_mut().enumerate().filter(|(_, one)| is_unknown(one)).take(MAX_RESEMBLED) {
        let stem = &one.alternatives[0].0;
        let mut same = begun(stem, indexes);
        if one.wanted.kind == TermKind::Word && is_written(one) && !divided.contains(&place) {
            same.extend(related(&one.wanted.word, stem, indexes));
            if same.is_empty() {
                let stems = one.alternatives.iter().filter(|(stem, _)| stem.len() <= one.wanted.word.len());
                let alike = stems
                    .map(|(stem, _)| similar(stem, indexes, languages))
                    .filter(|(alike, _)| !alike.is_empty());
                let nearer = |one: (_, f32), other: (_, f32)| if other.1 > one.1 { other } else { one };
                if let Some((alike, covers)) = alike.reduce(nearer) {
                    one.resembles = Some(covers);
                    same = alike;
                }
            }
        }
        some |= !same.is_empty();
        one.again(same);
    }
    if some {
        find(sought, indexes, is_unknown);
    }
}
