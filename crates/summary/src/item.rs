//! What a summary is chosen from, and made of.

use std::sync::Arc;

use utterd_text::Kind as Shape;

use crate::read::{Form, Read};

/// The worth of an item about which nothing is known.
pub const WORTH: u32 = 1_000;

/// How a call ended that has no result.
pub(crate) const NO_ANSWER: &str = "no answer";

/// How the change of a file ended that came after the last commit.
pub(crate) const UNCOMMITTED: &str = "ok, not committed yet";

/// Seconds of a day.
pub(crate) const DAY: i64 = 24 * 60 * 60;

/// One statement, deed, fact or open matter: the smallest part of a summary that is chosen, told and forgotten.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Item {
    /// What it tells.
    pub kind: Kind,
    /// Who said it, the tool that did it, the object that a fact is about, or what kind of open matter it is.
    pub head: Arc<str>,
    /// The words, the object of a deed, the value of a fact.
    pub text: Arc<str>,
    /// The question that a short answer needs, how a deed ended, the label of a value.
    pub note: Arc<str>,
    /// What is known of it.
    pub marks: Marks,
    /// The utterance that it is taken from; 0 if it is from none that is known.
    pub sequence: u64,
    /// Another one that it depends on: the result of a call, the question of an answer.
    pub also: Option<u64>,
    /// How much a reader misses without it, among items of its kind, in thousandths.
    pub worth: u32,
    /// When it was said, in days since 1970, if that matters; otherwise 0.
    pub day: u32,
    /// Who named it, and when, if it is a name or a value.
    pub seen: Option<Seen>,
    /// Its place among the items that a summary is made from.
    #[serde(skip)]
    pub(crate) given: usize,
    /// Its words, once they were read.
    #[serde(skip)]
    pub(crate) read: Read,
}

/// What an item tells, in the order of a summary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
pub enum Kind {
    /// A line of an earlier summary, as it stands.
    Quoted,
    /// What the conversation is for.
    Goal,
    /// What somebody said.
    Said,
    /// A call that changed something, or tried to, and how it ended.
    Did,
    /// What a change was for.
    Step,
    /// The last test, build or run, and how it ended.
    Check,
    /// What failed.
    Error,
    /// A name, or a value of a thing.
    Fact,
    /// What is open.
    Open,
}

/// Who named a thing, and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Seen {
    /// What it looks like.
    pub shape: Shape,
    /// How many messages of users name it.
    pub users: u32,
    /// How many of the assistant.
    pub assistants: u32,
    /// How many calls.
    pub calls: u32,
    /// How many results.
    pub results: u32,
    /// The last utterance that names it.
    pub last: u64,
    /// The last call that does.
    pub used: Option<u64>,
}

/// A set of marks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Marks(pub u32);

impl Marks {
    /// A user said it.
    pub const USER: Self = Self(1);
    /// The assistant said it.
    pub const ASSISTANT: Self = Self(1 << 1);
    /// It restricts what may be done, or asks for something of every reply.
    pub const CONSTRAINT: Self = Self(1 << 2);
    /// It asks for something.
    pub const REQUEST: Self = Self(1 << 3);
    /// It takes back or changes what was said.
    pub const CORRECTION: Self = Self(1 << 4);
    /// It decides.
    pub const DECISION: Self = Self(1 << 5);
    /// It answers a question, or chooses from an offer.
    pub const ANSWER: Self = Self(1 << 6);
    /// It agrees, and says nothing else.
    pub const AFFIRMS: Self = Self(1 << 7);
    /// It is a question.
    pub const QUESTION: Self = Self(1 << 8);
    /// It says what comes next or is left to do.
    pub const PROMISE: Self = Self(1 << 9);
    /// The deed failed, or so did the check.
    pub const FAILED: Self = Self(1 << 10);
    /// A commit came after the deed.
    pub const COMMITTED: Self = Self(1 << 11);
    /// The title of an issue or a task.
    pub const TITLE: Self = Self(1 << 12);
    /// The check tests, builds or lints.
    pub const TESTS: Self = Self(1 << 13);
    /// Somebody said it who talks with others, of whom none calls tools.
    pub const PERSON: Self = Self(1 << 17);
    /// It may take the place of what was said, if that has another value: "now", "from now on".
    pub const UPDATE: Self = Self(1 << 14);
    /// It opens with a denial, and says more.
    pub const DENIAL: Self = Self(1 << 20);
    /// Its message also calls tools.
    pub const CALLS: Self = Self(1 << 15);
    /// The check came before a later change, or what failed worked later.
    pub const OUTDATED: Self = Self(1 << 16);
    /// It is of an item of a list, which says little without the others.
    pub const LISTED: Self = Self(1 << 19);
    /// Its text is the number of deeds that are no longer known one by one.
    pub const COUNTED: Self = Self(1 << 18);
    /// The earlier statement that it replaces was found.
    pub const SETTLED: Self = Self(1 << 21);

