//! A share of a whole.

/// A share of a whole, from 0 to 1, in millionths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share(u32);

const WHOLE: f64 = 1e6;

impl Share {
    /// A hundredth.
    pub const HUNDREDTH: Self = Self(10_000);

    /// Returns the share, rounded to millionths; `None` unless it is from 0 to 1.
    pub fn new(share: f64) -> Option<Self> {
        (0.0..=1.0).contains(&share).then(|| Self((share * WHOLE).round() as u32))
    }

    /// Returns the share as a number from 0 to 1.
    pub fn get(self) -> f64 {
        f64::from(self.0) / WHOLE
    }
}
