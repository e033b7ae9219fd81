//! Approximate memory sizes of values. Stored data is limited by them, so they must not be too low.

use std::collections::BTreeMap;

/// Bytes of a map entry in addition to its texts, in nodes that are three quarters full.
const ENTRY: usize = 72;
/// Bytes of the first node of a map.
const NODE: usize = 544;

/// The size of an allocation of `bytes`: allocators have four sizes between two powers of two.
pub const fn allocated(bytes: usize) -> usize {
    match bytes {
        0 => 0,
        1..=64 => bytes.next_multiple_of(8),
        _ => bytes.next_multiple_of(bytes.next_power_of_two() / 8),
    }
}

/// The size of the entries of a map of texts.
pub fn map(entries: &BTreeMap<String, String>) -> usize {
    let text = |(key, value): (&String, &String)| allocated(key.len()) + allocated(value.len());
    match entries.is_empty() {
        true => 0,
        false => NODE + ENTRY * entries.len() + entries.iter().map(text).sum::<usize>(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_those_of_allocators() {
        for (bytes, size) in [(0, 0), (1, 8), (64, 64), (65, 80), (128, 128), (129, 160), (1_025, 1_280)] {
            assert_eq!(allocated(bytes), size, "{bytes}");
        }
    }

    #[test]
    fn an_entry_takes_more_than_its_texts() {
        assert_eq!(map(&BTreeMap::new()), 0);
        assert!(map(&BTreeMap::from([("k".to_owned(), String::new())])) > NODE + ENTRY);
    }
}
