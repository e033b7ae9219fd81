//! What the words of an item are, read once: a summary that grows is chosen from the same items again and again.

use std::{
    hash::Hasher,
    ops::Range,
    sync::{Arc, OnceLock},
};

use rustc_hash::FxHasher;
use utterd_text::{Kind as Shape, Language, entities_in, words_in};

/// What stands between a thing and its value, in several languages.
const COPULAS: [&str; 24] = [
    "is", "are", "was", "=", "es", "son", "está", "ist", "sind", "est", "sont", "é", "são", "è", "sono",
    "это", "—", "zijn", "is:", "are:", "becomes", "now", "ahora", "jetzt",
];

/// The words of an item, if they were read. They follow from its text, so they make no difference between items.
#[derive(Clone, Debug, Default)]
pub(crate) struct Read {
    words: OnceLock<Arc<Words>>,
    tokens: OnceLock<(Form, u32)>,
}

/// What the length of an item's line depends on beside its text: kind, marks, and the bytes of head and note.
pub(crate) type Form = (u32, u32, usize, usize);

impl PartialEq for Read {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Read {}

/// What a text names, and where.
type Named = Box<[(Shape, Range<usize>)]>;

/// What the words of a text are.
#[derive(Debug)]
pub(crate) struct Words {
    /// What they mean, without those that only carry it.
    pub concepts: Box<[u64]>,
    language: Language,
    named: OnceLock<Named>,
    thing: OnceLock<Box<str>>,
    subject: OnceLock<Box<[u64]>>,
    statement: OnceLock<u64>,
}

impl Read {
    /// The words of `text`, which must be the item's.
    pub(crate) fn words(&self, text: &str) -> &Words {
        self.words.get_or_init(|| {
            let language = Language::of(text, Language::English);
            Arc::new(Words::new(language, concepts_in(text, language)))
        })
    }

    /// Forgets the tokens of another form, so that those of this one are kept.
    pub(crate) fn count_as(&mut self, form: Form) {
        if self.tokens.get().is_some_and(|(of, _)| *of != form) {
            self.tokens = OnceLock::new();
        }
    }

    /// The tokens of the item in this form, counted by `count` once as long as it keeps the form.
    pub(crate) fn tokens(&self, form: Form, count: impl Fn() -> u32) -> u32 {
        let (of, tokens) = *self.tokens.get_or_init(|| (form, count()));
        if of == form { tokens } else { count() }
    }
}

impl From<Words> for Read {
    fn from(words: Words) -> Self {
        Self { words: OnceLock::from(Arc::new(words)), tokens: OnceLock::new() }
    }
}

impl Words {
    /// The words of a text in `language` that mean `concepts`.
    pub(crate) fn new(language: Language, concepts: Vec<u64>) -> Self {
        let (named, thing) = (OnceLock::new(), OnceLock::new());
        let (subject, statement) = (OnceLock::new(), OnceLock::new());
        Self { concepts: concepts.into(), language, named, thing, subject, statement }
    }

    /// What `text`, which has these words, names: names and values, and their shapes.
    pub(crate) fn named<'a>(&'a self, text: &'a str) -> impl Iterator<Item = (Shape, &'a str)> {
        self.places(text).iter().filter_map(|(shape, place)| Some((*shape, text.get(place.clone())?)))
    }

    fn places(&self, text: &str) -> &Named {
        self.named.get_or_init(|| {
            // what stands before a colon is a label
            let is_label = |end: usize| text[end..].starts_with(':');
            let found = entities_in(text, self.language).into_iter();
            let found = found.filter(|one| one.kind != Shape::Name || !is_label(one.start + one.text.len()));
            found.map(|entity| (entity.kind, entity.start..entity.start + entity.text.len())).collect()
        })
    }

    /// What it is that `text`, which has these words, says the value of, in small letters: `my address is`. Empty if it
    /// says none.
    pub(crate) fn thing(&self, text: &str) -> &str {
        self.thing.get_or_init(|| thing(text, self.language).to_lowercase().into())
    }

    /// What the words mean that say of which thing `text` says the value.
    pub(crate) fn thing_concepts(&self, text: &str) -> Vec<u64> {
        concepts_in(self.thing(text), self.language)
    }

    /// What the words of `text` mean that are neither its label in capitals, `RULE: `, nor in what it names.
    pub(crate) fn subject(&self, text: &str) -> &[u64] {
        self.subject.get_or_init(|| {
            let label = label(text).map_or(0, str::len);
            let is_named = |at: usize| self.places(text).iter().any(|(_, place)| place.contains(&at));
            let words = words_in(text, self.language).filter(|word| !word.is_stop && word.start >= label);
            words.filter(|word| !is_named(word.start)).map(|word| word.concept).collect()
        })
    }

    /// What `text`, which has these words, has in common with statements that differ only in their numbers: `Look at
    /// part 7`.
    pub(crate) fn statement(&self, text: &str) -> u64 {
        *self.statement.get_or_init(|| {
            let mut statement = FxHasher::default();
            text.chars().filter(|c| !c.is_numeric()).for_each(|c| statement.write_u32(c.into()));
            statement.finish()
        })
    }
}

/// The label in capitals that a text begins with: `RULE`, `IMPORTANT`.
pub(crate) fn label(text: &str) -> Option<&str> {
    let end = text.find(|c: char| !c.is_uppercase() && c != ' ')?;
    (end > 2 && text[end..].starts_with(": ")).then(|| &text[..end])
}

/// How many meanings two texts have in common.
pub(crate) fn shared(one: &[u64], other: &[u64]) -> usize {
    let is_new = |at: usize| !one[..at].contains(&one[at]);
    (0..one.len()).filter(|at| other.contains(&one[*at]) && is_new(*at)).count()
}

/// The words up to the first that stands between a thing and its value, unless they say nothing of which thing.
fn thing(text: &str, language: Language) -> &str {
    // "no, my address is"
    let lead = text.split_once(", ").filter(|(lead, _)| !lead.contains(' '));
    let text = lead.map_or(text, |(_, rest)| rest);
    let is_copula = |word: &str| COPULAS.iter().any(|copula| copula.eq_ignore_ascii_case(word));
    // "now my address is"
    let text = text.split_once(' ').filter(|(first, _)| is_copula(first)).map_or(text, |(_, rest)| rest);
    let mut end = 0;
    for word in text.split_inclusive(' ') {
        let start = end;
        end += word.len();
        if is_copula(word.trim_end()) {
            let says = start > 0 && words_in(&text[..start], language).any(|word| !word.is_stop);
            return if says { &text[..end] } else { "" };
        }
    }
    ""
}

/// What the words of `text` mean, without those that only carry it.
pub(crate) fn concepts(text: &str) -> Vec<u64> {
    concepts_in(text, Language::of(text, Language::English))
}

fn concepts_in(text: &str, language: Language) -> Vec<u64> {
    words_in(text, language).filter(|word| !word.is_stop).map(|word| word.concept).collect()
}

/// What identifies a text.
pub(crate) fn hash(text: &str) -> u64 {
    xxhash_rust::xxh3::xxh3_64(text.as_bytes())
}
