//! How likely a fact is to be needed again, by who named it, how often and how lately.
//!
//! The score is the log-odds that a later call or text names the fact, in hundredths. The weights were fitted on
//! transcripts of service conversations and of coding sessions.

/// What a fact looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::extractive) enum Shape {
    Address,
    Mail,
    Path,
    Date,
    Time,
    File,
    Code,
    /// A name of a program: `snake_case`, `camelCase`.
    Ident,
    /// A name with a long number: `gift_card_7091239`.
    Numbered,
    /// A member of something: `self.queue`.
    Member,
    Money,
    Number,
    /// A value with the name of its field.
    Attribute,
}

impl Shape {
    /// The shape of a value.
    pub(in crate::extractive) fn of(value: &str) -> Self {
        let seen = Seen::of(value);
        let is_numeric = seen.digits > 0 && seen.letters <= 2;
        let is_file = || {
            let end = value.rsplit_once('.').filter(|(name, _)| !name.is_empty());
            seen.dots == 1 && end.is_some_and(|(_, end)| EXTENSIONS.contains(&end))
        };
        match () {
            () if seen.colons > 0 && seen.slashes > 1 && value.contains("://") => Self::Address,
            () if seen.ats > 0 && seen.dots > 0 && !value.starts_with('@') => Self::Mail,
            () if is_numeric && value.contains(['$', '€', '£', '¥']) => Self::Money,
            () if is_numeric && seen.hyphens == 2 => Self::Date,
            () if is_numeric && seen.colons > 0 => Self::Time,
            () if is_numeric => Self::Number,
            () if seen.slashes > 0 => Self::Path,
            () if is_file() => Self::File,
            () if seen.others == 0 => Self::Code,
            () if seen.dots > 0 => Self::Member,
            () if ends_in_number(value.as_bytes()) => Self::Numbered,
            () => Self::Ident,
        }
    }
}

/// The characters of a value, counted.
#[derive(Default)]
struct Seen {
    digits: u32,
    letters: u32,
    dots: u32,
    slashes: u32,
    colons: u32,
    hyphens: u32,
    ats: u32,
    /// All but digits and capitals.
    others: u32,
}

impl Seen {
    fn of(value: &str) -> Self {
        let mut seen = Self::default();
        for byte in value.bytes() {
            seen.others += u32::from(!byte.is_ascii_digit() && !byte.is_ascii_uppercase());
            match byte {
                b'0'..=b'9' => seen.digits += 1,
                b'a'..=b'z' | b'A'..=b'Z' | 0x80.. => seen.letters += 1,
                b'.' => seen.dots += 1,
                b'/' => seen.slashes += 1,
                b':' => seen.colons += 1,
                b'-' => seen.hyphens += 1,
                b'@' => seen.ats += 1,
                _ => {}
            }
        }
        seen
    }
}

/// Whether a name ends in a number of three digits or more.
fn ends_in_number(name: &[u8]) -> bool {
    name.len() > 3 && name.iter().rev().take(3).all(u8::is_ascii_digit)
}

/// The endings of files' names; after other dots, there is a member of something.
const EXTENSIONS: [&str; 46] = [
    "py", "pyi", "rs", "ts", "tsx", "js", "jsx", "mjs", "json", "jsonl", "md", "rst", "toml", "yaml", "yml",
    "c", "h", "cc", "cpp", "hpp", "go", "java", "kt", "rb", "php", "cs", "swift", "sh", "txt", "cfg", "ini",
    "lock", "html", "css", "scss", "sql", "xml", "csv", "pony", "po", "proto", "ipynb", "tex", "env", "log",
    "pdf",
];

/// Who named a fact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::extractive) enum Source {
    User,
    /// An argument of a call.
    Argument,
    /// An assistant, or another participant.
    Other,
    /// The result of a call.
    Result,
}

/// The mentions of a fact.
#[derive(Clone, Debug)]
pub(in crate::extractive) struct Mentions {
    /// By [`Source`].
    counts: [u32; 4],
    last: usize,
    last_argument: Option<usize>,
    shape: Shape,
    /// Whether it belongs to an object.
    is_bound: bool,
}

/// The weights of a kind of talk, in hundredths.
struct Weights {
    base: i64,
    /// By source, for each doubling of the count.
    counts: [i64; 4],
    recent: i64,
    recent_argument: i64,
    only_found: i64,
    bound: i64,
    shapes: [i64; 13],
}

const SERVICE: Weights = Weights {
    base: -240,
    counts: [60, 10, 60, 5],
    recent: 120,
    recent_argument: 190,
    only_found: 35,
    bound: -60,
    //       url   mail  path date time file code ident numbered member money number attribute
    shapes: [-200, -180, 0, 110, -30, 0, 25, -20, 70, -100, 20, -10, -120],
};
const CODING: Weights = Weights {
    base: -365,
    counts: [50, 25, 40, 5],
    recent: 250,
    recent_argument: -30,
    only_found: -80,
    bound: 0,
    shapes: [-150, -250, 40, -120, -200, 20, -30, -15, -60, -40, -200, -75, 0],
};
/// What is taken off for a value of an object that nobody named.
const NO_OBJECT: i64 = -50;
/// Twice the base-2 logarithm of one more than a count, for small counts.
const DOUBLINGS: [i64; 8] = [0, 2, 3, 4, 5, 5, 6, 6];

