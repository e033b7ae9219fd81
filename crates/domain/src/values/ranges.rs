//! A set of sequences, kept as ascending ranges that do not touch.

use std::{fmt, ops::RangeInclusive};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};
use smallvec::SmallVec;

use crate::Sequence;

/// A set of sequences. Its cost in memory and time grows with the number of ranges, not of members.
#[derive(Clone, Default, PartialEq, Eq, Hash)]
pub struct Ranges(SmallVec<[(u64, u64); 1]>);

impl Serialize for Ranges {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(&self.0)
    }
}

impl<'de> Deserialize<'de> for Ranges {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let (ranges, mut least) = (Vec::<(Sequence, Sequence)>::deserialize(from)?, Sequence::FIRST);
        for (first, last) in &ranges {
            if *first < least || last < first {
                return Err(D::Error::custom("the ranges of a set do not ascend, or touch"));
            }
            least = last.next().next();
        }
        Ok(Self(ranges.into_iter().map(|(first, last)| (first.0, last.0)).collect()))
    }
}

impl Ranges {
    /// The empty set.
    pub const fn new() -> Self {
        Self(SmallVec::new_const())
    }

    /// A set of one range; empty when `last` is before `first`.
    pub fn of(first: Sequence, last: Sequence) -> Self {
        let mut ranges = Self::new();
        ranges.insert(first, last);
        ranges
    }

    /// All sequences before `next`.
    pub fn before(next: Sequence) -> Self {
        Self::of(Sequence::FIRST, Sequence(next.0.saturating_sub(1)))
    }

    /// The approximate memory in bytes, in addition to the set itself.
    pub fn memory_bytes(&self) -> usize {
        match self.0.len() {
            0 | 1 => 0,
            ranges => ranges.next_power_of_two() * size_of::<(u64, u64)>(),
        }
    }

    /// Whether the set is empty.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The number of members.
    pub fn count(&self) -> u64 {
        self.0.iter().map(|(first, last)| last - first + 1).sum()
    }

    /// The smallest member.
    pub fn first(&self) -> Option<Sequence> {
        self.0.first().map(|range| Sequence(range.0))
    }

    /// The largest member.
    pub fn last(&self) -> Option<Sequence> {
        self.0.last().map(|range| Sequence(range.1))
    }

    /// Whether `sequence` is a member.
    pub fn contains(&self, sequence: Sequence) -> bool {
        let after = self.0.partition_point(|range| range.0 <= sequence.0);
        after > 0 && self.0[after - 1].1 >= sequence.0
    }

    /// The ranges, ascending.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = RangeInclusive<Sequence>> + '_ {
        self.0.iter().map(|range| Sequence(range.0)..=Sequence(range.1))
    }

    /// The members, ascending.
    pub fn sequences(&self) -> impl DoubleEndedIterator<Item = Sequence> + '_ {
        self.0.iter().flat_map(|range| (range.0..=range.1).map(Sequence))
    }

    /// Adds all of `first..=last`.
    pub fn insert(&mut self, first: Sequence, last: Sequence) {
        if last < first {
            return;
        }
        let (first, last) = (first.0, last.0);
        // most follow the newest one
        if let Some(newest) = self.0.last_mut().filter(|newest| newest.1.checked_add(1) == Some(first)) {
            newest.1 = last;
            return;
        }
        let start = self.0.partition_point(|range| range.1.saturating_add(1) < first);
        let end = self.0.partition_point(|range| range.0 <= last.saturating_add(1));
        let merged = self.0[start..end]
            .iter()
            .fold((first, last), |all, range| (all.0.min(range.0), all.1.max(range.1)));
        match start < end {
            true => {
                self.0[start] = merged;
                self.0.drain(start + 1..end);
            }
            false => self.0.insert(start, merged),
        }
    }

    /// Adds one member.
    pub fn add(&mut self, sequence: Sequence) {
        self.insert(sequence, sequence);
    }

    /// Removes all of `first..=last`.
    pub fn remove(&mut self, first: Sequence, last: Sequence) {
        let (first, last) = (first.0, last.0);
        let start = self.0.partition_point(|range| range.1 < first);
        let end = self.0.partition_point(|range| range.0 <= last);
        if start >= end {
            return;
        }
        let (low, high) = (self.0[start], self.0[end - 1]);
        let left = (low.0 < first).then(|| (low.0, first - 1));
        let right = (high.1 > last).then(|| (last + 1, high.1));
        self.0.drain(start..end);
        self.0.insert_many(start, left.into_iter().chain(right));
    }

    /// Adds every member of `other`.
    pub fn union(&mut self, other: &Self) {
        other.iter().for_each(|range| self.insert(*range.start(), *range.end()));
    }

    /// Removes every member of `other`.
    pub fn subtract(&mut self, other: &Self) {
        other.iter().for_each(|range| self.remove(*range.start(), *range.end()));
    }

    /// The members that are also in `other`.
    pub fn intersection(&self, other: &Self) -> Self {
        let mut rest = self.clone();
        rest.subtract(other);
        let mut common = self.clone();
        common.subtract(&rest);
        common
    }

    /// Whether every member of `other` is in this set.
    pub fn holds(&self, other: &Self) -> bool {
        other.iter().all(|range| {
            let after = self.0.partition_point(|own| own.0 <= range.start().0);
            after > 0 && self.0[after - 1].1 >= range.end().0
        })
    }

    /// Whether any member of `other` is in this set.
    pub fn meets(&self, other: &Self) -> bool {
        other.iter().any(|range| {
            let after = self.0.partition_point(|own| own.0 <= range.end().0);
            after > 0 && self.0[after - 1].1 >= range.start().0
        })
    }

    /// Removes and returns the `count` smallest members.
    pub fn take_first(&mut self, mut count: u64) -> Self {
        let mut taken = Self::new();
        while count > 0 {
            let Some(&(first, last)) = self.0.first() else { break };
            let end = last.min(first + (count - 1));
            taken.insert(Sequence(first), Sequence(end));
            self.remove(Sequence(first), Sequence(end));
            count -= end - first + 1;
        }
        taken
    }

    /// Removes and returns the `count` largest members.
    pub fn take_last(&mut self, mut count: u64) -> Self {
        let mut taken = Self::new();
        while count > 0 {
            let Some(&(first, last)) = self.0.last() else { break };
            let start = first.max((last + 1).saturating_sub(count));
            taken.insert(Sequence(start), Sequence(last));
            self.remove(Sequence(start), Sequence(last));
            count -= last - start + 1;
        }
        taken
    }
}

