//! How a budget is shared.
//!
//! The summary gets a quarter of the whole budget, or the part that the window can never need, if that is
//! more. Pinned units get a quarter, and earlier conversations at most 15 %. Of the rest, a single unit gets
//! at most three quarters, unless all units fit; so does the user utterance before them. Results are trimmed
//! to that, and of older units what was said. What the newest unit says is trimmed only if there is no room for
//! it beside the instructions; it then has all the room. Recalled utterances, if requested, get a share of the
//! budget, unless all of them fit beside the recent units. Unless the request names the share, recall also gets
//! what the recent units leave. These shares depend only on the budget and the summary, not on later
//! utterances, so they do not move between two evictions. Only a newest unit that does not fit next to the
//! other parts takes their shares.

use crate::{
    ConversationId, Marks, Ranges, Refusal,
    context::{
        Message, earlier, pinned,
        plan::{Need, Plan},
        request::{RECALL_PERCENT, UNLIMITED_RECALL_TOKENS},
        summary::{self, Told},
        unit::{Trims, Unit},
    },
    segment::Summary,
};

/// A budget that is too small for what must be rendered.
#[derive(Clone, Copy, Debug)]
pub(super) struct TooSmall {
    /// The smallest budget that is enough.
    pub(super) needed: u64,
}

/// What each part gets.
#[derive(Debug)]
pub(super) struct Shares {
    /// The summary.
    pub(super) summary: Told,
    /// How earlier conversations ended, and which these are.
    pub(super) earlier: Option<(Message, Vec<ConversationId>)>,
    /// Pinned units, the newest first.
    pub(super) pinned: Vec<Unit>,
    /// How many of the newest units are rendered in any case: up to the first that has a message.
    pub(super) newest: usize,
    /// The most that a unit may have.
    pub(super) unit: u64,
    /// The most that the user utterance before the recent units may have.
    pub(super) lead: u64,
    /// What can be trimmed of the newest units.
    pub(super) trims: Trims,
    /// The most that the recent units may have together, not counting pinned ones. Recalled utterances use
    /// this share too.
    pub(super) recent: u64,
    /// The part of `recent` that is reserved for recalled utterances, as far as they need it.
    pub(super) recall: u64,
    /// The most that recalled utterances may have of `recent` if the recent units do not need it.
    pub(super) recall_most: u64,
    /// Whether the newest unit has taken other parts' shares, or is pinned. The older units are then cut anew
    /// once a newer unit follows.
    pub(super) tight: bool,
}

/// The part of the budget for the summary, and for the pinned units.
const QUARTER: u64 = 4;

/// Divides what `fixed` leaves of the budget. `newest` is the newest unit, untrimmed, and `lead` the user utterance
/// before it.
pub(super) fn share(plan: &Plan<'_>, fixed: u64, newest: &Unit, lead: &Need) -> Result<Shares, TooSmall> {
    let Rest { room, trims, least } = rest(plan, fixed, newest, lead)?;
    let said = plan.rendering.least(newest, Trims::Results);
    if !plan.fits(lead, said, room) {
        let beside = room.saturating_sub(newest.tokens).max(room / QUARTER);
        let lead_most = plan.least(lead).max(beside).min(room - least);
        let unit = room - lead.whole.min(lead_most);
        let summary = summary_within(plan, 0);
        return Ok(Shares { summary, trims, tight: true, ..Shares::of(plan, room, (unit, lead_most), room) });
    }
    let pinned_room = plan.budget / QUARTER;
    for [with_pinned, with_earlier] in [[pinned_room, earlier_room(plan)], [0, 0]] {
        let summary = summary_within(plan, summary_room(plan).min(room));
        let pinned = pinned_within(plan, newest, with_pinned.min(room));
        let earlier = earlier_within(plan, with_earlier.min(room));
        let taken = summary.tokens()
            + earlier.as_ref().map_or(0, |(message, _)| message.tokens.into())
            + pinned.iter().map(|unit| unit.tokens).sum::<u64>();
        let rest = room.saturating_sub(taken);
        let unit = rest - rest / QUARTER;
        let needed = newest.tokens.min(unit).max(said);
        if plan.fits(lead, taken + needed, room) {
            let lead_most = plan.lead_room(unit.min(rest - needed));
            let tight = with_pinned < pinned_room || is_pinned(plan, newest);
            let shares = Shares::of(plan, rest, (unit, lead_most), needed + lead.whole.min(lead_most));
            return Ok(Shares { summary, earlier, pinned, tight, ..shares });
        }
    }
    let lead_most = plan.lead_room(room - said);
    let lead = lead.whole.min(lead_most);
    let unit = room - lead;
    let summary = summary_within(plan, unit.saturating_sub(newest.tokens));
    let rest = room - summary.tokens();
    let shares = Shares::of(plan, rest, (unit, lead_most), lead + newest.tokens.min(unit));
    Ok(Shares { summary, tight: true, ..shares })
}

