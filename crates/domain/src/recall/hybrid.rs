//! Ranking by words and by meaning combined.
//!
//! Word scores and cosines of embeddings have no common scale. Each is expressed as standard deviations above
//! the mean of everything searched; the final score is their weighted sum.

use std::collections::HashMap;

use crate::recall::Hit;

/// The weight of words in a score. On conversations of short turns, a small encoder helps only up to this
/// share; with long answers, it helps with any.
const WORDS: f64 = 0.7;
/// The weight of meaning.
const MEANING: f64 = 1.0 - WORDS;
/// An utterance without any of the prompt's words is found if its cosine is this many standard deviations
/// above the mean.
const NEAR: f64 = 1.0;

/// An utterance: the position of its conversation among those searched, the newest first, and its sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// The conversation's position.
    pub index: usize,
    /// The utterance's sequence.
    pub sequence: u64,
}

/// An utterance that has an embedding.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Similar {
    /// The utterance.
    pub place: Place,
    /// The cosine of its embedding with the prompt's.
    pub cosine: f32,
}

/// Ranks the `hits` of a search by words together with what is near in meaning, out of `searched` utterances in
/// all, and returns the [first](Hit::first) `most`. `recency` tells that of what has none of the words.
///
/// - An utterance not found by words has a word score of 0; one without an embedding counts as having the
///   mean cosine.
/// - Without any embeddings, the order is that of the word scores.
/// - Everything found by words is included, up to `most`.
/// - The score of a result is comparable only with those of the same prompt. Its relevance is that of its words or, if
///   higher, how far its meaning stands out: 0 for the nearest of as many unrelated utterances, 1 for twice as far above
///   the mean.
pub fn mix(
    hits: Vec<Hit>,
    similar: &[Similar],
    searched: usize,
    recency: impl Fn(Place) -> f64,
    most: usize,
) -> Vec<Hit> {
    let searched = searched.max(hits.len());
    let words = Spread::of(hits.iter().map(|hit| hit.score), searched);
    let meaning = Spread::of(similar.iter().map(|one| one.cosine.into()), similar.len());
    let unrelated = chance(similar.len());
    let mut mixed: HashMap<Place, Hit> = HashMap::with_capacity(hits.len() + similar.len());
    for hit in hits {
        let place = Place { index: hit.index, sequence: hit.sequence };
        mixed.insert(place, Hit { score: WORDS * words.above(hit.score), ..hit });
    }
    for &Similar { place, cosine } in similar {
        let above = meaning.above(cosine.into());
        let Place { index, sequence } = place;
        let score = WORDS * words.above(0.0);
        let unworded = || Hit { index, sequence, score, recency: recency(place), relevance: 0.0 };
        let both = match above >= NEAR {
            true => mixed.entry(place).or_insert_with(unworded),
            false => match mixed.get_mut(&place) {
                Some(both) => both,
                None => continue,
            },
        };
        both.score += MEANING * above;
        both.relevance = both.relevance.max((above / unrelated - 1.0).clamp(0.0, 1.0));
    }
    Hit::first(mixed.into_values(), most)
}

/// The mean and standard deviation of some numbers.
struct Spread {
    mean: f64,
    deviation: f64,
}

impl Spread {
    /// Computes the spread of `count` numbers, counting those not given as 0.
    fn of(numbers: impl Iterator<Item = f64> + Clone, count: usize) -> Self {
        let count = count.max(1) as f64;
        let mean = numbers.clone().sum::<f64>() / count;
        let squares = numbers.map(|number| number * number).sum::<f64>() / count;
        Self { mean, deviation: (squares - mean * mean).max(0.0).sqrt() }
    }

    /// How many deviations a number is above the mean; 0 if all are equal up to rounding.
    fn above(&self, number: f64) -> f64 {
        match self.deviation > 1e-6 * self.mean.abs().max(1e-6) {
            true => (number - self.mean) / self.deviation,
            false => 0.0,
        }
    }
}

