//! Builds a context: plans it, shares the budget, and puts the parts together.

use std::sync::Arc;

use crate::domain::{
    Conversation, Refusal, Role, TokenCounter, Utterance,
    context::{
        Archived, Context, Request,
        assemble::Assembly,
        budget::{TooSmall, share},
        omitted::Omitted,
        plan::{Plan, tokens_of},
        recent, turns,
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
    build_with(conversation, Archived { recalled, ..Archived::default() }, request, counter)
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
        let recent = recent::choose(self, units, &shares);
        Ok(Assembly { plan: self, shares, recent, omitted }.context(instructions))
    }
}
