//! A set of cues.

use std::ops::BitOrAssign;

/// What the words of a sentence show, as a set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cues(u32);

impl Cues {
    /// It restricts what may be done, or says how it is always to be done: "never", "must", "from now on".
    pub const CONSTRAINT: Self = Self(1);
    /// It asks for something to be done.
    pub const REQUEST: Self = Self(1 << 1);
    /// It replaces what was said before: "actually", "instead", "I meant".
    pub const CORRECTION: Self = Self(1 << 2);
    /// It settles something: "let's go with", "agreed".
    pub const DECISION: Self = Self(1 << 3);
    /// Something cannot be done, or is not allowed.
    pub const REFUSAL: Self = Self(1 << 4);
    /// It says what will be done, or is still to do.
    pub const PROMISE: Self = Self(1 << 6);
    /// It opens with a greeting, thanks or an offer of help.
    pub const COURTESY: Self = Self(1 << 7);
    /// It opens by agreeing.
    pub const AFFIRMS: Self = Self(1 << 8);
    /// It opens by turning something down.
    pub const DENIES: Self = Self(1 << 9);

    /// It may say what holds from now on in place of what was said before: "now", "new", "from today".
    pub const UPDATE: Self = Self(1 << 10);

    /// Behind a denial, it says what does not hold: "No, it is Friday, not Monday."
    pub(super) const CONTRAST: Self = Self(1 << 11);
    /// Words that can stand before the beginning.
    pub(super) const LEAD: Self = Self(1 << 12);
    /// Verbs that say what may be done.
    pub(super) const MODAL: Self = Self(1 << 13);
    /// Words that restrict what is beside them.
    pub(super) const ONLY: Self = Self(1 << 14);
    /// Phrases that show nothing, and hide shorter ones in them that would.
    const PLAIN: Self = Self(1 << 15);

    /// Those behind which a sentence still begins: "Yes, please book it".
    pub(super) const OPENING: Self = Self::COURTESY.or(Self::AFFIRMS).or(Self::DENIES);

    /// The names of the cues in `cues.tsv`.
    pub(super) const NAMES: [(&str, Self); 15] = [
        ("constraint", Self::CONSTRAINT),
        ("request", Self::REQUEST),
        ("correction", Self::CORRECTION),
        ("decision", Self::DECISION),
        ("refusal", Self::REFUSAL),
        ("promise", Self::PROMISE),
        ("courtesy", Self::COURTESY),
        ("affirms", Self::AFFIRMS),
        ("denies", Self::DENIES),
        ("update", Self::UPDATE),
        ("contrast", Self::CONTRAST),
        ("lead", Self::LEAD),
        ("modal", Self::MODAL),
        ("only", Self::ONLY),
        ("plain", Self::PLAIN),
    ];

    /// Both sets.
    pub const fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether one of `cues` is among them.
    pub const fn has(self, cues: Self) -> bool {
        self.0 & cues.0 > 0
    }
}

impl BitOrAssign for Cues {
    fn bitor_assign(&mut self, other: Self) {
        *self = self.or(other);
    }
}
