//! Keeps the newest units that fit the limits, with the instructions and the prompt.
//!
//! A unit stays or leaves as a whole, so that no result is without its call. System messages at the head are
//! instructions: they stay as long as they fit with the prompt. Of the rest, the newest stay; the first that
//! does not fit leaves with everything older.

use super::{DropReason, Dropped, Entry, Recalled, Unit};
use crate::domain::{Refusal, Role};

/// How much of a history can stay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Messages, without the prompt.
    pub messages: usize,
    /// Bytes of everything that is sent.
    pub bytes: usize,
    /// Tokens of everything that is sent; `None` means any number.
    pub tokens: Option<u32>,
}

impl Limits {
    /// What is left after `cost`, if there is room for that.
    pub fn less(self, cost: Cost) -> Option<Self> {
        let tokens = self.tokens.map(|most| u64::from(most).checked_sub(cost.tokens));
        Some(Self {
            messages: self.messages.checked_sub(cost.messages)?,
            bytes: self.bytes.checked_sub(cost.bytes)?,
            tokens: match tokens {
                None => None,
                Some(left) => Some(u32::try_from(left?).ok()?),
            },
        })
    }
}

/// What messages cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// Their number, without the prompt.
    pub messages: usize,
    /// Their bytes.
    pub bytes: usize,
    /// Their tokens.
    pub tokens: u64,
}

impl Cost {
    /// The sum of both.
    pub fn and(self, other: Self) -> Self {
        Self {
            messages: self.messages + other.messages,
            bytes: self.bytes + other.bytes,
            tokens: self.tokens + other.tokens,
        }
    }

    /// The limit that it exceeds.
    pub fn above(self, limits: &Limits) -> Option<Above> {
        let of = |limit, most: u64, needed: u64| (needed > most).then_some(Above { limit, most, needed });
        of(Limit::Messages, limits.messages as u64, self.messages as u64)
            .or_else(|| of(Limit::Bytes, limits.bytes as u64, self.bytes as u64))
            .or_else(|| of(Limit::Tokens, limits.tokens?.into(), self.tokens))
    }
}

/// One of the [`Limits`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// Of messages.
    Messages,
    /// Of bytes.
    Bytes,
    /// Of tokens.
    Tokens,
}

impl Limit {
    /// The field of a request that sets it.
    pub fn field(self) -> &'static str {
        match self {
            Self::Messages => "max_messages",
            Self::Bytes => "max_bytes",
            Self::Tokens => "token_budget",
        }
    }
}

impl From<Limit> for DropReason {
    fn from(limit: Limit) -> Self {
        match limit {
            Limit::Messages => Self::MaxMessages,
            Limit::Bytes => Self::MaxBytes,
            Limit::Tokens => Self::TokenBudget,
        }
    }
}

/// A limit that is too small.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Above {
    /// Which one.
    pub limit: Limit,
    /// What it allows.
    pub most: u64,
    /// The least that would be enough.
    pub needed: u64,
}

impl Above {
    /// The refusal of a prompt that does not fit by itself.
    pub fn refusal(self) -> Refusal {
        let Self { limit, most, needed } = self;
        let text = format!("is {most}; the prompt alone needs {needed}, which is the least accepted");
        Refusal::invalid(limit.field(), text)
    }

    fn dropped(self, entry: &Entry) -> Option<Dropped> {
        let Self { limit, most, .. } = self;
        let text = format!("does not fit: {} is {most}, and newer messages take precedence", limit.field());
        Some(Dropped { index: entry.index?, reason: limit.into(), text })
    }
}

/// Measures messages in a format.
pub trait Measure {
    /// The cost of everything that is not a message.
    fn frame(&self) -> Cost;
    /// The maximum cost of the message.
    fn entry(&self, entry: &Entry) -> Cost;
    /// The cost of what must precede a unit that would be the first of the conversation.
    fn lead(&self, first: &Unit) -> Cost;
}

/// The part of a history that stays.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Kept {
    /// System messages at the head.
    pub instructions: Vec<Unit>,
    /// What follows them, without the prompt.
    pub history: Vec<Unit>,
    /// What is recalled of the rest; it is placed before the user's newest message.
    pub recalled: Option<Recalled>,
    /// The user's new message.
    pub prompt: Option<Unit>,
}