    /// Whether all of `other` are set.
    pub fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Whether any of `other` is set.
    pub fn has_any(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// With `other`.
    pub fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// With `other` if `set`.
    pub fn with_if(self, set: bool, other: Self) -> Self {
        if set { self.with(other) } else { self }
    }
}

impl Item {
    /// An item without a note.
    pub fn new(kind: Kind, head: impl Into<Arc<str>>, text: impl Into<Arc<str>>, sequence: u64) -> Self {
        Self {
            kind,
            head: head.into(),
            text: text.into(),
            note: Arc::default(),
            marks: Marks::default(),
            sequence,
            also: None,
            worth: WORTH,
            day: 0,
            seen: None,
            given: 0,
            read: Read::default(),
        }
    }

    /// As it was before it was settled what holds of all, so that it can be settled again with others.
    pub(crate) fn unsettled(&self, given: &Self) -> Self {
        let mut unsettled = Self { given: 0, ..given.clone() };
        // what a statement replaced is gone
        if self.marks.has(Marks::SETTLED) {
            unsettled.marks = unsettled.marks.with(Marks::SETTLED);
        }
        if self.marks.has(Marks::CORRECTION) {
            unsettled.correct();
        }
        // the question that was said yes to is told by whoever asked
        if self.head == given.head {
            (unsettled.text, unsettled.read, unsettled.seen) =
                (self.text.clone(), self.read.clone(), self.seen);
            // the commit may be left out before what is in it
            let is_committed = self.marks.has(Marks::COMMITTED);
            unsettled.marks = unsettled.marks.with_if(is_committed, Marks::COMMITTED);
        }
        unsettled
    }

    /// Marks a statement that replaces another one, and is worth more by that.
    pub(crate) fn correct(&mut self) {
        if !self.marks.has(Marks::CORRECTION) {
            (self.marks, self.worth) = (self.marks.with(Marks::CORRECTION), self.worth * 9 / 5);
        }
    }

    /// Changes what it tells.
    pub(crate) fn say(&mut self, text: Arc<str>) {
        (self.text, self.read) = (text, Read::default());
    }

    /// What its words mean, without those that only carry it.
    pub(crate) fn concepts(&self) -> &[u64] {
        &self.read.words(&self.text).concepts
    }

    /// What its words name: names and values, and their shapes.
    pub(crate) fn named(&self) -> impl Iterator<Item = (Shape, &str)> {
        self.read.words(&self.text).named(&self.text)
    }

    /// What it is that it says the value of, in small letters: `my address is`. Empty if it says none.
    pub(crate) fn thing(&self) -> &str {
        self.read.words(&self.text).thing(&self.text)
    }

    /// What the words mean that say of which thing it says the value.
    pub(crate) fn thing_concepts(&self) -> Vec<u64> {
        self.read.words(&self.text).thing_concepts(&self.text)
    }

    /// What its words mean that are neither its label in capitals nor in what it names.
    pub(crate) fn subject(&self) -> &[u64] {
        self.read.words(&self.text).subject(&self.text)
    }

    /// What it has in common with statements that differ only in their numbers.
    pub(crate) fn statement(&self) -> u64 {
        self.read.words(&self.text).statement(&self.text)
    }

    /// What the length of its line depends on beside its text.
    pub(crate) fn form(&self) -> Form {
        (self.kind as u32, self.marks.0 & !Marks::SETTLED.0, self.head.len(), self.note.len())
    }

    /// How much a reader misses without it.
    pub(crate) fn worth(&self) -> f64 {
        f64::from(self.worth) / f64::from(WORTH)
    }

    /// Whether it is the value of a thing.
    pub fn is_value(&self) -> bool {
        self.kind == Kind::Fact && self.seen.is_none()
    }

    /// Deeds of which nothing but their number is known.
    pub(crate) fn counted(deeds: u64) -> Self {
        Self { marks: Marks::COUNTED, ..Self::new(Kind::Did, "", deeds.to_string(), 0) }
    }

    /// Whether it is a deed that worked.
    pub(crate) fn worked(&self) -> bool {
        self.kind == Kind::Did && matches!(&*self.note, "" | UNCOMMITTED) && !self.marks.has(Marks::FAILED)
    }

    /// Whether it is a commit: `git commit`.
    pub(crate) fn commits(&self) -> bool {
        self.worked() && self.head.ends_with(" commit")
    }

    /// How many deeds it stands for.
    pub(crate) fn deeds(&self) -> u64 {
        match self.kind {
            Kind::Did if self.marks.has(Marks::COUNTED) => self.text.parse().unwrap_or(0),
            Kind::Did => 1,
            _ => 0,
        }
    }
}

/// Keeps the items that `keep` names.
pub fn retain(items: &mut Vec<Item>, keep: &[bool]) {
    if keep.contains(&false) {
        let mut keep = keep.iter();
        items.retain(|_| keep.next().copied().unwrap_or(true));
    }
}