impl FromIterator<Sequence> for Ranges {
    fn from_iter<I: IntoIterator<Item = Sequence>>(sequences: I) -> Self {
        let mut ranges = Self::new();
        sequences.into_iter().for_each(|sequence| ranges.add(sequence));
        ranges
    }
}

impl fmt::Display for Ranges {
    /// `1-5, 8`; `none` for the empty set.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_empty() {
            return f.write_str("none");
        }
        for (index, (first, last)) in self.0.iter().enumerate() {
            f.write_str(if index == 0 { "" } else { ", " })?;
            if first == last { write!(f, "{first}")? } else { write!(f, "{first}-{last}")? }
        }
        Ok(())
    }
}

impl fmt::Debug for Ranges {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{{{self}}}")
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn members(ranges: &Ranges) -> BTreeSet<u64> {
        ranges.sequences().map(Sequence::get).collect()
    }

    proptest! {
        #[test]
        fn behaves_like_a_set(steps in prop::collection::vec((0..5u8, 1..40u64, 0..8u64), 0..60)) {
            let (mut ranges, mut naive) = (Ranges::new(), BTreeSet::new());
            for (step, first, length) in steps {
                let last = first + length;
                match step {
                    0 | 1 => { ranges.insert(Sequence(first), Sequence(last)); naive.extend(first..=last); }
                    2 => { ranges.remove(Sequence(first), Sequence(last)); naive.retain(|s| !(first..=last).contains(s)); }
                    3 => {
                        let taken = ranges.take_last(length);
                        let expected: BTreeSet<u64> = naive.iter().rev().copied().take(length as usize).collect();
                        naive.retain(|s| !expected.contains(s));
                        prop_assert_eq!(members(&taken), expected);
                    }
                    _ => {
                        let taken = ranges.take_first(length);
                        let expected: BTreeSet<u64> = naive.iter().copied().take(length as usize).collect();
                        naive.retain(|s| !expected.contains(s));
                        prop_assert_eq!(members(&taken), expected);
                    }
                }
                prop_assert_eq!(members(&ranges), naive.clone());
                prop_assert_eq!(ranges.count(), naive.len() as u64);
                prop_assert!(ranges.0.windows(2).all(|pair| pair[0].1 + 1 < pair[1].0));
                prop_assert!((1..60).all(|s| ranges.contains(Sequence(s)) == naive.contains(&s)));
            }
        }

        #[test]
        fn intersects_like_a_set(a in prop::collection::btree_set(1..50u64, 0..30), b in prop::collection::btree_set(1..50u64, 0..30)) {
            let ranges = |set: &BTreeSet<u64>| set.iter().copied().map(Sequence).collect::<Ranges>();
            let common = a.intersection(&b).copied().collect::<BTreeSet<_>>();
            prop_assert_eq!(ranges(&a).meets(&ranges(&b)), !common.is_empty());
            prop_assert_eq!(ranges(&a).holds(&ranges(&b)), b.is_subset(&a));
            prop_assert_eq!(members(&ranges(&a).intersection(&ranges(&b))), common);
        }
    }

    #[test]
    fn what_is_no_set_is_not_read() {
        let read = serde_json::from_str::<Ranges>;
        let mut ranges = Ranges::of(Sequence(1), Sequence(5));
        ranges.add(Sequence(8));
        assert_eq!(serde_json::to_string(&ranges).unwrap(), "[[1,5],[8,8]]");
        assert_eq!(read("[[1,5],[8,8]]").unwrap(), ranges);
        for wrong in ["[[0,3]]", "[[5,4]]", "[[1,4],[5,6]]", "[[1,4],[3,9]]", "[[1,9223372036854775808]]"] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
