//! Encodes sets of sequences as small numbers.

use utterd_domain::Ranges;

use super::{Fault, number::sequence};

/// Returns two numbers per range: the distance from the end of the previous range (or from 0) to its start,
/// and from its start to its end.
pub(super) fn steps(ranges: &Ranges) -> impl Iterator<Item = u64> {
    let mut end = 0;
    ranges.iter().flat_map(move |range| {
        let (first, last) = (range.start().0, range.end().0);
        let gap = first - end;
        end = last;
        [gap, last - first]
    })
}

/// Returns the set with these [`steps`]. `part` is its name in faults.
pub(super) fn stepped(part: &'static str, steps: &[u64]) -> Result<Ranges, Fault> {
    let (steps, []) = steps.as_chunks::<2>() else { return Err(Fault::wrong(part, "end with half a range")) };
    let (mut ranges, mut end, mut least_gap) = (Ranges::new(), 0u64, 1);
    for &[gap, length] in steps {
        if gap < least_gap {
            return Err(Fault::wrong(part, format_args!("do not ascend, or touch, at {end}")));
        }
        let first = sequence(part, end.saturating_add(gap))?;
        let last = sequence(part, first.0.saturating_add(length))?;
        ranges.insert(first, last);
        (end, least_gap) = (last.0, 2);
    }
    Ok(ranges)
}

#[cfg(test)]
mod tests {
    use super::*;
    use utterd_domain::Sequence;

    #[test]
    fn a_set_is_told_in_steps() {
        let mut ranges = Ranges::of(Sequence(1), Sequence(5));
        ranges.add(Sequence(8));
        ranges.insert(Sequence(1000), Sequence(1009));
        let told: Vec<u64> = steps(&ranges).collect();
        assert_eq!(told, [1, 4, 3, 0, 992, 9]);
        assert_eq!(stepped("they", &told), Ok(ranges));
        assert_eq!(stepped("they", &[]), Ok(Ranges::new()));
    }

    #[test]
    fn steps_that_no_set_has_are_refused() {
        let most = i64::MAX as u64;
        for wrong in
            [&[1][..], &[0, 3], &[1, 4, 1, 0], &[1, 4, 0, 0], &[1, most], &[u64::MAX, 0], &[1, u64::MAX]]
        {
            assert!(stepped("they", wrong).is_err(), "{wrong:?}");
        }
        assert_eq!(stepped("they", &[most, 0]), Ok(Ranges::of(Sequence(most), Sequence(most))));
    }
}
