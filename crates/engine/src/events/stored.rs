//! The stored form of a set of sequences in an event: its ranges, each by its first and last member.

use serde::{Deserialize as _, Deserializer, Serializer};

use utterd_domain::{Ranges, Sequence};

pub fn serialize<S: Serializer>(ranges: &Ranges, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(ranges.iter().map(|range| (range.start().0, range.end().0)))
}

pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Ranges, D::Error> {
    let mut ranges = Ranges::new();
    for (first, last) in Vec::<(u64, u64)>::deserialize(deserializer)? {
        ranges.insert(Sequence(first), Sequence(last));
    }
    Ok(ranges)
}
