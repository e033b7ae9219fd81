//! How a budget is shared out.

use crate::extractive::sentence::{Sentence, total};

/// A part of a summary with a share of its own. The ledger has what the others leave, and a share that they cannot take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Section {
    /// What the conversation is for.
    Goal,
    /// What is open.
    Open,
    /// The last check and the last error.
    Checks,
    /// What was done.
    Acts,
    /// What the changes were for.
    Steps,
    /// The user's sentences.
    User,
    /// The sentences of others.
    Others,
}

/// The share of each section in percent, and its most tokens in a budget of up to [`CAPPED_TOKENS`].
const SHARES: [(Section, u64, u32); 7] = [
    (Section::Goal, 18, 110),
    (Section::Open, 18, 130),
    (Section::Checks, 16, 110),
    (Section::Acts, 26, 340),
    (Section::Steps, 7, 120),
    (Section::User, 23, 330),
    (Section::Others, 8, 180),
];
/// The shares of sentences if no tool was called: then what was said matters most.
const TALK: [(Section, u64, u32); 2] = [(Section::User, 40, 500), (Section::Others, 30, 400)];
/// The share of users' sentences where programs are run: the names in a result count less there than what was asked.
const WORK: [(Section, u64, u32); 1] = [(Section::User, 32, 400)];
/// The most that acts get if their shortest lines need it, in percent.
const MOST_ACTS_PERCENT: u64 = 45;
/// What the ledger has for sure unless people only talk, in percent: the next calls need its names.
const FACTS_PERCENT: u32 = 15;
/// A larger budget has no caps.
const CAPPED_TOKENS: u32 = 1_000;
/// The least share that a section gets, in tokens.
const LEAST: u32 = 24;
/// The least share of the user's sentences, in tokens.
const LEAST_USER: u32 = 40;

/// What is left of a budget.
pub(super) struct Shares {
    budget: u32,
    left: u32,
    is_talk: bool,
    /// Programs were run, or files changed.
    is_work: bool,
    /// Everything fits: no section needs a limit.
    fits: bool,
    /// The tokens that are kept for facts.
    facts: u32,
}

impl Shares {
    pub(super) fn new(budget: u32, is_talk: bool, is_work: bool, fits: bool) -> Self {
        let facts = if is_talk { 0 } else { budget / 100 * FACTS_PERCENT };
        Self { budget, left: budget, is_talk, is_work, fits, facts }
    }

    /// The tokens that are left for all.
    pub(super) fn left(&self) -> u32 {
        self.left
    }

    /// The tokens that a section can have.
    pub(super) fn room(&self, section: Section) -> u32 {
        if self.fits {
            return self.left;
        }
        let talk = TALK.iter().filter(|_| self.is_talk);
        let work = WORK.iter().filter(|_| self.is_work);
        let share = talk.chain(work).chain(&SHARES).find(|share| share.0 == section);
        let (_, percent, most) = share.copied().unwrap_or((section, 0, 0));
        let most = if self.budget <= CAPPED_TOKENS { most } else { u32::MAX };
        let share = u32::try_from(u64::from(self.budget) * percent / 100).unwrap_or(u32::MAX);
        let least = if section == Section::User { LEAST_USER } else { LEAST };
        share.min(most).max(least).min(self.spare())
    }

    /// The tokens that are left for more than facts.
    pub(super) fn spare(&self) -> u32 {
        self.left.saturating_sub(self.facts)
    }

    /// The tokens that acts can have so that each is told, or at least counted.
    pub(super) fn most_acts(&self) -> u32 {
        let most = u64::from(self.budget) * MOST_ACTS_PERCENT / 100;
        u32::try_from(most).unwrap_or(u32::MAX).min(self.left)
    }

    /// Notes that tokens are spent.
    pub(super) fn spent(&mut self, tokens: u32) {
        self.left = self.left.saturating_sub(tokens);
    }

    /// Writes a section within its share.
    pub(super) fn spend(
        &mut self,
        section: Section,
        write: impl FnOnce(u32) -> Vec<Sentence>,
    ) -> Vec<Sentence> {
        let lines = write(self.room(section));
        self.spent(total(&lines));
        lines
    }
}
