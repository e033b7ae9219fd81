//! Which recent units are rendered.

use crate::context::{
    Message,
    budget::Shares,
    cut::{Grid, enough},
    plan::{Opening, Plan},
    turns,
    unit::{Trims, Unit, before},
};

/// The additional worth of a line that starts a turn, in powers of two of a step.
const TURN_WORTH: u32 = 2;

/// The additional worth of a line that starts a turn if the archive is shown: more than any other.
const WHOLE_TURN_WORTH: u32 = u128::BITS + 1;

/// The recent units, and how many of them are rendered.
pub(super) struct Recent {
    /// Newest first; some more than are rendered.
    pub(super) units: Vec<Unit>,
    /// How many are rendered.
    pub(super) taken: usize,
    /// The first place that is rendered.
    pub(super) place: usize,
    pub(super) opening: Opening,
}

impl Recent {
    /// The newest `taken` of `units`; the user utterance before them can have `lead` tokens.
    fn newest(plan: &Plan<'_>, units: Vec<Unit>, taken: usize, lead: u64) -> Self {
        let nothing = Unit::nothing(plan.window().len());
        let last = units[..taken].last().unwrap_or(&nothing);
        // what leads a unit without messages leads nothing, unless there is nothing else
        let oldest = units[..taken].iter().rfind(|unit| !unit.messages.is_empty()).unwrap_or(last);
        Self {
            taken,
            place: last.places.start,
            opening: plan.opening(oldest, plan.lead(oldest), lead),
            units,
        }
    }

    /// The tokens they use of their share; pinned units have a share of their own.
    pub(super) fn tokens(&self, shares: &Shares) -> u64 {
        let taken = self.units[..self.taken].iter().filter(|unit| !shares.has_pinned(unit));
        self.opening.tokens + taken.map(|unit| unit.tokens).sum::<u64>()
    }
}

/// A line at which the context can begin.
struct Line {
    taken: usize,
    place: usize,
    opening: Opening,
    enough: bool,
    worth: u32,
}

impl Line {
    fn recent(self, units: Vec<Unit>) -> Recent {
        Recent { taken: self.taken, place: self.place, opening: self.opening, units }
    }

    /// Whether to choose this line instead of `other`, which is newer. Of two that open a context alike, without
    /// steps all lines are worth the same, so the oldest is chosen.
    fn beats(&self, other: &Self) -> bool {
        let opens = self.opening.is_users;
        match (opens == other.opening.is_users, self.enough, other.enough) {
            (false, ..) => opens,
            (_, true, true) => self.worth >= other.worth,
            (_, enough, other_enough) => enough || !other_enough,
        }
    }
}

/// Continues from `units`, the newest ones, to those that fit into `recent`, and chooses the line at which
/// the context begins: see `cut.rs`. The window's newest unit with a message is always rendered.
pub(super) fn choose(plan: &Plan<'_>, units: Vec<Unit>, shares: &Shares, recent: u64) -> Recent {
    // the summary, and so what the recent units have, changes more often than what the archive adds
    let most = if plan.request.include_archive { plan.budget } else { shares.recent };
    let grid = plan.request.in_steps().then(|| Grid::of(most).within(recent));
    let mut walk = Walk { plan, shares, units, lead: (0, None) };
    let share = if walk.fits(recent) { u64::MAX } else { shares.unit };
    let (mut left, mut least, mut said) = (0, 0, plan.window().tokens());
    let mut stands = Vec::new();
    while walk.reach(stands.len()) {
        let unit = &mut walk.units[stands.len()];
        if !shares.has_pinned(unit) {
            let trims = if stands.len() < shares.newest { shares.trims } else { plan.rendering.trims };
            plan.rendering.fit(unit, share, trims);
            left += unit.tokens.max(unit.within(share, trims));
            least += unit.within(enough(share), trims);
        }
        if left > recent && stands.len() >= shares.newest {
            return walk.best(&stands, grid, recent);
        }
        said = said.saturating_sub(unit.counted);
        stands.push(Stand { begins: !unit.messages.is_empty(), left, least, said });
    }
    let all = Recent::newest(plan, walk.units, stands.len(), shares.lead);
    let fits = left + all.opening.tokens <= recent;
    if fits && all.opening.is_users {
        return all;
    }
    walk.units = all.units;
    // what fits is cut only to begin with a user's utterance, and so in no steps
    let cut = walk.best(&stands, grid.filter(|_| !fits), recent);
    match fits && !cut.opening.is_users {
        true => Recent::newest(plan, cut.units, stands.len(), shares.lead),
        false => cut,
    }
}