/// Cuts `units` to the limits; returns what stays and what leaves.
///
/// Refuses a prompt that by itself exceeds a limit, and names the number that it needs.
pub fn cut(
    mut units: Vec<Unit>,
    limits: &Limits,
    measure: &dyn Measure,
) -> Result<(Kept, Vec<Dropped>), Refusal> {
    let prompt = units.pop_if(|unit| unit.message.index.is_none());
    let mut kept = Kept { prompt, ..Kept::default() };
    let mut used = kept.prompt.iter().fold(measure.frame(), |used, prompt| used.and(cost(prompt, measure)));
    if let Some(above) = used.above(limits).filter(|_| kept.prompt.is_some()) {
        return Err(above.refusal());
    }
    let rest = units.iter().position(|unit| unit.role() != Role::System).unwrap_or(units.len());
    let history = units.split_off(rest);
    let mut dropped = Vec::new();
    for unit in units {
        let with = used.and(cost(&unit, measure));
        match with.above(limits) {
            None => {
                used = with;
                kept.instructions.push(unit);
            }
            Some(above) => dropped.extend(unit.entries().filter_map(|entry| above.dropped(entry))),
        }
    }
    kept.history = newest(history, used, limits, measure, &mut dropped);
    Ok((kept, dropped))
}

/// The longest end of `history` that fits in addition to what is `used`.
fn newest(
    mut history: Vec<Unit>,
    mut used: Cost,
    limits: &Limits,
    measure: &dyn Measure,
    dropped: &mut Vec<Dropped>,
) -> Vec<Unit> {
    let mut start = history.len();
    let mut reached = None;
    for (place, unit) in history.iter().enumerate().rev() {
        used = used.and(cost(unit, measure));
        reached = used.above(limits);
        if reached.is_some() {
            break;
        }
        // A unit that needs something before it stays only if that fits too; an older unit may not need it.
        let led = used.and(measure.lead(unit)).above(limits);
        match led {
            None => start = place,
            Some(above) => reached = Some(above),
        }
    }
    let kept = history.split_off(start);
    let leaving = history.iter().flat_map(Unit::entries);
    dropped.extend(leaving.filter_map(|entry| reached?.dropped(entry)));
    kept
}

impl Kept {
    /// Drops the oldest unit, then what is recalled, and the instructions last; returns false if only the
    /// prompt is left.
    pub fn drop_oldest(&mut self, above: Above, dropped: &mut Vec<Dropped>) -> bool {
        if self.history.is_empty() && self.recalled.take().is_some() {
            return true;
        }
        let oldest = match self.history.is_empty() {
            true => self.instructions.pop(),
            false => Some(self.history.remove(0)),
        };
        dropped.extend(oldest.iter().flat_map(Unit::entries).filter_map(|entry| above.dropped(entry)));
        oldest.is_some()
    }

    /// Every message that stays, in order.
    pub fn entries(&self) -> impl Iterator<Item = &Entry> {
        let asked = self.history.iter().rposition(|unit| unit.role() == Role::User);
        let newest = asked.filter(|_| self.prompt.is_none()).unwrap_or(self.history.len());
        let (older, newer) = self.history.split_at(newest);
        let recalled = self.recalled.iter().map(|recalled| &recalled.message);
        let units = self.instructions.iter().chain(older).chain(recalled).chain(newer).chain(&self.prompt);
        units.flat_map(Unit::entries)
    }
}

