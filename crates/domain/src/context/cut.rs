//! Where a context begins, so that the next one begins there too.
//!
//! A cut at a fixed distance from the newest utterance would move with each new one, and no prefix would
//! survive. Here, cuts are on a grid that depends only on the conversation. A line between two units is worth
//! more, the higher the power of two of a step that the count of tokens before it crosses there. Of the lines
//! that keep at least three fifths of what fits, the one worth most is chosen. It stays the best until what
//! follows it no longer fits; the next line then keeps about three fifths. The cut need not be stored,
//! because the tokens before a line do not change while utterances are only appended.
//!
//! What a line keeps is measured in units trimmed for three fifths of the room: a longer result is no more units.
//! So a context keeps all that one of three fifths of its size, or of half of it, can show.

/// A step is this part of what fits.
const STEP: (u64, u64) = (2, 5);
/// Steps are divided into `2^FINE` parts.
const FINE: u32 = 16;

/// The least of `limit` that a cut keeps.
pub(super) fn enough(limit: u64) -> u64 {
    limit - limit.saturating_mul(STEP.0) / STEP.1
}

/// The grid for a limit.
#[derive(Clone, Copy, Debug)]
pub(super) struct Grid {
    limit: u64,
    step: u64,
}

impl Grid {
    /// The grid for what fits into `limit`.
    pub(super) fn of(limit: u64) -> Self {
        Self { limit, step: (limit.saturating_mul(STEP.0) / STEP.1).max(1) }
    }

    /// The same lines for a smaller limit, so that they stay in place while the limit varies.
    pub(super) fn within(self, limit: u64) -> Self {
        Self { limit, ..self }
    }

    /// Whether a line that keeps `left` tokens keeps enough.
    pub(super) fn leaves_enough(&self, left: u64) -> bool {
        left >= enough(self.limit)
    }

    /// The worth of the line between `before` and `after`.
    pub(super) fn worth(&self, before: u64, after: u64) -> u32 {
        let fine = |measure: u64| (u128::from(measure) << FINE) / u128::from(self.step);
        u128::BITS - (fine(before) ^ fine(after)).leading_zeros()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The cuts of a conversation of equal units, one appended at a time.
    fn cuts(limit: u64, unit: u64, units: u64) -> Vec<u64> {
        let grid = Grid::of(limit);
        let fits = |end: u64| {
            let lines = (1..=end).filter(move |line| (end - line) * unit <= limit);
            lines.filter(move |line| grid.leaves_enough((end - line) * unit))
        };
        let best = |end| fits(end).max_by_key(|line| grid.worth((line - 1) * unit, line * unit));
        (1..=units).filter(|end| end * unit > limit).filter_map(best).collect()
    }

    #[test]
    fn a_cut_stays_for_a_step() {
        let cuts = cuts(1_000, 10, 1_000);
        assert!(cuts.is_sorted(), "a cut never goes back");
        let moves = cuts.windows(2).filter(|pair| pair[0] != pair[1]).count();
        // 900 units beyond the limit, 40 units a step
        assert!((21..=24).contains(&moves), "{moves}");
    }
}
