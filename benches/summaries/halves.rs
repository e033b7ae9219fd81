//! A fixed half of what is measured, as if drawn at random, and the other half.

/// How this summariser's figures are called, over the parts.
pub const NAMES: [&str; 3] = ["this", "one half", "the other"];

/// All of it, and each half.
pub fn parts<T>(all: &[T]) -> [Vec<&T>; 3] {
    let half = |first: bool| {
        (0..).zip(all).filter(|(place, _)| is_first(*place) == first).map(|(_, one)| one).collect()
    };
    [all.iter().collect(), half(true), half(false)]
}

/// A bit of a hash of the place (SplitMix64).
fn is_first(place: u64) -> bool {
    let mixed = (place + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let mixed = (mixed ^ mixed >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB) >> 63 == 0
}