impl Mentions {
    pub(in crate::extractive) fn new(shape: Shape, is_bound: bool) -> Self {
        Self { counts: [0; 4], last: 0, last_argument: None, shape, is_bound }
    }

    /// Notes a mention in the utterance at `place`.
    pub(in crate::extractive) fn add(&mut self, source: Source, place: usize) {
        self.counts[source as usize] = self.counts[source as usize].saturating_add(1);
        self.last = self.last.max(place);
        if source == Source::Argument {
            self.last_argument = Some(place);
        }
    }

    /// Whether only others than the user named it, last in the utterance at `place`, and no call did.
    pub(in crate::extractive) fn is_proposed(&self, place: usize) -> bool {
        self.last == place
            && self.counts[Source::User as usize] == 0
            && self.counts[Source::Argument as usize] == 0
    }

    /// Whether it was only found in results.
    fn is_only_found(&self) -> bool {
        self.counts[..3] == [0; 3]
    }

    /// Whether such a value can be of use: in code, numbers, times and the words of logs are not.
    pub(in crate::extractive) fn is_telling(&self, text: &str, is_coding: bool) -> bool {
        let is_from_user = self.counts[0] > 0;
        let digits = text.bytes().filter(u8::is_ascii_digit).count();
        match self.shape {
            Shape::Time => !is_coding && (self.is_bound || is_from_user),
            Shape::Money | Shape::Date | Shape::Attribute => !is_coding,
            Shape::Number if is_coding => is_from_user,
            Shape::Number => self.is_bound || is_from_user || digits > 2,
            Shape::Code if is_coding => digits > 0,
            Shape::Address => is_from_user || !is_coding,
            _ => true,
        }
    }

    /// How likely the fact is to be needed after `places` utterances, in millionths.
    ///
    /// A value of an object is as likely as its object (`of`), and counts where the value was named alone (`alone`).
    pub(in crate::extractive) fn worth(
        &self,
        of: Option<&Self>,
        alone: Option<&Self>,
        places: usize,
        is_coding: bool,
    ) -> u32 {
        let weights = if is_coding { &CODING } else { &SERVICE };
        let mut score = self.score(places, weights);
        if self.is_bound {
            score += if of.is_none() { NO_OBJECT } else { 0 };
            score += alone.map_or(0, |alone| alone.named(weights));
        }
        likelihood(score)
    }

    /// The part of the score for who named it, without results.
    fn named(&self, weights: &Weights) -> i64 {
        let counts = self.counts.iter().zip(&weights.counts).zip([3, 7, 7]);
        counts.map(|((count, weight), most)| weight * DOUBLINGS[(*count).min(most) as usize] / 2).sum()
    }

    fn score(&self, places: usize, weights: &Weights) -> i64 {
        let share = |place: usize| ((place + 1) * 100 / places.max(1)).min(100) as i64;
        let found = weights.counts[3] * DOUBLINGS[self.counts[3].min(7) as usize] / 2;
        let if_so = |is: bool, weight: i64| if is { weight } else { 0 };
        weights.base
            + self.named(weights)
            + found
            + weights.shapes[self.shape as usize]
            + weights.recent * share(self.last) / 100
            + self.last_argument.map_or(0, |place| weights.recent_argument * share(place) / 100)
            + if_so(self.is_only_found(), weights.only_found)
            + if_so(self.is_bound, weights.bound)
    }
}

/// The probability of log-odds in hundredths, in millionths.
fn likelihood(score: i64) -> u32 {
    let odds = exp(score.clamp(-1_200, 1_200) as f64 / 100.0);
    (1_000_000.0 * odds / (1.0 + odds)) as u32
}

/// `e` to the power of `x`, from multiplications alone: equal on every machine.
fn exp(x: f64) -> f64 {
    let mut power = 1.0 + x / 1_024.0;
    for _ in 0..10 {
        power *= power;
    }
    power
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_have_shapes() {
        for (value, shape) in [
            ("https://a.b/c", Shape::Address),
            ("ann@example.com", Shape::Mail),
            ("src/a.rs", Shape::Path),
            ("a.rs", Shape::File),
            ("2024-05-27", Shape::Date),
            ("10:30", Shape::Time),
            ("$250", Shape::Money),
            ("250", Shape::Number),
            ("HAT084", Shape::Code),
            ("omar_rossi_1241", Shape::Numbered),
            ("self.queue_of", Shape::Member),
        ] {
            assert_eq!(Shape::of(value), shape, "{value}");
        }
    }

    #[test]
    fn what_users_name_and_what_is_recent_is_likelier_to_be_needed() {
        let mentions = |source, place| {
            let mut mentions = Mentions::new(Shape::Ident, false);
            mentions.add(source, place);
            mentions.worth(None, None, 20, false)
        };
        assert!(mentions(Source::User, 3) > mentions(Source::Result, 3));
        assert!(mentions(Source::User, 18) > mentions(Source::User, 3));
        assert!((499_000..501_000).contains(&likelihood(0)) && likelihood(-1_200) < 10);
    }
}
