//! Which recent units are rendered.

use crate::domain::context::{
    Message,
    budget::Shares,
    cut::Grid,
    plan::{Plan, tokens_of},
    unit::{Unit, before},
};

/// The additional worth of a line that starts a turn, in powers of two of a step.
const TURN_WORTH: u32 = 2;

/// The recent units, and how many of them are rendered.
pub(super) struct Recent {
    /// Newest first; some more than are rendered.
    pub(super) units: Vec<Unit>,
    /// How many are rendered.
    pub(super) taken: usize,
    /// The first place that is rendered.
    pub(super) place: usize,
    /// The user utterance of the turn in whose middle they begin.
    pub(super) lead: Option<Message>,
}

impl Recent {
    /// All `units`, which are everything the plan has.
    pub(super) fn all(plan: &Plan<'_>, units: Vec<Unit>) -> Self {
        let lead = units.last().and_then(|oldest| plan.lead(oldest));
        Self { taken: units.len(), place: plan.first, units, lead }
    }

    /// The tokens they use of their share; pinned units have a share of their own.
    pub(super) fn tokens(&self, shares: &Shares) -> u64 {
        let taken = self.units[..self.taken].iter().filter(|unit| !shares.has_pinned(unit));
        tokens_of(self.lead.as_slice()) + taken.map(|unit| unit.tokens).sum::<u64>()
    }
}

/// A line at which the context can begin.
struct Line {
    taken: usize,
    place: usize,
    enough: bool,
    worth: u32,
    lead: Option<Message>,
}

impl Line {
    /// Whether to choose this line instead of `other`, which is newer. Without steps, all lines are worth the
    /// same, so the oldest is chosen.
    fn beats(&self, other: &Self) -> bool {
        match (self.enough, other.enough) {
            (true, true) => self.worth >= other.worth,
            (enough, other_enough) => enough || !other_enough,
        }
    }
}

/// Continues from `units`, the newest ones, to those that fit into `recent`, and chooses the line at which
/// the context begins: see `cut.rs`. The newest unit with a message is always rendered.
pub(super) fn choose(plan: &Plan<'_>, units: Vec<Unit>, shares: &Shares, recent: u64) -> Recent {
    let mut walk = Walk { plan, units, lead: (0, None) };
    let (mut left, mut said) = (0, plan.window().tokens());
    let mut stands = Vec::new();
    while walk.reach(stands.len()) {
        let unit = &mut walk.units[stands.len()];
        if !shares.has_pinned(unit) {
            plan.rendering.fit(unit, shares.unit);
            left += unit.tokens;
        }
        if left > recent && stands.iter().any(|stand: &Stand| stand.begins) {
            return walk.best(&stands, shares.recent, recent);
        }
        said = said.saturating_sub(unit.counted);
        stands.push(Stand { begins: !unit.messages.is_empty(), left, said });
    }
    let lead = walk.units.last().and_then(|oldest| plan.lead(oldest));
    match left + tokens_of(lead.as_slice()) > recent {
        true => walk.best(&stands, shares.recent, recent),
        false => Recent::all(plan, walk.units),
    }
}

/// The measures of a context that begins with a unit.
struct Stand {
    /// Whether the unit has a message to begin with.
    begins: bool,
    /// Tokens from the unit on.
    left: u64,
    /// Tokens of the window before it.
    said: u64,
}

struct Walk<'a> {
    plan: &'a Plan<'a>,
    units: Vec<Unit>,
    /// A turn, and the user utterance that started it.
    lead: (u32, Option<Message>),
}

impl Walk<'_> {
    /// Renders the next unit, at `index`, unless it already is; returns false if there is none.
    fn reach(&mut self, index: usize) -> bool {
        if index < self.units.len() {
            return true;
        }
        let window = self.plan.window();
        let end = self.units.last().map_or(window.len(), |unit| unit.places.start);
        let places = before(window, self.plan.first, end);
        self.units.extend(places.map(|places| self.plan.rendering.unit(window, places)));
        index < self.units.len()
    }

    /// The recent units from the best of the lines that keep at most `recent` tokens; `most` is what they may
    /// have if nothing is recalled.
    fn best(mut self, stands: &[Stand], most: u64, recent: u64) -> Recent {
        let grid = self.plan.request.in_steps().then(|| Grid::of(most).within(recent));
        let mut best: Option<Line> = None;
        for (index, stand) in stands.iter().enumerate().filter(|(_, stand)| stand.begins) {
            let line = self.line(index, stand, grid);
            let fits = stand.left + tokens_of(line.lead.as_slice()) <= recent;
            if best.as_ref().is_none_or(|best| fits && line.beats(best)) {
                best = Some(line);
            }
        }
        match best {
            Some(line) => Recent { taken: line.taken, place: line.place, lead: line.lead, units: self.units },
            None => Recent::all(self.plan, self.units),
        }
    }

    /// The line before the unit at `index`.
    fn line(&mut self, index: usize, stand: &Stand, grid: Option<Grid>) -> Line {
        let earlier = self.units.get(index + 1).map_or(0, |unit| unit.counted);
        let unit = &self.units[index];
        if self.lead.0 != unit.turn {
            self.lead = (unit.turn, self.plan.lead(unit));
        }
        let place = unit.places.start;
        let before = place.checked_sub(1).and_then(|place| self.plan.window().at(place));
        let starts_turn = before.is_none_or(|before| before.turn != unit.turn);
        let first = self.plan.window().at(place).map(|first| first.sequence);
        let leads = |lead: &Message| lead.utterance.as_ref().map(|lead| lead.sequence) < first;
        let lead = self.lead.1.clone().filter(leads);
        let left = stand.left + tokens_of(lead.as_slice());
        let worth = |grid: Grid| {
            let worth = grid.worth(stand.said.saturating_sub(earlier), stand.said);
            worth + if starts_turn { TURN_WORTH } else { 0 }
        };
        Line {
            taken: index + 1,
            place,
            enough: grid.is_none_or(|grid| grid.leaves_enough(left)),
            worth: grid.map_or(0, worth),
            lead,
        }
    }
}
