//! Randomness, determined by the seed of a run.

/// A sequence of numbers derived from a seed (SplitMix64).
#[derive(Clone, Debug)]
pub struct Dice(u64);

impl Dice {
    /// The sequence of `seed`.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A separate sequence, which neither sees nor disturbs the rolls of this one.
    pub fn split(&mut self) -> Self {
        Self(self.roll())
    }

    /// A number below `sides`; 0 if `sides` is 0.
    pub fn below(&mut self, sides: u64) -> u64 {
        self.roll() % sides.max(1)
    }

    /// True in `chance` of a hundred cases.
    pub fn percent(&mut self, chance: u64) -> bool {
        self.below(100) < chance
    }

    /// One of `faces`.
    pub fn pick<T: Clone>(&mut self, faces: &[T]) -> Option<T> {
        faces.get(self.below(faces.len() as u64) as usize).cloned()
    }

    /// One of the values, with a probability proportional to its weight.
    pub fn weighted<T: Copy>(&mut self, faces: &[(u64, T)]) -> T {
        let mut place = self.below(faces.iter().map(|(weight, _)| weight).sum());
        for (weight, face) in faces {
            match place.checked_sub(*weight) {
                Some(rest) => place = rest,
                None => return *face,
            }
        }
        unreachable!("a place lies below the sum of the weights")
    }

    fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}
