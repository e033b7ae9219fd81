//! Builds a context: plans it, shares the budget, and puts the parts together.

use std::sync::Arc;

use crate::domain::{
    Conversation, Refusal, Role, TokenCounter, Utterance,
    context::{
        Archived, Context, Request,
        assemble::Assembly,
        budget::{Shares, TooSmall, share},
        found::Found,
        omitted::Omitted,
        plan::{Plan, tokens_of},
        recalled::Quote,
        recent::{self, Recent},
        turns,
        unit::Unit,
    },
};

/// The newest turn, when its user utterance has left the window. (A long loop of calls leaves what it
/// is for behind.)
pub fn asked_before(conversation: &Conversation) -> Option<u32> {
    let window = &conversation.window;
    let turn = window.last().map(|newest| newest.turn).filter(|turn| *turn > 0)?;
    let first = window.at(turns::start_of(window, turn))?;
    (first.role != Role::User).then_some(turn)
}

/// The context of `conversation` of what its window holds: see [`build_with`].
pub fn build(
    conversation: &Conversation,
    recalled: &[Arc<Utterance>],
    request: &Request,
    counter: &dyn TokenCounter,
) -> Result<Context, Refusal> {
    let recalled: Vec<Found> = recalled.iter().map(Found::from).collect();
    build_with(conversation, Archived { recalled: &recalled, ..Archived::default() }, request, counter)
}

/// The context of `conversation`.
///
/// Refuses a budget in which the instructions, the newest unit and the user utterance of its turn,
/// which goes out also where no unit does, have no place, and names the tokens needed. The default budget gives way to these.
pub fn build_with(
    conversation: &Conversation,
    archived: Archived<'_>,
    request: &Request,
    counter: &dyn TokenCounter,
) -> Result<Context, Refusal> {
    let mut plan = Plan::of(conversation, archived, request, counter);
    match (plan.context(), request.budget) {
        (Ok(context), _) => Ok(context),
        (Err(too_small), Some(budget)) => Err(too_small.refusal(budget)),
        (Err(too_small), None) => {
            plan.budget = too_small.needed;
            plan.context().map_err(|more| more.refusal(u32::try_from(too_small.needed).unwrap_or(u32::MAX)))
        }
    }
}

impl Plan<'_> {
    /// The context that the plan comes to.
    fn context(&self) -> Result<Context, TooSmall> {
        let mut omitted = Omitted::default();
        let instructions = self.instructions(&mut omitted);
        let fixed = tokens_of(&instructions) + self.opening_room();
        let units = self.newest();
        // the user utterance goes out also where nothing of its turn does
        let lead = units.last().and_then(|unit| self.lead(unit)).map_or(0, |lead| lead.tokens.into());
        let nothing = Unit::nothing(self.window().len());
        let newest = units.last().filter(|unit| !unit.messages.is_empty());
        let shares = share(self, fixed, newest.unwrap_or(&nothing), lead)?;
        let recent = recent::choose(self, units, &shares, shares.recent);
        let quote = self.quote(&shares, &recent);
        let recent = match &quote {
            Some(quote) => recent::choose(self, recent.units, &shares, shares.recent - quote.tokens()),
            None => recent,
        };
        Ok(Assembly { plan: self, shares, recent, quote, omitted }.context(instructions))
    }

    /// What was found of that which is not among the `recent`, nor pinned: it takes its place from them.
    fn quote(&self, shares: &Shares, recent: &Recent) -> Option<Quote> {
        let said = recent.messages().chain(shares.pinned.iter().flat_map(|unit| &unit.messages));
        let rendered = said.filter_map(|message| Some(message.utterance.as_ref()?.sequence)).collect();
        Quote::of(self.archived.recalled, &rendered, shares.recall, self.rendering.costs)
    }
}