/// What `fixed` leaves of the budget.
pub(super) struct Rest {
    room: u64,
    /// What can be trimmed of the newest unit, and the fewest tokens that this leaves of it.
    trims: Trims,
    least: u64,
}

/// What `fixed` leaves of the budget, which has to be enough for `newest` and `lead`, trimmed.
pub(super) fn rest(plan: &Plan<'_>, fixed: u64, newest: &Unit, lead: &Need) -> Result<Rest, TooSmall> {
    let trims = if plan.request.budget.is_some() { plan.rendering.trims } else { Trims::Results };
    let least = plan.rendering.least(newest, trims);
    match plan.budget.checked_sub(fixed).filter(|room| plan.fits(lead, least, *room)) {
        Some(room) => Ok(Rest { room, trims, least }),
        None => Err(TooSmall { needed: fixed + plan.least(lead) + least }),
    }
}

impl Shares {
    /// Makes the summary again from the segments about something that is not `shown`.
    pub(super) fn leave_untold(&mut self, plan: &Plan<'_>, shown: &Ranges) {
        let room = self.summary.tokens();
        self.summary = told_within(plan, &plan.conversation.summary.beyond(shown), room);
    }

    /// Whether `unit` is one of the window's pinned units.
    pub(super) fn has_pinned(&self, unit: &Unit) -> bool {
        self.pinned.iter().any(|pinned| pinned.places == unit.places)
    }

    /// The shares of `rest`, of which the newest unit and the user utterance of its turn need `needed`. The most that a
    /// unit and a user utterance before the recent units may have are `each`.
    fn of(plan: &Plan<'_>, rest: u64, each: (u64, u64), needed: u64) -> Self {
        let free = rest.saturating_sub(needed);
        let (recall, most) = plan.recall_shares();
        Self {
            summary: Told::default(),
            earlier: None,
            pinned: Vec::new(),
            newest: 0,
            unit: each.0,
            lead: each.1,
            trims: Trims::Results,
            recent: rest,
            recall: recall.min(free),
            recall_most: most.min(free),
            tight: false,
        }
    }
}

impl Plan<'_> {
    /// The room for the user utterance before the recent units: `most`, unless only results are trimmed.
    fn lead_room(&self, most: u64) -> u64 {
        if self.rendering.trims == Trims::All { most } else { u64::MAX }
    }

    /// The tokens that are reserved for recalled utterances, and the most that they may have.
    fn recall_shares(&self) -> (u64, u64) {
        let Some(limits) = self.request.recall else { return (0, 0) };
        let budget = self.shared_budget();
        let share = budget * u64::from(limits.percent.unwrap_or(RECALL_PERCENT)) / 100;
        (share, if limits.percent.is_some() { share } else { budget })
    }

    /// The budget of which recall and earlier conversations get a part.
    fn shared_budget(&self) -> u64 {
        if self.is_unlimited() { UNLIMITED_RECALL_TOKENS } else { self.budget }
    }
}

fn summary_room(plan: &Plan<'_>) -> u64 {
    let window = plan.conversation.head.policy.tokens.map(Marks::max);
    let never_needed = window.map_or(0, |most| plan.budget.saturating_sub(most.into()));
    never_needed.max(plan.budget / QUARTER)
}

fn summary_within(plan: &Plan<'_>, room: u64) -> Told {
    told_within(plan, &plan.conversation.summary, room)
}

fn told_within(plan: &Plan<'_>, summary: &Summary, room: u64) -> Told {
    let (request, costs) = (plan.request, plan.rendering.costs);
    summary::message(summary, request.summary, request.format, room, costs.counter)
}

fn earlier_room(plan: &Plan<'_>) -> u64 {
    earlier::room(plan.shared_budget() * earlier::EARLIER_PERCENT / 100, plan.conversation.head.turn)
}

fn earlier_within(plan: &Plan<'_>, room: u64) -> Option<(Message, Vec<ConversationId>)> {
    earlier::message(plan.archived.earlier, plan.request.summary, room, plan.rendering.costs)
}

fn pinned_within(plan: &Plan<'_>, newest: &Unit, room: u64) -> Vec<Unit> {
    let window = plan.window();
    pinned::units(window, plan.floor..newest.places.start, plan.archived.pinned, room, plan.rendering)
}

fn is_pinned(plan: &Plan<'_>, unit: &Unit) -> bool {
    plan.window().slice(unit.places.clone()).any(|utterance| utterance.pinned)
}

impl TooSmall {
    /// The refusal of `budget`.
    pub(super) fn refusal(self, budget: u32) -> Refusal {
        let text = format!(
            "is {budget}; accepted: {} or more: the instructions, the newest unit and the user utterance of its turn need that many",
            self.needed
        );
        Refusal::invalid("token_budget", text)
    }
}
