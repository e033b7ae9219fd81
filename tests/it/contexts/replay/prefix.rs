//! How much of each context repeats the previous one, from the first byte on.

use super::recount::Counted;

/// Sums over the contexts of a conversation.
#[derive(Clone, Debug, Default)]
pub struct Prefix {
    last: Option<Counted>,
    /// The tokens of all contexts but the first.
    pub rendered: u64,
    /// Those that repeat the previous context.
    pub repeated: u64,
}

impl Prefix {
    /// Adds the next context.
    pub fn add(&mut self, next: Counted) {
        if let Some(last) = &self.last {
            self.rendered += u64::from(next.tokens());
            let same = last.pieces.iter().zip(&next.pieces).take_while(|(last, next)| last == next);
            self.repeated += same.map(|(_, piece)| u64::from(piece.tokens)).sum::<u64>();
        }
        self.last = Some(next);
    }

    /// The share that is repeated.
    pub fn share(&self) -> f64 {
        self.repeated as f64 / (self.rendered as f64).max(1.0)
    }

    /// Adds the sums of another conversation.
    pub fn sum(&mut self, other: &Self) {
        self.rendered += other.rendered;
        self.repeated += other.repeated;
    }
}