/// How many deviations above the mean the highest of `count` unrelated numbers is expected to be, for a
/// normal distribution.
fn chance(count: usize) -> f64 {
    (2.0 * (count.max(2) as f64).ln()).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn at(sequence: u64) -> Place {
        Place { index: 0, sequence }
    }

    fn worded(sequence: u64, score: f64) -> Hit {
        Hit { index: 0, sequence, score, recency: 0.5, relevance: 0.5 }
    }

    fn similar(sequence: u64, cosine: f32) -> Similar {
        Similar { place: at(sequence), cosine }
    }

    fn mix(hits: &[Hit], similar: &[Similar], searched: usize, most: usize) -> Vec<Hit> {
        super::mix(hits.to_vec(), similar, searched, |_| 0.5, most)
    }

    fn order(mixed: &[Hit]) -> Vec<u64> {
        mixed.iter().map(|one| one.sequence).collect()
    }

    fn rank(mixed: &[Hit], sequence: u64) -> usize {
        order(mixed).iter().position(|other| *other == sequence).unwrap_or(usize::MAX)
    }

    #[test]
    fn what_is_near_in_meaning_is_found_without_its_words() {
        let words = [worded(1, 2.0), worded(2, 1.9)];
        let cosines: Vec<_> =
            (1..=40).map(|n| similar(n, if n == 30 { 0.8 } else { 0.1 + n as f32 * 1e-3 })).collect();
        let mixed = mix(&words, &cosines, 40, 3);
        assert_eq!(mixed.len(), 3);
        assert_eq!(rank(&mixed, 30), 2);
        let stands_out = mixed[2].relevance;
        assert!(stands_out > 0.5, "{stands_out}");
        // an utterance with both comes first
        let mixed = mix(&[worded(1, 2.0), worded(30, 1.9)], &cosines, 40, 3);
        assert_eq!(order(&mixed)[..2], [30, 1]);
    }

    #[test]
    fn of_unrelated_utterances_none_is_relevant() {
        let cosines: Vec<_> = (0..100).map(|n| similar(n, (n * 37 % 100) as f32 / 1_000.0)).collect();
        assert!(mix(&[], &cosines, 100, 10).iter().all(|one| one.relevance == 0.0));
    }

    #[test]
    fn of_equal_ones_the_newest_is_first() {
        let words = [1, 5, 3].map(|sequence| worded(sequence, 1.0));
        assert_eq!(order(&mix(&words, &[], 10, 10)), [5, 3, 1]);
        let older = Hit { index: 1, sequence: 9, ..words[0].clone() };
        assert_eq!(order(&mix(&[older, words[0].clone()], &[], 10, 10)), [1, 9]);
    }

    /// Some utterances found by words, and some with embeddings.
    fn found() -> impl Strategy<Value = (Vec<Hit>, Vec<Similar>)> {
        let scores = proptest::collection::btree_map(0_u64..40, 0.1_f64..9.0, 0..20);
        let cosines = proptest::collection::btree_map(0_u64..40, -1_f32..1.0, 0..40);
        (scores, cosines).prop_map(|(scores, cosines)| {
            let scores = scores.into_iter().map(|(sequence, score)| worded(sequence, score));
            let cosines = cosines.into_iter().map(|(sequence, cosine)| similar(sequence, cosine));
            (scores.collect(), cosines.collect())
        })
    }

    proptest! {
        #[test]
        fn without_embeddings_the_order_is_that_of_the_words((mut words, _) in found()) {
            let mixed = mix(&words, &[], 40, 40);
            words.sort_by(|one, other| other.score.total_cmp(&one.score).then(other.sequence.cmp(&one.sequence)));
            let expected: Vec<u64> = words.iter().map(|one| one.sequence).collect();
            prop_assert_eq!(order(&mixed), expected);
            prop_assert!(mixed.iter().all(|one| one.relevance == 0.5));
        }

        #[test]
        fn what_words_find_is_there_once_and_no_less_relevant((words, cosines) in found()) {
            let mixed = mix(&words, &cosines, 40, usize::MAX);
            let mut all = order(&mixed);
            all.sort_unstable();
            all.dedup();
            prop_assert_eq!(all.len(), mixed.len());
            for one in &words {
                let found = mixed.iter().find(|mixed| mixed.sequence == one.sequence).unwrap();
                prop_assert!((one.relevance..=1.0).contains(&found.relevance) && found.score.is_finite());
            }
            let few = mix(&words, &cosines, 40, 5);
            prop_assert_eq!(&few[..], &mixed[..mixed.len().min(5)]);
        }

        #[test]
        fn the_order_of_what_is_given_is_none_of_the_answers((words, cosines) in found()) {
            let (mut other_words, mut other_cosines) = (words.clone(), cosines.clone());
            other_words.reverse();
            other_cosines.reverse();
            let [one, other] = [mix(&words, &cosines, 40, 40), mix(&other_words, &other_cosines, 40, 40)];
            prop_assert_eq!(one.len(), other.len());
            for (one, other) in one.iter().zip(&other) {
                prop_assert!((one.score - other.score).abs() < 1e-9);
            }
        }

        #[test]
        fn of_what_words_do_not_find_the_nearer_is_first((words, cosines) in found()) {
            let mixed = order(&mix(&words, &cosines, 40, usize::MAX));
            let unfound = |one: &&Similar| words.iter().all(|worded| worded.sequence != one.place.sequence);
            let place = |one: &Similar| mixed.iter().position(|sequence| *sequence == one.place.sequence);
            let places: Vec<_> = cosines.iter().filter(unfound).map(|one| (one.cosine, place(one))).collect();
            for (one, other) in places.iter().zip(places.iter().skip(1)) {
                if let (Some(first), Some(second)) = (one.1, other.1) {
                    prop_assert!(one.0 == other.0 || (one.0 > other.0) == (first < second));
                }
            }
        }
    }
}
