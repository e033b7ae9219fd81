//! Which recent units are rendered.

use crate::domain::context::{
    Message,
    budget::Shares,
    cut::Grid,
    plan::Plan,
    turns,
    unit::{Unit, before},
};

/// So much more a line is worth that starts a turn, in powers of two of a step.
const TURN_WORTH: u32 = 2;

/// The recent units, and how many of them are rendered.
pub(super) struct Recent {
    /// The newest first; some more than are rendered.
    pub(super) units: Vec<Unit>,
    /// So many are rendered.
    pub(super) taken: usize,
    /// The first place that is rendered.
    pub(super) place: usize,
    /// The user utterance of the turn that they begin amid of.
    pub(super) lead: Option<Message>,
}

impl Recent {
    /// All `units`, which are all that the plan has.
    pub(super) fn all(plan: &Plan<'_>, units: Vec<Unit>) -> Self {
        Self { taken: units.len(), place: plan.first, units, lead: None }
    }
}

/// A line that the context may begin at.
struct Line {
    taken: usize,
    place: usize,
    enough: bool,
    worth: u32,
    lead: Option<Message>,
}

impl Line {
    /// Whether this is to be taken rather than `other`, which is newer.
    fn beats(&self, other: &Self) -> bool {
        match (self.enough, other.enough) {
            (true, true) => self.worth >= other.worth,
            (enough, other_enough) => enough || !other_enough,
        }
    }
}

/// Goes on from `units`, the newest ones, to those that fit, and chooses the line at which the
/// context begins: see [`mod@super::cut`]. The newest unit with a message is always taken.
pub(super) fn choose(plan: &Plan<'_>, units: Vec<Unit>, shares: &Shares) -> Recent {
    let grid = Grid::of(shares.recent);
    let mut walk = Walk { plan, units, lead: (0, None) };
    let (mut tokens, mut said) = (0, plan.window().tokens());
    let mut best: Option<Line> = None;
    for index in 0.. {
        if !walk.reach(index) {
            return Recent::all(plan, walk.units);
        }
        let unit = &mut walk.units[index];
        if !shares.pinned.iter().any(|pinned| pinned.places == unit.places) {
            plan.rendering.fit(unit, shares.unit);
            tokens += unit.tokens;
        }
        if tokens > shares.recent && best.is_some() {
            break;
        }
        said = said.saturating_sub(unit.counted);
        if unit.messages.is_empty() {
            continue;
        }
        let line = walk.line(index, tokens, said, grid);
        let fits = tokens + line.lead.as_ref().map_or(0, |lead| u64::from(lead.tokens)) <= shares.recent;
        if best.as_ref().is_none_or(|best| fits && line.beats(best)) {
            best = Some(line);
        }
    }
    match best {
        Some(line) => Recent { taken: line.taken, place: line.place, lead: line.lead, units: walk.units },
        None => Recent::all(plan, walk.units),
    }
}

struct Walk<'a> {
    plan: &'a Plan<'a>,
    units: Vec<Unit>,
    /// A turn, and the user utterance that started it.
    lead: (u32, Option<Message>),
}

impl Walk<'_> {
    /// Renders the unit at `index`, the next one, unless it is; false when there is none.
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

    /// The line before the unit at `index`, which leaves `tokens`; so many were `said` before it.
    fn line(&mut self, index: usize, tokens: u64, said: u64, grid: Grid) -> Line {
        let earlier = if self.reach(index + 1) { self.units[index + 1].counted } else { 0 };
        let unit = &self.units[index];
        if self.lead.0 != unit.turn {
            self.lead = (unit.turn, self.plan.lead(unit));
        }
        let place = unit.places.start;
        let starts_turn = turns::start_of(self.plan.window(), unit.turn) == place;
        let lead = self.lead.1.clone().filter(|_| !starts_turn);
        let left = tokens + lead.as_ref().map_or(0, |lead| u64::from(lead.tokens));
        let worth = grid.worth(said.saturating_sub(earlier), said);
        Line {
            taken: index + 1,
            place,
            enough: grid.leaves_enough(left),
            worth: worth + if starts_turn { TURN_WORTH } else { 0 },
            lead,
        }
    }
}
