//! Keeps the newest units that fit the limits, with the instructions and the prompt.
//!
//! A unit stays or leaves as a whole, so that no result is without its call. System messages at the head are
//! instructions: they stay as long as they fit with the prompt. Of the rest, the newest stay; the first that
//! does not fit leaves with everything older.

pub use super::cost::{Cost, Limit, Limits};
use super::{Entry, Recalled, Unit};
use crate::{Refusal, Result, Role};

/// What a format costs besides the units.
#[derive(Clone, Copy, Debug, Default)]
pub struct Frame {
    /// The cost of what surrounds all messages.
    pub around: Cost,
    /// The cost of what precedes an assistant's message that would be the first of the conversation.
    pub lead: Cost,
}

/// The part of a history that stays.
#[derive(Clone, Debug)]
pub struct Kept<'u> {
    units: &'u [Unit],
    /// The places of the units that stay: first the instructions, then the newest ones, then the prompt.
    places: Vec<usize>,
    /// How many of them are instructions.
    head: usize,
    /// What is recalled of the other units; it is placed before the user's newest message.
    pub recalled: Option<Recalled>,
    /// The places of the other units, each with the limit that it does not fit.
    pub left_out: Vec<(usize, Limit)>,
}

/// The number of system messages at the head of a history.
pub(super) fn head(units: &[Unit]) -> usize {
    units.iter().take_while(|unit| unit.role() == Role::System).count()
}

/// Cuts `units` to `most`.
///
/// Refuses a prompt that by itself exceeds a limit, and names the number that it needs.
pub fn cut(units: &[Unit], most: Cost, frame: Frame) -> Result<Kept<'_>> {
    let prompt = units.last().filter(|last| last.is_prompt());
    let end = units.len() - usize::from(prompt.is_some());
    let mut used = prompt.map_or(frame.around, |prompt| frame.around.plus(prompt.cost));
    if let Some(limit) = used.above(most).filter(|_| prompt.is_some()) {
        return Err(too_small(limit, most, used));
    }
    let head = head(units);
    let mut kept = Kept { units, places: Vec::new(), head: 0, recalled: None, left_out: Vec::new() };
    for (place, unit) in units[..head].iter().enumerate() {
        let with = used.plus(unit.cost);
        match with.above(most) {
            None => {
                used = with;
                kept.places.push(place);
            }
            Some(limit) => kept.left_out.push((place, limit)),
        }
    }
    kept.head = kept.places.len();
    let (start, limit) = newest(&units[head..end], used, most, frame.lead);
    kept.left_out.extend((head..head + start).filter_map(|place| Some((place, limit?))));
    kept.places.extend(head + start..units.len());
    Ok(kept)
}

/// The refusal of a limit that is too small for the prompt alone, which costs `needed`.
pub fn too_small(limit: Limit, most: Cost, needed: Cost) -> Refusal {
    let (most, needed) = (most.of(limit), needed.of(limit));
    let text = format!("is {most}; the prompt alone needs {needed}, which is the least accepted");
    Refusal::invalid(limit.field(), text)
}

/// Where the longest end of `history` begins that fits in addition to the `used` cost, and the limit that the
/// unit before it exceeds.
fn newest(history: &[Unit], mut used: Cost, most: Cost, lead: Cost) -> (usize, Option<Limit>) {
    let (mut start, mut reached) = (history.len(), None);
    for (place, unit) in history.iter().enumerate().rev() {
        used = used.plus(unit.cost);
        if let Some(limit) = used.above(most) {
            return (start, Some(limit));
        }
        // A unit that needs a lead stays only if the lead fits too; an older unit may not need one.
        let lead = if unit.role() == Role::Assistant { lead } else { Cost::default() };
        reached = used.plus(lead).above(most);
        if reached.is_none() {
            start = place;
        }
    }
    (start, reached)
}

impl Kept<'_> {
    /// Drops the oldest unit, then the recalled message, and the instructions last; returns false if only the
    /// prompt is left.
    pub fn drop_oldest(&mut self, limit: Limit) -> bool {
        let prompt = self.units.last().is_some_and(Unit::is_prompt);
        let end = self.places.len() - usize::from(prompt);
        if self.head == end && self.recalled.take().is_some() {
            return true;
        }
        let oldest = if self.head < end { Some(self.head) } else { self.head.checked_sub(1) };
        let Some(oldest) = oldest else { return false };
        self.head = self.head.min(oldest);
        self.left_out.push((self.places.remove(oldest), limit));
        true
    }

    /// Every message that stays, in order.
    pub fn entries(&self) -> impl Iterator<Item = &Entry> {
        let units = self.units;
        let newest = self.places.iter().rposition(|place| units[*place].role() == Role::User);
        let (older, newer) = self.places.split_at(newest.unwrap_or(self.places.len()));
        let recalled = self.recalled.iter().map(|recalled| &recalled.message);
        let entries = move |place: &usize| units[*place].entries();
        older.iter().flat_map(entries).chain(recalled).chain(newer.iter().flat_map(entries))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Draft, history::test_units::*};

    /// A message costs the bytes of its text; an assistant's at the head costs ten for what precedes it.
    const FRAME: Frame = Frame {
        around: Cost { messages: 0, bytes: 2, tokens: 0 },
        lead: Cost { messages: 0, bytes: 10, tokens: 0 },
    };
    const WIDE: Limits = Limits { messages: 100, bytes: 1_000, tokens: None };

    fn kept<const N: usize>(drafts: [Draft; N], limits: Limits) -> (Vec<usize>, Vec<(usize, Limit)>) {
        let mut units = units(drafts);
        units.push(prompt());
        let kept = cut(&units, limits.into(), FRAME).unwrap();
        (kept.entries().filter_map(|entry| entry.index).collect(), kept.left_out)
    }

    #[test]
    fn the_newest_stay() {
        let said = || [user("1"), assistant("2"), user("3"), assistant("4")];
        assert_eq!(kept(said(), WIDE), (vec![0, 1, 2, 3], vec![]));
        let two = kept(said(), Limits { messages: 2, ..WIDE });
        assert_eq!(two, (vec![2, 3], vec![(0, Limit::Messages), (1, Limit::Messages)]));
        let tokens = kept(said(), Limits { tokens: Some(2), ..WIDE });
        assert_eq!(tokens, (vec![3], (0..3).map(|place| (place, Limit::Tokens)).collect()));
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
        let (places, left_out) = kept(long, Limits { bytes: 12, ..WIDE });
        assert_eq!((places, left_out), (vec![1], vec![(0, Limit::Bytes)]));
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
        let refused =
            |limits: Limits| cut(&[prompt()], limits.into(), FRAME).map(drop).unwrap_err().to_string();
        let bytes = refused(Limits { bytes: 7, ..WIDE });
        assert_eq!(bytes, "max_bytes: is 7; the prompt alone needs 8, which is the least accepted");
        assert!(
            refused(Limits { tokens: Some(0), ..WIDE })
                .starts_with("token_budget: is 0; the prompt alone needs 1")
        );
    }

    #[test]
    fn the_oldest_goes_first_and_the_instructions_last() {
        let mut units = units([system("s"), system("t"), user("1"), assistant("2")]);
        units.push(prompt());
        let mut kept = cut(&units, WIDE.into(), FRAME).unwrap();
        while kept.drop_oldest(Limit::Bytes) {}
        assert_eq!(kept.left_out.iter().map(|(place, _)| *place).collect::<Vec<_>>(), [2, 3, 1, 0]);
        assert_eq!(kept.entries().count(), 1);
    }
}
