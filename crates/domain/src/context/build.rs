//! Builds a context: plans it, shares the budget, and puts the parts together.

use std::sync::Arc;

use crate::{
    Conversation, Ranges, Result, Role, Sequence, TokenCounter, Utterance,
    context::{
        Archived, Context, Message, Request,
        assemble::Assembly,
        budget::{Shares, TooSmall, rest, share},
        found::Match,
        message::tokens_of,
        omitted::Omitted,
        plan::{Need, Plan},
        recalled::{Quotable, Quote},
        recent::{self, Recent},
        turns,
        unit::Unit,
    },
};

/// The turn with which the window goes on after what left it, if the user utterance of that turn left it too.
pub fn asked_before(conversation: &Conversation) -> Option<u32> {
    let turn = turn_goes_on(conversation)?;
    let first = conversation.window.at(turns::start_of(&conversation.window, turn))?;
    (first.role != Role::User).then_some(turn)
}

/// The turn with which the window goes on after what left it, if it began before that.
pub(super) fn turn_goes_on(conversation: &Conversation) -> Option<u32> {
    let window = &conversation.window;
    let left = conversation.head.left.last()?;
    let place = window.place(left.next()).unwrap_or_else(|place| place);
    let next = window.at(place).filter(|next| next.turn > 0 && next.role != Role::User)?;
    Some(next.turn)
}

/// Builds the context of `conversation` from its window: see [`build_with`].
pub fn build(
    conversation: &Conversation,
    recalled: &[Arc<Utterance>],
    request: &Request,
    counter: &dyn TokenCounter,
) -> Result<Context> {
    let recalled: Vec<Match> = recalled.iter().map(Match::from).collect();
    build_with(conversation, Archived { recalled: &recalled, ..Archived::default() }, request, counter)
}

/// Builds the context of `conversation`.
///
/// Refuses a budget that is too small for the instructions, the newest unit and the user utterance of its
/// turn (which is sent even if no unit is), and names the tokens needed. The default budget is raised to
/// these.
pub fn build_with(
    conversation: &Conversation,
    archived: Archived<'_>,
    request: &Request,
    counter: &dyn TokenCounter,
) -> Result<Context> {
    earliest(conversation, archived, request, counter, |plan| plan.context())
}

/// Returns what can be recalled: everything that [`build_with`] leaves out for its limits when as much as
/// possible is recalled. Refuses the same budgets as [`build_with`].
pub fn recallable(
    conversation: &Conversation,
    archived: Archived<'_>,
    request: &Request,
    counter: &dyn TokenCounter,
) -> Result<Ranges> {
    earliest(conversation, archived, request, counter, |plan| plan.recallable())
}

/// What is made of a plan, the first utterance of its recent units, and all that it shows.
type Made<T> = (Sequence, Ranges, T);

/// Makes something of the plan. With the archive, makes it of the window alone if the recent units would begin within the
/// window, where steps are larger with the archive, and leave out what the window alone shows; or if the budget is too
/// small with the archive.
fn earliest<T>(
    conversation: &Conversation,
    archived: Archived<'_>,
    request: &Request,
    counter: &dyn TokenCounter,
    make: for<'a> fn(&Plan<'a>) -> Result<Made<T>, TooSmall>,
) -> Result<T> {
    let asked = asked_before(conversation).and_then(|turn| {
        archived.turns.iter().rfind(|said| said.turn == turn && said.role == Role::User).or(archived.asked)
    });
    let window = Archived { turns: &[], asked, ..archived };
    if let Some(budget) = request.budget.filter(|_| !archived.turns.is_empty()) {
        // what a budget has to hold does not depend on how much of the archive was read for it
        let alone = Plan::of(conversation, window, request, counter);
        alone.check_budget().map_err(|too_small| too_small.refusal(budget))?;
    }
    let made = fitted(Plan::of(conversation, archived, request, counter), make);
    let reaches = |first: Sequence| conversation.head.left.contains(first) || !request.in_steps();
    if !request.include_archive || made.as_ref().is_ok_and(|(first, ..)| reaches(*first)) {
        return made.map(|(.., made)| made);
    }
    let request = Request { include_archive: false, ..request.clone() };
    match (made, fitted(Plan::of(conversation, window, &request, counter), make)) {
        (Ok((_, mut shown, made)), Ok((_, window, alone))) => {
            // turns of the archive come before what is pinned behind them
            if let Some(last) = conversation.head.left.last() {
                shown.union(&Ranges::of(Sequence(1), last));
            }
            Ok(if shown.holds(&window) { made } else { alone })
        }
        (Err(_), Ok((.., alone))) => Ok(alone),
        (made, Err(_)) => made.map(|(.., made)| made),
    }
}

/// Raises the default budget to what must be rendered.
fn fitted<'a, T>(mut plan: Plan<'a>, made: fn(&Plan<'a>) -> Result<T, TooSmall>) -> Result<T> {
    match (made(&plan), plan.request.budget) {
        (Ok(made), _) => Ok(made),
        (Err(too_small), Some(budget)) => Err(too_small.refusal(budget)),
        (Err(too_small), None) => {
            plan.budget = too_small.needed;
            made(&plan).map_err(|more| more.refusal(u32::try_from(too_small.needed).unwrap_or(u32::MAX)))
        }
    }
}

