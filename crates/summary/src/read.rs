//! What the words of an item are, read once: a summary that grows is chosen from the same items again and again.

use std::sync::{Arc, OnceLock};

use rustc_hash::FxHashSet;
use utterd_text::{Kind as Shape, entities, words};

/// What stands between a thing and its value, in several languages.
const COPULAS: [&str; 24] = [
    "is", "are", "was", "=", "es", "son", "está", "ist", "sind", "est", "sont", "é", "são", "è", "sono",
    "это", "—", "zijn", "is:", "are:", "becomes", "now", "ahora", "jetzt",
];

/// The words of an item, if they were read. They follow from its text, so they make no difference between items.
#[derive(Clone, Debug, Default)]
pub(crate) struct Read {
    words: OnceLock<Arc<Words>>,
    tokens: OnceLock<u32>,
}

impl PartialEq for Read {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Read {}

/// What the words of a text are.
#[derive(Debug)]
pub(crate) struct Words {
    /// What they mean, without those that only carry it.
    pub concepts: Box<[u64]>,
    /// What they name: the shapes of names and values, with what they are.
    pub named: Box<[(Shape, u64)]>,
    /// What it is that the text says the value of: `my address is`. 0 if it says none.
    pub thing: u64,
}

impl Read {
    /// The words of `text`, which must be the item's.
    pub(crate) fn words(&self, text: &str) -> &Words {
        self.words.get_or_init(|| Arc::new(Words::of(text)))
    }

    /// The tokens of the item, counted by `count` once.
    pub(crate) fn tokens(&self, count: impl FnOnce() -> u32) -> u32 {
        *self.tokens.get_or_init(count)
    }
}

impl Words {
    fn of(text: &str) -> Self {
        let found = entities(text);
        let named = found.iter().map(|entity| (entity.kind, hash(entity.text))).collect();
        let concepts = concepts(text).into();
        Self { concepts, named, thing: thing(text) }
    }

    /// The share of the meanings that both have, of the text that has fewer.
    pub(crate) fn shares(&self, other: &Self, least: usize) -> bool {
        let (own, others) = (set(&self.concepts), set(&other.concepts));
        let shared = own.intersection(&others).count();
        shared > 0 && least * shared >= own.len().min(others.len())
    }
}

fn set(concepts: &[u64]) -> FxHashSet<u64> {
    concepts.iter().copied().collect()
}

/// The words up to the first that stands between a thing and its value, unless they say nothing of which thing.
fn thing(text: &str) -> u64 {
    let is_copula = |word: &str| COPULAS.iter().any(|copula| copula.eq_ignore_ascii_case(word));
    let copula = text.split_whitespace().position(is_copula);
    let Some(end) = copula.filter(|at| *at > 0) else { return 0 };
    let words: Vec<String> = text.split_whitespace().take(end + 1).map(str::to_lowercase).collect();
    let thing = words.join(" ");
    if concepts(&thing).is_empty() { 0 } else { hash(&thing) }
}

/// What the words of `text` mean, without those that only carry it.
pub(crate) fn concepts(text: &str) -> Vec<u64> {
    words(text).filter(|word| !word.is_stop).map(|word| word.concept).collect()
}

/// What identifies a text.
pub(crate) fn hash(text: &str) -> u64 {
    xxhash_rust::xxh3::xxh3_64(text.as_bytes())
}