/// The measures of a context that begins with a unit.
struct Stand {
    /// Whether the unit has a message to begin with.
    begins: bool,
    /// Tokens from the unit on.
    left: u64,
    /// The same in the smallest context that keeps enough, where a unit has less.
    least: u64,
    /// Tokens of the window before it.
    said: u64,
}

struct Walk<'a> {
    plan: &'a Plan<'a>,
    shares: &'a Shares,
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

    /// Whether all units fit into `recent` as they are.
    fn fits(&mut self, recent: u64) -> bool {
        let (mut left, mut count) = (0, 0);
        while left <= recent && self.reach(count) {
            let unit = &self.units[count];
            left += if self.shares.has_pinned(unit) { 0 } else { unit.within(u64::MAX, Trims::Results) };
            count += 1;
        }
        let all = Recent::newest(self.plan, std::mem::take(&mut self.units), count, self.shares.lead);
        self.units = all.units;
        left + all.opening.tokens <= recent
    }

    /// The recent units from the best of the lines that keep at most `recent` tokens.
    fn best(mut self, stands: &[Stand], grid: Option<Grid>, recent: u64) -> Recent {
        let mut best: Option<Line> = None;
        for (index, stand) in stands.iter().enumerate().filter(|(_, stand)| stand.begins) {
            let line = self.line(index, stand, grid);
            let fits = stand.left + line.opening.tokens <= recent;
            if index + 1 == self.shares.newest || fits && best.as_ref().is_none_or(|best| line.beats(best)) {
                best = Some(line);
            }
        }
        match best {
            Some(line) => line.recent(self.units),
            None => Recent::newest(self.plan, self.units, self.shares.newest, self.shares.lead),
        }
    }

    /// The line before the unit at `index`.
    fn line(&mut self, index: usize, stand: &Stand, grid: Option<Grid>) -> Line {
        let unit = &self.units[index];
        if self.lead.0 != unit.turn {
            self.lead = (unit.turn, self.plan.lead(unit));
        }
        let place = unit.places.start;
        let first = self.plan.window().at(place).map(|first| first.sequence);
        let leads = |lead: &Message| lead.utterance.as_ref().map(|lead| lead.sequence) < first;
        let lead = self.lead.1.clone().filter(leads);
        let opening = self.plan.opening(unit, lead, self.shares.lead);
        Line {
            taken: index + 1,
            place,
            enough: grid.is_none_or(|grid| grid.leaves_enough(stand.least + opening.least)),
            worth: grid.map_or(0, |grid| self.worth(index, stand, grid)),
            opening,
        }
    }

    fn worth(&self, index: usize, stand: &Stand, grid: Grid) -> u32 {
        let (window, unit) = (self.plan.window(), &self.units[index]);
        let place = unit.places.start;
        let before = place.checked_sub(1).and_then(|place| window.at(place));
        let starts_turn = before.is_none_or(|before| before.turn != unit.turn);
        let earlier = self.units.get(index + 1);
        if !self.plan.request.include_archive {
            let before = stand.said.saturating_sub(earlier.map_or(0, |earlier| earlier.counted));
            return grid.worth(before, stand.said) + if starts_turn { TURN_WORTH } else { 0 };
        }
        // the archive has no count of what was said before, and is shown in whole turns if they fit
        let turn = before.filter(|_| starts_turn).map(|before| turns::start_of(window, before.turn));
        let earlier = turn.or(earlier.map(|earlier| earlier.places.start)).unwrap_or(place);
        let [earlier, now] = [earlier, place].map(|place| window.at(place).map_or(0, |at| at.sequence.get()));
        grid.worth(earlier, now) + if starts_turn { WHOLE_TURN_WORTH } else { 0 }
    }
}