impl Plan<'_> {
    /// The context that results from the plan.
    fn context(&self) -> Result<Made<Context>, TooSmall> {
        let mut omitted = Omitted::default();
        let instructions = self.instructions(&mut omitted);
        let (mut shares, units) = self.shared(&instructions)?;
        let (recent, quote) = match self.archived.recalled.is_empty() {
            true => (recent::choose(self, units, &shares, shares.recent), None),
            false => self.recent_and_quote(&shares, units),
        };
        let (first, shown) = (self.sequence_at(recent.place), self.shown(&shares, &recent));
        if self.is_archived(recent.place) {
            shares.leave_untold(self, &shown);
        }
        Ok((first, shown, Assembly { plan: self, shares, recent, quote, omitted }.context(instructions)))
    }

    /// Returns the utterances that are not shown when as much as possible is recalled.
    fn recallable(&self) -> Result<Made<Ranges>, TooSmall> {
        let (shares, units) = self.shared(&self.instructions(&mut Omitted::default()))?;
        let recent = recent::choose(self, units, &shares, shares.recent - shares.recall);
        let mut wanted = self.conversation.head.kept();
        wanted.subtract(&self.sequences(0..self.floor));
        let shown = self.shown(&shares, &recent);
        wanted.subtract(&shown);
        Ok((self.sequence_at(recent.place), shown, wanted))
    }

    /// The sequence at `place` of the window, or the next one if nothing is there.
    fn sequence_at(&self, place: usize) -> Sequence {
        self.window().at(place).map_or(self.conversation.head.next, |said| said.sequence)
    }

    /// Fails if the budget is too small for what is rendered in any case.
    fn check_budget(&self) -> Result<(), TooSmall> {
        let (fixed, units, lead) = self.required(&self.instructions(&mut Omitted::default()));
        rest(self, fixed, said(&units).unwrap_or(&Unit::nothing(0)), &lead).map(drop)
    }

    /// Divides the budget that `instructions` leave into shares; also returns the newest units.
    fn shared(&self, instructions: &[Message]) -> Result<(Shares, Vec<Unit>), TooSmall> {
        let (fixed, units, lead) = self.required(instructions);
        let shares = share(self, fixed, said(&units).unwrap_or(&Unit::nothing(self.window().len())), &lead)?;
        Ok((Shares { newest: units.len(), ..shares }, units))
    }

    /// What is rendered in any case: the tokens of `instructions`, the newest units, and the need of the user utterance
    /// before them, which is sent even if nothing of its turn is.
    fn required(&self, instructions: &[Message]) -> (u64, Vec<Unit>, Need) {
        let units = self.newest();
        let lead = units.last().map_or_else(Need::default, |unit| self.need_before(unit));
        (tokens_of(instructions) + self.opening_room(), units, lead)
    }

    /// The recent units that there are without recall stay if all that is recalled fits beside them; otherwise
    /// it gets its whole share. Either way, where the recent units begin does not depend on how long the quote is.
    fn recent_and_quote(&self, shares: &Shares, units: Vec<Unit>) -> (Recent, Option<Quote>) {
        let most = recent::choose(self, units, shares, shares.recent);
        let (shown, room) = (self.shown(shares, &most), self.quote_room(shares, &most));
        let quotable = self.quotable(&shown);
        if room == shares.recall_most || quotable.fits(room) {
            return (most, quotable.within(room));
        }
        let recent = recent::choose(self, most.units, shares, shares.recent - shares.recall);
        let quote = self.quotable(&self.shown(shares, &recent)).within(self.quote_room(shares, &recent));
        (recent, quote)
    }

    /// The most that a quote beside `recent` may have.
    fn quote_room(&self, shares: &Shares, recent: &Recent) -> u64 {
        shares.recall_most.min(shares.recent.saturating_sub(recent.tokens(shares)))
    }

    /// What can be quoted beside what is `shown`.
    fn quotable<'s>(&'s self, shown: &'s Ranges) -> Quotable<'s> {
        let most = self.request.recall.and_then(|limits| limits.matches).unwrap_or(usize::MAX);
        Quotable { matches: self.archived.recalled, most, shown, costs: self.rendering.costs }
    }

    /// The sequences of the recent and the pinned units, including utterances that a unit leaves out.
    fn shown(&self, shares: &Shares, recent: &Recent) -> Ranges {
        let said = recent.opening.lead.iter().chain(shares.pinned.iter().flat_map(|unit| &unit.messages));
        let mut shown = self.sequences(recent.place..self.window().len());
        shares.pinned.iter().for_each(|unit| shown.union(&self.sequences(unit.places.clone())));
        said.filter_map(|message| message.utterance.as_ref()).for_each(|said| shown.add(said.sequence));
        shown
    }
}

/// The unit of the newest ones that has a message.
fn said(newest: &[Unit]) -> Option<&Unit> {
    newest.last().filter(|unit| !unit.messages.is_empty())
}