fn cost(unit: &Unit, measure: &dyn Measure) -> Cost {
    unit.entries().map(|entry| measure.entry(entry)).fold(Cost::default(), Cost::and)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{
        Draft,
        history::{pairing::pair, test_entries::*},
    };

    /// A message costs the bytes of its text; an assistant's at the head costs ten for what precedes it.
    struct Plain;

    impl Measure for Plain {
        fn frame(&self) -> Cost {
            Cost { bytes: 2, ..Cost::default() }
        }

        fn entry(&self, entry: &Entry) -> Cost {
            let bytes = entry.draft.content.len();
            Cost { messages: usize::from(entry.index.is_some()), bytes, tokens: 1 }
        }

        fn lead(&self, first: &Unit) -> Cost {
            let bytes = if first.role() == Role::Assistant { 10 } else { 0 };
            Cost { bytes, ..Cost::default() }
        }
    }

    const WIDE: Limits = Limits { messages: 100, bytes: 1_000, tokens: None };

    fn kept<const N: usize>(drafts: [Draft; N], limits: Limits) -> (Vec<usize>, Vec<(usize, DropReason)>) {
        let mut entries = numbered(drafts);
        entries.push(Entry { index: None, draft: user("prompt") });
        let (kept, dropped) = cut(pair(entries).units, &limits, &Plain).unwrap();
        let places = kept.entries().filter_map(|entry| entry.index).collect();
        (places, dropped.iter().map(|dropped| (dropped.index, dropped.reason)).collect())
    }

    #[test]
    fn the_newest_stay() {
        let said = || [user("1"), assistant("2"), user("3"), assistant("4")];
        assert_eq!(kept(said(), WIDE), (vec![0, 1, 2, 3], vec![]));
        let two = kept(said(), Limits { messages: 2, ..WIDE });
        assert_eq!(two, (vec![2, 3], vec![(0, DropReason::MaxMessages), (1, DropReason::MaxMessages)]));
        let tokens = kept(said(), Limits { tokens: Some(2), ..WIDE });
        assert_eq!(tokens, (vec![3], (0..3).map(|index| (index, DropReason::TokenBudget)).collect()));
    }

    #[test]
    fn an_exchange_stays_whole_or_leaves_whole() {
        let said = || [user("1"), calls("2", &["a", "b"]), result("a"), result("b"), assistant("5")];
        for (messages, places) in [(1, vec![4]), (2, vec![4]), (3, vec![4]), (4, vec![1, 2, 3, 4])] {
            assert_eq!(kept(said(), Limits { messages, ..WIDE }).0, places, "{messages}");
        }
    }

    #[test]
    fn instructions_stay_before_anything_else() {
        let said = || [system("s"), user("1"), assistant("2"), user("3")];
        assert_eq!(kept(said(), Limits { messages: 2, ..WIDE }).0, [0, 3]);
        assert_eq!(kept(said(), Limits { messages: 1, ..WIDE }).0, [0]);
        let long = [system("a long instruction"), user("1")];
        let (places, dropped) = kept(long, Limits { bytes: 12, ..WIDE });
        assert_eq!((places, dropped), (vec![1], vec![(0, DropReason::MaxBytes)]));
    }

    #[test]
    fn what_has_to_stand_before_the_first_counts() {
        let said = || [user("1"), assistant("2"), user("3"), assistant("4")];
        // Two bytes of frame, six of the prompt, one of each message, ten before an assistant's.
        assert_eq!(kept(said(), Limits { bytes: 9, ..WIDE }).0, [0; 0]);
        assert_eq!(kept(said(), Limits { bytes: 10, ..WIDE }).0, [2, 3]);
        assert_eq!(kept(said(), Limits { bytes: 12, ..WIDE }).0, [0, 1, 2, 3]);
        assert_eq!(kept([assistant("2"), user("3")], Limits { bytes: 19, ..WIDE }).0, [1]);
        assert_eq!(kept([assistant("2"), user("3")], Limits { bytes: 20, ..WIDE }).0, [0, 1]);
    }

    #[test]
    fn a_prompt_that_fits_no_limit_is_refused_with_the_number_it_needs() {
        let refused = |limits| {
            let entries = vec![Entry { index: None, draft: user("prompt") }];
            cut(pair(entries).units, &limits, &Plain).unwrap_err().to_string()
        };
        let bytes = refused(Limits { bytes: 7, ..WIDE });
        assert_eq!(bytes, "max_bytes: is 7; the prompt alone needs 8, which is the least accepted");
        assert!(
            refused(Limits { tokens: Some(0), ..WIDE })
                .starts_with("token_budget: is 0; the prompt alone needs 1")
        );
    }

    #[test]
    fn the_oldest_goes_first_and_the_instructions_last() {
        let entries = numbered([system("s"), user("1"), assistant("2")]);
        let (mut kept, _) = cut(pair(entries).units, &WIDE, &Plain).unwrap();
        let above = Above { limit: Limit::Bytes, most: 1, needed: 2 };
        let mut dropped = Vec::new();
        while kept.drop_oldest(above, &mut dropped) {}
        assert_eq!(dropped.iter().map(|dropped| dropped.index).collect::<Vec<_>>(), [1, 2, 0]);
    }
}
