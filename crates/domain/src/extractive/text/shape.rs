//! The weight of a word, by its characters.

/// Identifiers, paths, addresses, codes.
pub(in crate::extractive) const IDENTIFIER: u32 = 10;
/// Amounts, dates, times: a number of two digits or more.
pub(in crate::extractive) const NUMBER: u32 = 6;
/// `IAH`, `HTTP`.
pub(super) const ACRONYM: u32 = 5;
/// A capital within the sentence; `/name`.
pub(super) const NAME: u32 = 4;
/// Any other word of four letters or more. Recurring words are worth more.
pub(in crate::extractive) const PLAIN: u32 = 2;
/// Short words, and pairs of characters in scripts without blanks.
pub(super) const SHORT: u32 = 1;
/// Longer runs, in bytes, are data, not words.
const MAX_WORD_BYTES: usize = 96;

/// What the characters of a word reveal.
#[derive(Default)]
pub(super) struct Shape {
    pub letters: u32,
    pub digits: u32,
    capitals: u32,
    starts_with_capital: bool,
    /// A small letter followed by a capital: `camelCase`.
    hump: bool,
    /// Contains `_`, `@`, `\` or `::`, or a dot between letters.
    joined: bool,
    slashes: u32,
    /// Equal for the same characters in lower case.
    pub concept: u32,
    /// The same without the last character.
    pub without_last: u32,
}

impl Shape {
    /// The shape of the small ASCII letters at the beginning of `text`, the first of which can be a capital: of
    /// most words, all of it.
    #[inline]
    pub fn plain(text: &[u8]) -> Option<Self> {
        let first = text.first().filter(|first| first.is_ascii_alphabetic())?;
        let capitals = u32::from(first.is_ascii_uppercase());
        let (mut without_last, mut concept) = (FNV_BASIS, hash(FNV_BASIS, first.to_ascii_lowercase().into()));
        let mut letters = 1;
        for byte in text[1..].iter().take_while(|byte| byte.is_ascii_lowercase()) {
            (without_last, concept) = (concept, hash(concept, (*byte).into()));
            letters += 1;
        }
        let starts_with_capital = capitals > 0;
        Some(Self { letters, capitals, starts_with_capital, concept, without_last, ..Self::default() })
    }

    pub fn of(run: &str) -> Self {
        let mut shape = Self { concept: FNV_BASIS, ..Self::default() };
        let mut before = Kind::Other;
        for c in run.chars() {
            let kind = kind_of(c);
            if kind != Kind::Apostrophe {
                shape.see(before, c, kind);
                before = kind;
            }
        }
        shape
    }

    fn see(&mut self, before: Kind, c: char, kind: Kind) {
        self.without_last = self.concept;
        self.concept = hash(self.concept, if kind == Kind::Small { c } else { lower(c) });
        match kind {
            Kind::Small | Kind::Letter => self.see_letter(before),
            Kind::Capital => {
                self.starts_with_capital |= self.letters + self.digits == 0;
                self.hump |= before == Kind::Small;
                self.capitals += 1;
                self.see_letter(before);
            }
            Kind::Digit => self.digits += 1,
            Kind::Slash => self.slashes += 1,
            Kind::Colon => self.joined |= before == Kind::Colon,
            Kind::Joiner => self.joined = true,
            Kind::Dot | Kind::Apostrophe | Kind::Other => {}
        }
    }

    fn see_letter(&mut self, before: Kind) {
        self.joined |= before == Kind::Dot && self.letters > 1;
        self.letters += 1;
    }

    /// Letters only, nothing special about them.
    #[inline]
    pub fn is_plain(&self) -> bool {
        self.digits == 0 && !self.joined && !self.hump && self.slashes == 0
    }

    #[inline]
    pub fn weight(&self, run: &str, first: bool) -> u32 {
        let path = self.slashes > 1 || self.slashes == 1 && self.joined;
        match () {
            () if run.len() > MAX_WORD_BYTES => SHORT,
            () if path || self.joined || self.hump => IDENTIFIER,
            () if self.digits > 0 && self.letters > 0 => IDENTIFIER,
            () if self.digits > 1 || self.digits == 1 && run.len() > 1 => NUMBER,
            () if self.digits == 1 => PLAIN,
            () if self.capitals > 1 && self.capitals == self.letters => ACRONYM,
            () if self.starts_with_capital && !first => NAME,
            () if self.slashes == 1 => NAME,
            () if self.letters > 3 || !run.is_ascii() => PLAIN,
            () if self.letters == 3 => SHORT,
            () => 0,
        }
    }
}

/// What a character can mean within a word.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Small,
    Capital,
    /// Of a script without capitals.
    Letter,
    Digit,
    Dot,
    Colon,
    Slash,
    /// Joins the parts of an identifier.
    Joiner,
    Apostrophe,
    Other,
}

fn kind_of(c: char) -> Kind {
    match ASCII_KINDS.get(c as usize) {
        Some(kind) => *kind,
        None if c == '’' => Kind::Apostrophe,
        None if c.is_lowercase() => Kind::Small,
        None if c.is_uppercase() => Kind::Capital,
        None if c.is_alphabetic() => Kind::Letter,
        None => Kind::Other,
    }
}

/// The kinds of ASCII's characters, of which most text consists.
static ASCII_KINDS: [Kind; 128] = {
    let mut kinds = [Kind::Other; 128];
    let mut byte = 0;
    while byte < 128 {
        kinds[byte] = match byte as u8 {
            b'a'..=b'z' => Kind::Small,
            b'A'..=b'Z' => Kind::Capital,
            b'0'..=b'9' => Kind::Digit,
            b'.' => Kind::Dot,
            b':' => Kind::Colon,
            b'/' => Kind::Slash,
            b'_' | b'@' | b'\\' => Kind::Joiner,
            b'\'' => Kind::Apostrophe,
            _ => Kind::Other,
        };
        byte += 1;
    }
    kinds
};

pub(super) const FNV_BASIS: u32 = 0x811c_9dc5;

/// One step of 32-bit FNV-1a, by character.
pub(super) fn hash(state: u32, c: char) -> u32 {
    (state ^ u32::from(c)).wrapping_mul(0x0100_0193)
}

/// The concept of two characters of a script without blanks.
pub(super) fn pair(before: char, c: char) -> u32 {
    hash(hash(FNV_BASIS, before), c)
}

fn lower(c: char) -> char {
    match c.is_ascii() {
        true => c.to_ascii_lowercase(),
        false => c.to_lowercase().next().unwrap_or(c),
    }
}
