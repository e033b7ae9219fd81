//! The passages of a text that say most about a prompt.

use std::{cmp::Reverse, ops::Range};

use rustc_hash::{FxHashMap, FxHashSet};
use unicode_segmentation::UnicodeSegmentation;

use crate::TokenCounter;

/// The byte ranges of `text` with the sentences that say most about where it is `matched`, in at most `most` tokens:
/// ascending and apart from each other. Without a match, the beginning of the text.
///
/// Takes first what adds most matched words, each worth the more the rarer it is in the text; then what stands next to
/// that. Of a sentence that is too long, takes the part around its first match.
pub(super) fn passages(
    text: &str,
    matched: &[Range<usize>],
    most: u32,
    counter: &dyn TokenCounter,
) -> Vec<Range<usize>> {
    let starts = text.split_sentence_bound_indices();
    let sentences: Vec<Range<usize>> = starts.map(|(start, part)| start..start + part.len()).collect();
    let words = words(text, matched, &sentences);
    let mut choice = Choice { text, sentences: &sentences, taken: Vec::new(), left: most, counter };
    let order = if words.is_empty() { vec![0] } else { by_worth(&words) };
    for place in &order {
        choice.take(*place);
    }
    let Some(&best) = choice.taken.first() else {
        let sentence = order.first().and_then(|best| sentences.get(*best));
        return part(text, sentence, matched, most, counter).into_iter().collect();
    };
    choice.widen(best);
    // joined, sentences can have a few tokens more than apart
    while choice.tokens() > most {
        choice.taken.pop();
    }
    choice.ranges()
}

/// The matched words of each sentence that has any, each once: numbered, with their worth.
fn words(
    text: &str,
    matched: &[Range<usize>],
    sentences: &[Range<usize>],
) -> FxHashMap<usize, Vec<(usize, f64)>> {
    let mut numbers: FxHashMap<String, usize> = FxHashMap::default();
    let mut counts: Vec<f64> = Vec::new();
    let mut found: Vec<(usize, usize)> = Vec::new();
    for range in matched {
        let Some(word) = text.get(range.clone()) else { continue };
        let number = *numbers.entry(word.to_lowercase()).or_insert(counts.len());
        if number == counts.len() {
            counts.push(0.0);
        }
        counts[number] += 1.0;
        found.push((sentences.partition_point(|one| one.end <= range.start), number));
    }
    let mut words: FxHashMap<usize, Vec<(usize, f64)>> = FxHashMap::default();
    for (place, number) in found {
        let of_sentence = words.entry(place).or_default();
        if of_sentence.iter().all(|(known, _)| *known != number) {
            of_sentence.push((number, 1.0 / counts[number]));
        }
    }
    words
}

/// The sentences with matched words, the one first that adds most to those before it.
fn by_worth(words: &FxHashMap<usize, Vec<(usize, f64)>>) -> Vec<usize> {
    let mut rest: Vec<usize> = words.keys().copied().collect();
    let (mut told, mut order) = (FxHashSet::default(), Vec::new());
    loop {
        let adds = |place: &usize| {
            let new = words[place].iter().filter(|(number, _)| !told.contains(number));
            new.map(|(_, worth)| worth).sum::<f64>()
        };
        let worth = |place: &&usize| (adds(place), Reverse(**place));
        let best = rest.iter().max_by(|one, other| {
            let [one, other] = [worth(one), worth(other)];
            one.0.total_cmp(&other.0).then(one.1.cmp(&other.1))
        });
        let Some(best) = best.copied().filter(|best| adds(best) > 0.0) else { return order };
        told.extend(words[&best].iter().map(|(number, _)| *number));
        rest.retain(|place| *place != best);
        order.push(best);
    }
}

/// The sentences that are taken, while there is room for more.
struct Choice<'a> {
    text: &'a str,
    sentences: &'a [Range<usize>],
    /// In the order in which they were taken.
    taken: Vec<usize>,
    left: u32,
    counter: &'a dyn TokenCounter,
}

impl Choice<'_> {
    /// Takes a sentence if there is room for it; returns whether it is taken.
    fn take(&mut self, place: usize) -> bool {
        let Some(sentence) = self.sentences.get(place) else { return false };
        if self.taken.contains(&place) {
            return true;
        }
        let left = self.left.checked_sub(self.counter.count(&self.text[sentence.clone()]));
        if let Some(left) = left {
            self.left = left;
            self.taken.push(place);
        }
        left.is_some()
    }

    /// Takes what follows a sentence, and then what precedes it.
    fn widen(&mut self, from: usize) {
        let mut next = from + 1;
        while self.take(next) {
            next += 1;
        }
        let mut before = from;
        while before > 0 && self.take(before - 1) {
            before -= 1;
        }
    }

    /// The tokens of what is taken.
    fn tokens(&self) -> u32 {
        self.ranges().into_iter().map(|range| self.counter.count(&self.text[range])).sum()
    }

    /// What is taken, with neighbours joined.
    fn ranges(&self) -> Vec<Range<usize>> {
        let mut taken = self.taken.clone();
        taken.sort_unstable();
        let mut ranges: Vec<Range<usize>> = Vec::new();
        for sentence in taken.into_iter().map(|place| &self.sentences[place]) {
            match ranges.last_mut() {
                Some(last) if last.end == sentence.start => last.end = sentence.end,
                _ => ranges.push(sentence.clone()),
            }
        }
        ranges
    }
}

/// The part of a sentence around its first match, or its beginning, in at most `most` tokens.
fn part(
    text: &str,
    sentence: Option<&Range<usize>>,
    matched: &[Range<usize>],
    most: u32,
    counter: &dyn TokenCounter,
) -> Option<Range<usize>> {
    let sentence = sentence?;
    let first = matched.iter().find(|range| sentence.contains(&range.start));
    let at = first.map_or(sentence.start, |range| range.start);
    let tokens = counter.count(&text[sentence.clone()]).max(1);
    let mut bytes = (sentence.len() as u64 * u64::from(most) / u64::from(tokens)) as usize;
    while bytes > 0 {
        // a quarter before the match
        let start = text.ceil_char_boundary(at.saturating_sub(bytes / 4).max(sentence.start));
        let end = text.floor_char_boundary((start + bytes).min(sentence.end)).max(start);
        if counter.count(&text[start..end]) <= most {
            return (start < end).then_some(start..end);
        }
        bytes -= bytes.div_ceil(8);
    }
    None
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::testing::o200k;

    /// The passages of `text` about `words`, joined by bars.
    fn told(text: &str, words: &[&str], most: u32) -> String {
        let mut matched: Vec<_> = words.iter().flat_map(|word| text.match_indices(word)).collect();
        matched.sort_unstable();
        let matched: Vec<_> = matched.into_iter().map(|(at, word)| at..at + word.len()).collect();
        let ranges = passages(text, &matched, most, o200k());
        ranges.into_iter().map(|range| text[range].trim()).collect::<Vec<_>>().join(" | ")
    }

    #[test]
    fn what_says_most_is_taken_with_what_follows_it() {
        let filler = "There is nothing to see here, and nobody knows why. ".repeat(20);
        let text =
            format!("{filler}The key is under the mat. It is small.\n{filler}Ann has a key too. {filler}");
        assert_eq!(told(&text, &["key", "mat"], 14), "The key is under the mat. It is small.");
        let wide = told(&text, &["key", "mat", "Ann"], 24);
        assert_eq!(wide, "The key is under the mat. It is small. | Ann has a key too.");
        assert!(told(&text, &[], 14).starts_with("There is nothing to see"));
        assert!(text.starts_with(&told(&text, &[], 40)));
    }

    #[test]
    fn of_a_sentence_without_end_the_part_around_the_match_is_taken() {
        let text = format!("{} needle {}", "hay and more hay, ".repeat(200), "so much hay, ".repeat(200));
        let told = told(&text, &["needle"], 20);
        assert!(told.contains("needle") && o200k().count(&told) <= 20, "{told}");
    }

    proptest! {
        #[test]
        fn passages_are_ascending_and_fit(
            text in "([a-z é漢]{1,12}[.!\n ]{1,2}){1,60}",
            matched in prop::collection::btree_set(0..600usize, 0..9),
            most in 1..80u32,
        ) {
            let at = |start: usize| Some(start..text.ceil_char_boundary((start + 4).min(text.len())));
            let boundary = |start: &usize| *start < text.len() && text.is_char_boundary(*start);
            let matched: Vec<_> = matched.into_iter().filter(boundary).filter_map(at).collect();
            let ranges = passages(&text, &matched, most, o200k());
            prop_assert!(ranges.windows(2).all(|pair| pair[0].end < pair[1].start));
            let tokens: u32 = ranges.iter().map(|range| o200k().count(&text[range.clone()])).sum();
            prop_assert!(tokens <= most, "{tokens}");
            prop_assert!(!ranges.is_empty() || most < 8, "{ranges:?}");
        }
    }
}
